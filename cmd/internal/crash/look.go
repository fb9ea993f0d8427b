package main

import (
	"context"
	"fmt"
	"strings"
	"time"

	"herald/core/conversation"
	"herald/core/project"
	"herald/core/store"
)

// looker is what of a store a look needs.
type looker interface {
	Due(ctx context.Context, a store.Agenda) (at, now time.Time, ok bool, err error)
	Read(ctx context.Context, queries ...store.Query) ([]store.Answer, error)
	Partitions(ctx context.Context, bucket int, after store.Stamp, limit int) ([]store.Stamp, error)
	DeadLetters(ctx context.Context, limit int) ([]store.Letter, error)
}

// waiting are the collections of a conversation that hold something which is still to be done.
var waiting = []string{
	conversation.Inbox, conversation.Controls, conversation.Outgoing, conversation.Waits, conversation.Handovers, "buried",
}

// look is what a store holds that a service at rest does not leave behind: members on its agendas, claimed or not, things to be done in
// conversations, turns under way, and dead letters. Each is one line.
func look(ctx context.Context, st looker) ([]string, error) {
	var left []string
	for _, a := range []store.Agenda{store.Turns, store.Outbox, store.Handover} {
		at, now, ok, err := st.Due(ctx, a)
		if err != nil {
			return nil, err
		}
		if ok {
			left = append(left, fmt.Sprintf("agenda %s has a member, due in %v", a, at.Sub(now)))
		}
	}
	var queries []store.Query
	for b := range store.Buckets {
		stamps, err := st.Partitions(ctx, b, store.Stamp{}, 0)
		if err != nil {
			return nil, err
		}
		for _, s := range stamps {
			if !strings.HasPrefix(string(s.Partition), "conversation/") {
				continue
			}
			for _, c := range waiting {
				queries = append(queries, store.List{Partition: s.Partition, Collection: c})
			}
			queries = append(queries, store.List{Partition: s.Partition, Collection: conversation.Session}, store.List{Partition: s.Partition, Collection: conversation.Tasks})
		}
	}
	answers, err := st.Read(ctx, queries...)
	if err != nil {
		return nil, err
	}
	for _, a := range answers {
		for _, d := range a.Docs {
			line, err := undone(d)
			if err != nil {
				return nil, err
			}
			if line != "" {
				left = append(left, line)
			}
		}
	}
	letters, err := st.DeadLetters(ctx, 0)
	if err != nil {
		return nil, err
	}
	for _, l := range letters {
		left = append(left, fmt.Sprintf("%s %s in %s: %s", deadLetter, l.ID, l.Partition, l.Note))
	}
	return left, nil
}

// deadLetter begins the line of a dead letter.
const deadLetter = "dead letter"

// undone is a line about a document that should not stand in a store at rest.
func undone(d store.Doc) (string, error) {
	if d.Key.Collection == conversation.Tasks {
		var t conversation.TaskDoc
		if err := conversation.Decode(d, &t); err != nil || t.State == conversation.TaskLanded {
			return "", err
		}
		return fmt.Sprintf("the task %s has not landed: it is %s", t.ID, t.State), nil
	}
	switch d.Key {
	case conversation.HeadKey, conversation.ContextKey, conversation.TaskKey, project.Key:
		return "", nil
	case conversation.CurrentKey:
		var c conversation.Current
		if err := conversation.Decode(d, &c); err != nil {
			return "", err
		}
		if c.State.Turn == nil {
			return "", nil
		}
		return "a turn is under way: " + c.State.Turn.ID, nil
	}
	return fmt.Sprintf("%s/%s stands in the store", d.Key.Collection, d.Key.Name), nil
}
