package turn

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"

	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

const (
	// maxTaken bounds the messages that one boundary takes in, so that a flood does not become one prompt.
	maxTaken = 50
	// editPatience is how long an edit waits for a message that has not arrived.
	editPatience = time.Hour
)

// open begins a session when there is none.
func (r *run) open(person string) {
	if r.state.Session != "" && !r.state.Closed && r.state.Root() != nil {
		return
	}
	agent := r.DefaultAgent
	if bound := tool.Bound(r.gate).Agent; bound != "" {
		agent = bound
	}
	var pad []session.PadLine
	if r.task != nil {
		agent, pad = r.task.Agent, r.task.Pad
	}
	if r.reopen != nil && r.reopen.Agent != "" {
		agent = r.reopen.Agent
	}
	id := conversation.ID("s", string(r.p), strconv.FormatInt(r.lastSeq+1, 10))
	r.cur.LogFrom, r.cur.Shown = r.lastSeq+1, ""
	r.stage(session.Event{Kind: session.Opened, ID: "open/" + id, Open: &session.Open{Session: id, Agent: agent, Person: person, Pad: pad}})
}

// look applies what the last read brought: controls, outcomes of waits, messages.
func (r *run) look(ctx context.Context) error {
	r.readFiles(ctx)
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.applyControls(ctx); err != nil {
		return err
	}
	if t := r.state.Turn; t != nil && (t.Cancel != nil || t.Failure != nil) {
		return nil // what comes after the end belongs to the next turn
	}
	if err := r.applyWaits(ctx); err != nil {
		return err
	}
	r.takeMessages()
	return nil
}

// applyWaits takes over the outcomes of waits: a click's, the end of their time, or the next message of who was asked.
func (r *run) applyWaits(ctx context.Context) error {
	for _, w := range slices.Clone(r.state.Waits) {
		doc, ok := r.waits[w.ID]
		if !ok {
			continue
		}
		o := doc.Outcome
		if o == nil && w.Kind == session.Question && !r.held(w) {
			o = r.reply(w)
		}
		if o == nil && w.Kind == session.Approval {
			o = r.denial(w)
		}
		if o == nil && !w.End.IsZero() && !r.now().Before(w.End) {
			o = &session.Outcome{Wait: w.ID, Result: session.Expired}
			if w.Kind == session.Timer {
				o.Result = session.Elapsed
			}
		}
		if o == nil {
			continue
		}
		card, err := r.closeWait(ctx, w, r.ended(ctx, o))
		if err != nil {
			return err
		}
		r.ops = append(r.ops, card...)
		doc.Outcome = o
		// The first outcome wins: a click that came since is refused, or refuses this commit.
		r.guards = append(r.guards, store.At{Key: doc.Key(), Version: doc.version})
		r.ops = append(r.ops, store.Delete{Key: doc.Key()}, store.Put{Key: doc.EndedKey(), Value: conversation.Encode(doc.WaitDoc)})
		r.stage(session.EndWait(&r.state, *o)...)
		r.unsaid = true
		delete(r.waits, w.ID)
	}
	r.askNext()
	return nil
}

// reply is the next message of the person who was asked, as an outcome: its text, or the choice that it numbers.
func (r *run) reply(w session.Wait) *session.Outcome {
	i := slices.IndexFunc(r.inbox, func(m conversation.Message) bool {
		return m.Task == nil && !r.elsewhere(&m) && (w.Person == "" || m.Person == w.Person)
	})
	if i < 0 {
		return nil
	}
	m := r.inbox[i]
	text := strings.TrimSpace(m.Text)
	if n, err := strconv.Atoi(text); err == nil && n >= 1 && n <= len(w.Choices) {
		text = w.Choices[n-1]
	}
	text += r.attached[m.MessageID].inReply()
	r.ops = append(r.ops, store.Delete{Key: m.Key()})
	r.inbox = slices.Delete(r.inbox, i, i+1)
	return &session.Outcome{Wait: w.ID, Result: session.Replied, By: m.Person, Text: text, MessageID: m.MessageID, Order: m.Order}
}

