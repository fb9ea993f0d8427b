package terminal

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"herald/bots/console/proto"

	"charm.land/bubbles/v2/key"
	"charm.land/bubbles/v2/textarea"
	tea "charm.land/bubbletea/v2"
)

// maxSet is the widest column that answers are set in: longer lines are hard to read.
const maxSet = 100

// ui is the screen: the live answer and the prompt below all that was printed. It changes only in Update.
type ui struct {
	calls  *calls
	set    *renderer
	input  textarea.Model
	hist   *history
	at     int // entry of the history that stands in the prompt; len(entries) for none
	draft  string
	replay int

	talk    *talk
	own     map[string]bool // keys of lines that were printed when they were typed
	queue   []string        // typed, not yet taken by the service
	cancel  context.CancelFunc
	card    *proto.Card
	early   []*proto.Record // came before the history was shown
	shown   bool            // the history was shown
	unread  []string        // blocks to be printed
	writing bool

	width, height int
	notice        string
	link          string // why the service is away
	stopping      bool
	leaving       bool
	done          bool
	failed        error
}

func newUI(c *calls, set *renderer, hist *history, replay int) *ui {
	in := textarea.New()
	in.Prompt = "› "
	in.ShowLineNumbers = false
	in.DynamicHeight, in.MinHeight, in.MaxHeight, in.MaxContentHeight = true, 1, 8, 20000
	in.SetHeight(1)
	in.SetVirtualCursor(false)
	in.SetStyles(textarea.Styles{})
	in.KeyMap.InsertNewline = key.NewBinding(key.WithKeys("alt+enter", "shift+enter", "ctrl+j"))
	in.KeyMap.Paste.SetEnabled(false) // a terminal pastes itself
	in.Focus()
	return &ui{calls: c, set: set, input: in, hist: hist, at: len(hist.entries), replay: replay, talk: newTalk(), own: map[string]bool{}, width: 80, height: 24}
}

// Init shows nothing: the history comes when the stream stands.
func (m *ui) Init() tea.Cmd { return nil }

// Update takes a key or a word of the service.
func (m *ui) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	var cmd tea.Cmd
	switch msg := msg.(type) {
	case tea.WindowSizeMsg:
		m.width, m.height = max(msg.Width, 1), max(msg.Height, 1)
		m.input.SetWidth(m.width)
	case tea.KeyPressMsg:
		cmd = m.press(msg)
	case tea.PasteMsg:
		m.leaving = false
		m.input, cmd = m.input.Update(tea.PasteMsg{Content: strip(msg.Content)})
	case recordMsg:
		cmd = m.record(msg.r)
	case historyMsg:
		m.past(msg)
	case saidMsg:
		cmd = m.said(msg)
	case choseMsg:
		if msg.err != nil {
			m.complain("your choice was not taken: " + msg.err.Error())
		} else {
			m.print("→ " + Clean(msg.label))
		}
	case linkMsg:
		m.link = ""
		if msg.err != nil {
			m.link = "the service is away; waiting for it"
		}
	case endedMsg:
		m.failed = msg.err
		return m, m.leave()
	case printedMsg:
		m.writing = false
	default:
		m.input, cmd = m.input.Update(msg)
	}
	return m, tea.Batch(cmd, m.flush())
}

// record brings a word of the service to the screen.
func (m *ui) record(r *proto.Record) tea.Cmd {
	if !m.shown {
		if r.Kind == proto.Ready {
			if m.replay < 0 {
				m.shown = true
				return nil
			}
			return m.calls.history(m.replay)
		}
		m.early = append(m.early, r)
		return nil
	}
	switch r.Kind {
	case proto.Line, proto.Choice:
		if r.Kind == proto.Line && !m.own[r.Key] {
			m.typed(r.User, r.Text)
		}
		delete(m.own, r.Key)
	case proto.Post, proto.Edit:
		if final := m.talk.take(r); final != nil {
			m.answer(final)
		}
	case proto.Ready:
	}
	if len(m.talk.waiting) == 0 && len(m.talk.order) == 0 {
		m.stopping = false
	}
	return nil
}

// answer prints a post that will not change any more.
func (m *ui) answer(r *proto.Record) {
	text := m.set.render(r.Text, m.column())
	if r.Card != nil {
		m.card = r.Card
		text = strings.TrimLeft(text+"\n"+m.set.style(bold, cardText(r.Card, "answer with /choose NUMBER")), "\n")
	}
	m.print(text + "\n")
}

