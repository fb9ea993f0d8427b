package turn

import (
	"context"
	"fmt"
	"slices"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/session"
	"herald/core/store"
)

// retryPage is how many entries of the log one read brings when the messages of a failed turn are looked for.
const retryPage = 200

// retryCard is what stands below a failed answer.
func retryCard(turn string) *chat.Card {
	return &chat.Card{Buttons: []chat.Button{{Action: conversation.AgainMark + turn, Label: "Try again"}}}
}

// retry begins a failed turn anew: what its messages said is said again, as a turn of its own with the rights of those who wrote them. done is false
// while another turn must end first.
func (r *run) retry(ctx context.Context, c conversation.Control) (done bool, err error) {
	if c.Order < r.cur.StopOrder {
		r.confirm(c, textLateRetry)
		return true, nil
	}
	if r.state.Turn != nil || r.suspected && len(r.inbox) > 0 {
		return false, nil
	}
	said, err := r.saidIn(ctx, c.Target)
	if err != nil {
		return false, err
	}
	if len(said) == 0 {
		r.confirm(c, textNothingToRetry)
		return true, nil
	}
	turn := conversation.ID("t", string(r.p), "again", c.Target)
	r.open(said[0].Person)
	r.cur.BeganAt = r.now()
	for _, m := range said {
		m.Turn = turn
		r.stage(session.Event{Kind: session.UserSaid, ID: conversation.ID("said/", turn, m.MessageID), User: &m})
	}
	ops, err := r.closeCard(ctx, deliveryID(c.Target), "Tried again by "+r.nameOf(ctx, c.By)+".")
	if err != nil {
		return false, err
	}
	r.ops = append(r.ops, ops...)
	r.unsaid = true // were the process to die over it, it must be seen that the turn was under way
	return true, nil
}

// saidIn is what was said in a turn that is over, oldest first, without what was blanked since.
func (r *run) saidIn(ctx context.Context, turn string) ([]session.Said, error) {
	as, err := r.Store.Read(ctx, store.Get{Partition: r.p, Key: conversation.TurnKey(turn)})
	if err != nil {
		return nil, fmt.Errorf("look for the turn %s of %s: %w", turn, r.p, err)
	}
	doc, ok := as[0].Doc()
	if !ok {
		return nil, nil
	}
	var rec conversation.TurnRecord
	if err := conversation.Decode(doc, &rec); err != nil || len(rec.Covers) == 0 {
		return nil, err
	}
	var out []session.Said
	first := false
	for to := r.lastSeq - int64(len(r.pending)); to > 0 && !first; to -= retryPage {
		from := max(1, to-retryPage+1)
		as, err := r.Store.Read(ctx, store.Range{Partition: r.p, Log: conversation.Log, From: from, Limit: int(to - from + 1)})
		if err != nil {
			return nil, fmt.Errorf("look for the messages of the turn %s of %s: %w", turn, r.p, err)
		}
		var page []session.Said
		for _, en := range as[0].Entries {
			if en.Kind != string(session.UserSaid) || en.Data == nil {
				continue
			}
			e, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
			if err != nil {
				return nil, fmt.Errorf("conversation %s: %w", r.conv.Key(), err)
			}
			if e.User != nil && e.User.Turn == turn {
				page = append(page, *e.User)
				first = first || e.User.MessageID == rec.Covers[0].MessageID
			}
		}
		out = append(page, out...)
	}
	return out, nil
}

// dropRetries removes what was to be started over before a stop.
func (r *run) dropRetries(left []conversation.Control) []conversation.Control {
	return slices.DeleteFunc(left, func(c conversation.Control) bool {
		gone := c.Kind == conversation.Retry && c.Order < r.cur.StopOrder
		if gone {
			r.ops = append(r.ops, store.Delete{Key: c.Key()})
		}
		return gone
	})
}

// nameOf is the shown name of a person, or the id where none is known.
func (r *run) nameOf(ctx context.Context, person string) string {
	if r.Name != nil && person != "" {
		if n, err := r.Name(ctx, person); err == nil {
			return n
		}
	}
	return person
}