// takeMessages takes what waits in the inbox into the turn, or begins one, unless the turn waits for a person.
func (r *run) takeMessages() {
	if len(r.inbox) == 0 {
		return
	}
	r.dropLate()
	if len(r.state.Waits) > 0 {
		r.tellWaiting()
		return
	}
	if len(r.inbox) == 0 {
		return
	}
	n := min(len(r.inbox), maxTaken)
	if first := r.inbox[0]; r.elsewhere(&first) {
		if r.state.Turn != nil {
			return // it begins a session of its own once this turn has ended
		}
		r.closeSession(&conversation.Control{By: first.Person, Agent: first.Agent})
	}
	if r.suspected { // only one message is suspected at a time
		if r.state.Turn != nil {
			return
		}
		n = 1
	}
	r.open(r.inbox[0].Person)
	if i := slices.IndexFunc(r.inbox[:n], func(m conversation.Message) bool { return r.elsewhere(&m) }); i > 0 {
		n = i // that one asks another agent
	}
	turn := ""
	if r.state.Turn != nil {
		turn = r.state.Turn.ID
	}
	for _, m := range r.inbox[:n] {
		if turn == "" {
			turn = conversation.ID("t", string(r.p), m.Order, m.MessageID)
			r.cur.BeganAt = r.now()
		}
		r.cur.Direct, r.cur.NoNotes = m.Direct, m.NoNotes
		name := m.Sender.Name
		if m.Direct {
			name = ""
		}
		with := r.attached[m.MessageID]
		r.stage(session.Event{Kind: session.UserSaid, ID: "said/" + m.MessageID, User: &session.Said{
			Turn: turn, MessageID: m.MessageID, Order: m.Order, Person: m.Person, Name: name, Text: m.Text, Images: with.images, Files: with.files, Task: m.Task,
		}})
		r.ops = append(r.ops, store.Delete{Key: m.Key()})
	}
	r.inbox = r.inbox[n:]
}

// elsewhere reports whether a message asks for another agent than the session's by name.
func (r *run) elsewhere(m *conversation.Message) bool {
	root := r.state.Root()
	return m.Agent != "" && (root == nil || r.state.Closed || root.Agent != m.Agent)
}

// dropLate ends messages that are older than a stop and came after it: they are not run, and say so.
func (r *run) dropLate() {
	r.inbox = keep(r.inbox, func(m *conversation.Message) bool {
		if m.Order >= r.cur.StopOrder {
			return true
		}
		d := &conversation.Delivery{
			ID: conversation.ID("d", string(r.p), "late", m.MessageID), Kind: conversation.Notice, Text: textLate, ReplyTo: m.MessageID,
			Covers: []session.Cover{{MessageID: m.MessageID, Order: m.Order, Person: m.Person}}, MadeAt: r.now(), After: r.now(),
		}
		r.ops = append(append(r.ops, store.Delete{Key: m.Key()}), conversation.Say(r.p, d)...)
		r.unsaid = true
		return false
	})
}

// tellWaiting tells each writer once what the conversation waits for; the messages stay in the inbox.
func (r *run) tellWaiting() {
	w := r.state.Waits[0]
	told := make(map[string]bool)
	for _, m := range r.inbox {
		if m.Task != nil || told[m.Person] || slices.Contains(r.cur.Told, w.ID+"/"+m.Person) {
			continue
		}
		told[m.Person] = true
		r.cur.Told = append(r.cur.Told, w.ID+"/"+m.Person)
		d := &conversation.Delivery{
			ID: conversation.ID("d", w.ID, m.Person), Kind: conversation.Notice, Text: waitingText(w), ReplyTo: m.MessageID, MadeAt: r.now(), After: r.now(),
		}
		r.ops = append(r.ops, conversation.Say(r.p, d)...)
	}
}