// past prints the end of the conversation as it was, then what came meanwhile.
func (m *ui) past(msg historyMsg) {
	m.shown = true
	if msg.err != nil {
		m.complain("the conversation so far cannot be shown: " + msg.err.Error())
	}
	last := uint64(0)
	for i := range msg.all {
		switch r := &msg.all[i]; {
		case r.Kind == proto.Line:
			m.typed("", r.Text)
			last = max(last, r.Seq)
		case r.Kind == proto.Post && !r.Live:
			m.answer(r)
			last = max(last, r.Seq)
		}
	}
	m.print(m.set.style(faint, "/help shows the commands · Alt-Enter begins a new line · Ctrl-D leaves") + "\n")
	early := m.early
	m.early = nil
	for _, r := range early {
		if r.Seq == 0 || r.Seq > last {
			m.record(r)
		}
	}
}

// typed prints a person's line; who is "" for the one who sits here.
func (m *ui) typed(who, text string) {
	head := "› "
	if who != "" {
		head = Clean(who) + " › "
	}
	lines := strings.Split(wrap(Clean(text), max(m.column()-2, 8)), "\n")
	for i := range lines {
		lines[i] = m.set.style(bold, lines[i])
	}
	m.print(m.set.style(faint, head) + strings.Join(lines, "\n  "))
}

// submit sends the next typed line when none is on its way: lines keep their order.
func (m *ui) submit() tea.Cmd {
	if m.cancel != nil || len(m.queue) == 0 {
		return nil
	}
	ctx, cancel := context.WithCancel(m.calls.ctx)
	m.cancel = cancel
	k := NewKey()
	m.own[k] = true
	return m.calls.say(ctx, k, m.queue[0])
}

func (m *ui) said(msg saidMsg) tea.Cmd {
	if msg.text == stopWord && (len(m.queue) == 0 || m.queue[0] != stopWord) { // the stop of Ctrl-C goes past the queue
		return m.settle(msg)
	}
	if m.cancel != nil {
		m.cancel()
		m.cancel = nil
	}
	if len(m.queue) > 0 {
		m.queue = m.queue[1:]
	}
	return tea.Batch(m.settle(msg), m.submit())
}

func (m *ui) settle(msg saidMsg) tea.Cmd {
	switch {
	case msg.err == nil:
		m.talk.said(msg.id)
	case errors.Is(msg.err, context.Canceled):
		m.withdrawn(msg.text)
	default:
		m.complain("not sent: " + msg.err.Error())
	}
	return nil
}

func (m *ui) withdrawn(text string) {
	m.complain("not sent: " + firstLine(text) + " (↑ brings it back)")
}

func firstLine(s string) string {
	s, _, more := strings.Cut(s, "\n")
	if more {
		s += " …"
	}
	return s
}

func (m *ui) complain(text string) { m.print(m.set.style(red, "herald: "+Clean(text))) }

func (m *ui) column() int { return min(m.width, maxSet) }

// print queues a block. Blocks are written one after the other, as commands of the screen's library may overtake each other.
func (m *ui) print(block string) { m.unread = append(m.unread, strings.Split(block, "\n")...) }

// flush writes as many lines as surely fit above the prompt.
func (m *ui) flush() tea.Cmd {
	if m.writing || len(m.unread) == 0 {
		return nil
	}
	n := min(len(m.unread), max(m.height/2, 1))
	lines := strings.Join(m.unread[:n], "\n")
	m.unread = m.unread[n:]
	if lines == "" {
		lines = " " // nothing at all would not be printed
	}
	m.writing = true
	return tea.Sequence(tea.Println(lines), func() tea.Msg { return printedMsg{} })
}

// View is the live answer's end, a line of state, the prompt.
func (m *ui) View() tea.View {
	if m.done {
		return tea.NewView("")
	}
	var above []string
	for _, r := range m.talk.live() {
		above = append(above, strings.Split(m.set.render(r.Text, m.column()), "\n")...)
	}
	if room := max(m.height-m.input.Height()-3, 1); len(above) > room {
		above = above[len(above)-room:]
	}
	if s := m.state(); s != "" {
		above = append(above, m.set.style(faint, Clean(s)))
	}
	v := tea.NewView(strings.Join(append(above, m.input.View()), "\n"))
	if c := m.input.Cursor(); c != nil {
		c.Y += len(above)
		v.Cursor = c
	}
	return v
}

// state is what the person should know now.
func (m *ui) state() string {
	switch {
	case m.notice != "":
		return m.notice
	case m.link != "" && len(m.queue) > 1:
		return fmt.Sprintf("%s, %d messages wait", m.link, len(m.queue))
	case m.link != "":
		return m.link
	case m.stopping:
		return "stopping … Ctrl-C again leaves"
	case m.running():
		if n := len(m.talk.waiting) + len(m.queue); n > 1 {
			return fmt.Sprintf("working, %d messages wait · Ctrl-C stops", n)
		}
		return "working · Ctrl-C stops"
	}
	return ""
}

func (m *ui) running() bool {
	return len(m.talk.waiting) > 0 || len(m.talk.order) > 0 || len(m.queue) > 0
}
