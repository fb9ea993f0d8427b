package terminal

import (
	"strconv"
	"strings"

	tea "charm.land/bubbletea/v2"
)

// stopWord is the command that ends the running turn.
const stopWord = "stop"

// press is what a key does. All but these few keys belong to the editor of the prompt.
func (m *ui) press(k tea.KeyPressMsg) tea.Cmd {
	name := k.String()
	if name != "ctrl+c" {
		m.leaving, m.notice = false, ""
	}
	switch name {
	case "ctrl+c":
		return m.interrupt()
	case "ctrl+d":
		if m.input.Length() == 0 {
			return m.leave()
		}
	case "enter":
		return m.enter()
	case "up":
		if m.input.Line() == 0 && m.input.LineInfo().RowOffset == 0 {
			m.recall(-1)
			return nil
		}
	case "down":
		if i := m.input.LineInfo(); m.input.Line() == m.input.LineCount()-1 && i.RowOffset >= i.Height-1 {
			m.recall(+1)
			return nil
		}
	}
	var cmd tea.Cmd
	m.input, cmd = m.input.Update(k)
	return cmd
}

// interrupt stops what runs; a second one, and one at an empty prompt that nothing runs behind, leads out.
func (m *ui) interrupt() tea.Cmd {
	switch {
	case m.leaving || m.stopping:
		return m.leave()
	case len(m.talk.waiting) > 0 || len(m.talk.order) > 0:
		m.stopping = true
		k := NewKey()
		m.own[k] = true
		return m.calls.say(m.calls.ctx, k, stopWord)
	case m.cancel != nil: // not taken yet: it is withdrawn, and all behind it
		for _, text := range m.queue[1:] {
			m.withdrawn(text)
		}
		m.queue = m.queue[:1]
		m.cancel()
		return nil
	case m.input.Length() > 0:
		m.input.Reset()
		m.at = len(m.hist.entries)
		return nil
	}
	m.leaving = true
	m.notice = "Ctrl-C again leaves"
	return nil
}

func (m *ui) leave() tea.Cmd {
	m.done = true
	return tea.Quit
}

// enter sends what stands in the prompt, or begins a new line after a backslash.
func (m *ui) enter() tea.Cmd {
	text := m.input.Value()
	if strings.HasSuffix(text, `\`) {
		m.input.SetValue(strings.TrimSuffix(text, `\`) + "\n")
		m.input.MoveToEnd()
		return nil
	}
	text = strings.TrimSpace(text)
	if text == "" {
		return nil
	}
	m.input.Reset()
	if err := m.hist.add(text); err != nil {
		m.complain(err.Error())
	}
	m.at, m.draft = len(m.hist.entries), ""
	if isQuit(text) {
		return m.leave()
	}
	if n, ok := strings.CutPrefix(text, "/choose"); ok {
		return m.choose(strings.TrimSpace(n))
	}
	m.typed("", text)
	m.queue = append(m.queue, text)
	return m.submit()
}

func (m *ui) choose(number string) tea.Cmd {
	n, err := strconv.Atoi(number)
	if m.card == nil || err != nil || n < 1 || n > len(m.card.Choices) {
		m.complain("/choose wants the number of an answer to the last question")
		return nil
	}
	c := m.card.Choices[n-1]
	return m.calls.choose(c.Action, c.Label)
}

// recall brings an entry of the history into the prompt; behind the newest stands what was being typed.
func (m *ui) recall(step int) {
	to := m.at + step
	if to < 0 || to > len(m.hist.entries) {
		return
	}
	if m.at == len(m.hist.entries) {
		m.draft = m.input.Value()
	}
	m.at = to
	text := m.draft
	if to < len(m.hist.entries) {
		text = m.hist.entries[to]
	}
	m.input.SetValue(text)
	m.input.MoveToEnd()
}
