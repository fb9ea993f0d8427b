package command

import (
	"context"
	"fmt"
	"strings"
	"time"

	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
)

// recent is how many of the log's last entries status looks through for a failure: a few turns.
const recent = 64

// situation is what status tells of, read from one state of the conversation.
type situation struct {
	now      time.Time
	current  conversation.Current
	inbox    int
	outgoing int
	failure  *session.Failure
	failedAt time.Time
	// nearby is how many turns run in the conversations that the caller may mean instead.
	nearby int
	mark   string
	// threads is what was chosen about the threads here, "" for nothing.
	threads string
}

// status tells what runs or waits in the conversation.
func status(ctx context.Context, c Call) (string, error) {
	queries := []store.Query{
		store.Get{Partition: c.Where, Key: conversation.CurrentKey},
		store.List{Partition: c.Where, Collection: conversation.Inbox},
		store.List{Partition: c.Where, Collection: conversation.Outgoing},
		store.Tail{Partition: c.Where, Log: conversation.Log, N: recent},
	}
	own := len(queries)
	if where, ok := conversation.Of(c.Where); ok {
		queries = append(queries, ThreadQueries(where)...)
	}
	chosen := len(queries)
	for _, p := range c.Nearby {
		queries = append(queries, store.Get{Partition: p, Key: conversation.CurrentKey})
	}
	answers, err := c.Read.Read(ctx, queries...)
	if err != nil {
		return "", fmt.Errorf("read the status of %s: %w", c.Where, err)
	}
	s := situation{now: answers[0].Now, inbox: len(answers[1].Docs), mark: c.mark()}
	if s.threads, err = ThreadPolicy(answers[own:chosen]); err != nil {
		return "", fmt.Errorf("read the status of %s: %w", c.Where, err)
	}
	for _, a := range answers[chosen:] {
		var cur conversation.Current
		if doc, ok := a.Doc(); ok && conversation.Decode(doc, &cur) == nil && cur.State.Turn != nil {
			s.nearby++
		}
	}
	for _, doc := range answers[2].Docs {
		var d conversation.Delivery
		if err := conversation.Decode(doc, &d); err != nil || !underWay(&d, s.now) {
			s.outgoing++ // what cannot be read is not delivered, either
		}
	}
	if doc, ok := answers[0].Doc(); ok {
		if err := conversation.Decode(doc, &s.current); err != nil {
			return "", fmt.Errorf("read the status of %s: %w", c.Where, err)
		}
	}
	for _, e := range answers[3].Entries {
		if e.Kind != string(session.Failed) || e.Data == nil {
			continue
		}
		ev, err := session.Decode(e.Kind, e.ID, e.Seq, e.At, e.Data)
		if err != nil {
			return "", fmt.Errorf("read the status of %s: %w", c.Where, err)
		}
		if ev.Failure != nil {
			s.failure, s.failedAt = ev.Failure, e.At
		}
	}
	return s.text(), nil
}

// sending is how long the first attempt at a delivery may take: what is younger is on its way, and may stand before its receipt does.
const sending = 10 * time.Second

// underWay reports whether nothing speaks against a delivery yet.
func underWay(d *conversation.Delivery, now time.Time) bool {
	return d.Live || d.Refusals == 0 && d.NotBefore.IsZero() && now.Sub(d.MadeAt) < sending
}

// text says the situation to a person.
func (s *situation) text() string {
	var lines []string
	add := func(format string, args ...any) { lines = append(lines, fmt.Sprintf(format, args...)) }
	st := &s.current.State
	switch {
	case st.Turn != nil:
		add(statusRunning, moment(s.current.BeganAt), st.Turn.Rounds, ago(s.now, s.current.BeganAt))
	case s.inbox > 0:
		add(statusStarting)
	default:
		add(statusIdle)
	}
	if len(st.Waits) > 0 {
		add(statusParked)
		for _, w := range st.Waits {
			add("- %s", waiting(w))
		}
	}
	if st.Agent != "" && !st.Closed {
		add(statusAgent, quote(st.Agent))
	}
	if s.inbox > 0 {
		add(statusQueue, count(s.inbox, "message"))
	}
	if s.outgoing > 0 {
		add(statusOutgoing, count(s.outgoing, "text"))
	}
	if s.failure != nil {
		add(statusFailure, span(s.now.Sub(s.failedAt)), s.failure.Reason, s.mark, quote(s.failure.Ref))
	}
	if s.threads != "" {
		add("%s.", said(s.threads))
	}
	switch {
	case s.nearby == 1:
		add(statusNearby, "a turn runs", s.mark)
	case s.nearby > 1:
		add(statusNearby, fmt.Sprintf("%d turns run", s.nearby), s.mark)
	}
	return strings.Join(lines, "\n")
}

// waiting says what a wait waits for.
func waiting(w session.Wait) string {
	title := w.Title
	if title == "" {
		title = w.Text
	}
	var out string
	switch w.Kind {
	case session.Approval:
		out = fmt.Sprintf(statusApproval, title)
	case session.Question:
		out = fmt.Sprintf(statusQuestion, title)
	default:
		out = statusTimer
	}
	if !w.End.IsZero() {
		out += fmt.Sprintf(statusUntil, moment(w.End))
	}
	return out
}
