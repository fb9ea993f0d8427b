package terminal

import (
	"herald/bots/console/proto"
)

// talk puts a place's records together: which posts are live, what each answers, which lines still wait.
type talk struct {
	posts   map[string]*proto.Record // posts that are live, by id
	order   []string                 // their ids
	waiting []string                 // ids of own lines without an answer, in order
	covered string                   // the last line that has one
}

func newTalk() *talk { return &talk{posts: map[string]*proto.Record{}} }

// said notes that an own line waits for its answer, unless that was faster than the line's receipt.
func (t *talk) said(id string) {
	if id > t.covered {
		t.waiting = append(t.waiting, id)
	}
}

// take brings a record in. It gives the post that has become final with it, or nil.
func (t *talk) take(r *proto.Record) *proto.Record {
	switch r.Kind {
	case proto.Post:
		if r.Live {
			if t.posts[r.ID] == nil {
				t.order = append(t.order, r.ID)
			}
			c := *r
			t.posts[r.ID] = &c
			return nil
		}
		t.end(r.ID)
		return t.answered(r)
	case proto.Edit:
		c := *r
		if was := t.posts[r.ID]; was != nil && c.ReplyTo == "" {
			c.ReplyTo = was.ReplyTo
		}
		if r.Live {
			if t.posts[r.ID] == nil {
				t.order = append(t.order, r.ID)
			}
			t.posts[r.ID] = &c
			return nil
		}
		t.end(r.ID)
		return t.answered(&c)
	case proto.Line, proto.Choice, proto.Ready:
	}
	return nil
}

func (t *talk) end(id string) {
	delete(t.posts, id)
	for i, o := range t.order {
		if o == id {
			t.order = append(t.order[:i:i], t.order[i+1:]...)
			return
		}
	}
}

// answered takes off what an answer covers: the line that it names and all before. A question with choices answers nothing;
// a failed answer, which offers to try again, does.
func (t *talk) answered(r *proto.Record) *proto.Record {
	if (r.Card == nil || len(r.Covers) > 0) && r.ReplyTo != "" {
		t.covered = max(t.covered, r.ReplyTo)
		kept := t.waiting[:0]
		for _, id := range t.waiting {
			if id > r.ReplyTo {
				kept = append(kept, id)
			}
		}
		t.waiting = kept
	}
	return r
}

// live gives the live posts in the order in which they came.
func (t *talk) live() (all []*proto.Record) {
	for _, id := range t.order {
		all = append(all, t.posts[id])
	}
	return all
}
