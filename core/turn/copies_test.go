package turn_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model/modeltest"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// owed is what the conversation owes others of a kind.
func (r *rig) owed(kind string) (out []conversation.Copy) {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.List{Partition: r.part, Collection: conversation.Handovers})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, doc := range as[0].Docs {
		var o conversation.Owed
		var c conversation.Copy
		if err := conversation.Decode(doc, &o); err != nil {
			r.t.Fatal(err)
		}
		if o.Kind != kind {
			continue
		}
		if err := json.Unmarshal(o.Data, &c); err != nil {
			r.t.Fatal(err)
		}
		out = append(out, c)
	}
	return out
}

// Where who asked may not decide, the card is copied to those who may, and each copy is told how it ended.
func TestCardsAreCopiedToWhoMayDecide(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		d     tool.Decision
		admin bool
		want  []string // who gets a copy
		end   func(*rig, conversation.WaitDoc)
		how   string
	}{
		{"the asker decides", tool.Decision{}, false, nil, nil, ""},
		{"the asker is one of several", tool.Decision{Deciders: []string{"bob", "ann"}}, false, nil, nil, ""},
		{"the asker is an admin", tool.Decision{Deciders: []string{"admin"}}, true, nil, nil, ""},
		{
			"others decide",
			tool.Decision{Deciders: []string{"bob", "eve"}},
			false,
			[]string{"bob", "eve"},
			func(r *rig, w conversation.WaitDoc) { r.decide(w, session.Approved, "bob") }, "Approved by BOB.",
		},
		{
			"the asker is barred",
			tool.Decision{Deciders: []string{"admin"}, Barred: []string{"ann"}},
			true,
			[]string{"admin"},
			func(r *rig, w conversation.WaitDoc) { r.decide(w, session.Refused, "eve") }, "Denied by EVE.",
		},
		{
			"stopped",
			tool.Decision{Deciders: []string{"bob"}},
			false,
			[]string{"bob"},
			func(r *rig, _ conversation.WaitDoc) { r.control(conversation.Stop, "2", "ann") }, "Not decided: the turn ended before.",
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.d.Answer = tool.Require
			r, _ := gated(t, map[string]tool.Decision{"act": tc.d, "act approved": {Answer: tool.Allow}},
				modeltest.AfterTool("act", modeltest.Say("over")), modeltest.When("go", modeltest.Use("act", `{"sum":12}`)))
			r.caps.Cards = true
			r.opts.Admin = func(context.Context, string) (bool, error) { return tc.admin, nil }
			r.opts.Reach = func(_ context.Context, w chat.Workspace, who, without []string, _ map[string]string) (out []chat.IdentityID, err error) {
				for _, p := range who {
					if w == place.Workspace && !slices.Contains(without, p) {
						out = append(out, chat.IdentityID(p))
					}
				}
				return out, nil
			}
			r.say("1", "ann", "go")
			r.work()
			var got []string
			for _, c := range r.owed(conversation.CopyKind) {
				got = append(got, string(c.To))
				text := c.Delivery.Text
				if !strings.Contains(text, "ANN asked for this in another conversation.") || !strings.Contains(text, "`sum`: `12`") || strings.Contains(text, "deny:") || len(c.Delivery.Card.Buttons) != 4 || c.Person != "ann" {
					t.Errorf("the copy is %+v: %q", c, text)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, tc.want) {
				t.Fatalf("copies for %q, want %q", got, tc.want)
			}
			if tc.end == nil {
				return
			}
			tc.end(r, r.waits()[0])
			r.work()
			ends := r.owed(conversation.CopyEndKind)
			if len(ends) != len(tc.want) {
				t.Fatalf("%d ends", len(ends))
			}
			for _, c := range ends {
				if c.How != tc.how {
					t.Errorf("a copy is told %q, want %q", c.How, tc.how)
				}
			}
		})
	}
}
