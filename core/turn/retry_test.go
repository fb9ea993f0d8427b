package turn_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/store"
)

// flaky is a model that breaks off until it is well, and then repeats the last thing that it was told.
func flaky(well *bool, told *[]string) modeltest.Rule {
	return func(q *model.Request) (modeltest.Reply, bool) {
		*told = append(*told, q.Messages[len(q.Messages)-1].Text)
		if !*well {
			return modeltest.Reply{Err: &model.Error{Kind: model.Unavailable, Message: "broken"}}, true
		}
		return modeltest.Reply{Text: "now I can"}, true
	}
}

// failedAnswer is the card of the last failed answer, as the outbox leaves it when it was sent, and the turn that it names.
func (r *rig) failedAnswer() (d conversation.Delivery, turn string) {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.List{Partition: r.part, Collection: conversation.Outgoing})
	if err != nil {
		r.t.Fatal(err)
	}
	for _, doc := range as[0].Docs {
		var o conversation.Delivery
		if err := conversation.Decode(doc, &o); err != nil {
			r.t.Fatal(err)
		}
		if o.Card == nil {
			continue
		}
		turn, _ = strings.CutPrefix(o.Card.Buttons[0].Action, conversation.AgainMark)
		o.Pieces = []conversation.Piece{{Text: o.Text, Attempts: 1, Settled: true, Receipt: &chat.Receipt{MessageID: "f" + turn}}}
		r.commit(store.Delete{Key: o.Key()}, store.Put{Key: o.SentKey(), Value: conversation.Encode(o)})
		d = o
	}
	if turn == "" {
		r.t.Fatalf("no failed answer has a button: %q", r.said())
	}
	return d, turn
}

func (r *rig) tryAgain(id, turn, by string) {
	r.t.Helper()
	c := conversation.Control{V: 1, Kind: conversation.Retry, ID: id, Order: id, By: by, Target: turn, Interaction: id}
	r.commit(store.Put{Key: c.Key(), Value: conversation.Encode(c)})
}

func TestAFailedTurnIsStartedOver(t *testing.T) {
	t.Parallel()
	var told []string
	well := false
	r := newRig(t, flaky(&well, &told))
	r.caps.Cards, r.caps.Edits = true, true
	r.opts.Name = func(_ context.Context, p string) (string, error) { return strings.ToUpper(p), nil }
	r.say("1", "ann", "first")
	r.say("2", "bob", "second")
	r.work()
	d, turn := r.failedAnswer()
	r.tryAgain("3", turn, "eve")
	r.work() // it fails once more, with a button of its own
	card := conversation.Delivery{}
	if !r.doc(d.Key(), &card) || card.Card != nil || !strings.HasSuffix(card.Text, "**Tried again by EVE.**") || card.Pieces[0].Settled || card.Pieces[0].Receipt == nil {
		t.Errorf("the failed answer is %+v", card)
	}
	well = true
	_, second := r.failedAnswer()
	if second == turn {
		t.Fatal("the second attempt has no name of its own")
	}
	told = nil
	r.tryAgain("4", second, "ann")
	r.work()
	said := r.said()
	if last := said[len(said)-1]; last != "answer [1 2] now I can" {
		t.Errorf("said %q", said)
	}
	if len(told) != 1 || !strings.Contains(told[0], "<note>This turn failed before it was finished.</note>\n\nann: first\n\nbob: second\n\n<note>It is") {
		t.Errorf("the model was told %q", told)
	}
	if d := cmp.Diff([]string{"failed", "failed", "answered"}, r.ended); d != "" {
		t.Error(d)
	}
	if n := r.model.Violations(); n > 0 {
		t.Errorf("a strict provider refuses %d histories", n)
	}
	r.foldAgrees()
}

// What was asked to be started over waits for the turn under way, belongs to a session of its own after a new one, and ends with a stop.
func TestStartingOverAmongOtherThings(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		do   func(r *rig, turn string)
		want string
	}{
		{"after a new session", func(r *rig, turn string) {
			r.control(conversation.New, "2", "ann")
			r.work()
			r.tryAgain("3", turn, "ann")
		}, "answer [1] now I can"},
		{"beside a new message", func(r *rig, turn string) {
			r.tryAgain("2", turn, "ann")
			r.say("3", "ann", "and this")
		}, "answer [1 3] now I can"},
		{"before a stop", func(r *rig, turn string) {
			r.tryAgain("2", turn, "ann")
			r.control(conversation.Stop, "3", "ann")
		}, "answer [1 3] Stopped."},
		{"older than a stop that came first", func(r *rig, turn string) {
			r.control(conversation.Stop, "5", "ann")
			r.work()
			r.tryAgain("3", turn, "ann")
		}, "notice [3] This came after a stop that was sent later, so it was not started over. Write the message again if it should be run."},
		{"a turn of which nothing is left", func(r *rig, _ string) { r.tryAgain("2", "t0", "ann") }, "notice [2] What was said then is not kept any more. Write the message again."},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var told []string
			well := false
			r := newRig(t, flaky(&well, &told))
			r.caps.Cards = true
			r.say("1", "ann", "first")
			r.work()
			_, turn := r.failedAnswer()
			well = true
			tc.do(r, turn)
			r.work()
			if said := r.said(); !slices.Contains(said, tc.want) {
				t.Errorf("said %q, want %q", said, tc.want)
			}
			as, err := r.store.Read(t.Context(), store.List{Partition: r.part, Collection: conversation.Controls})
			if err != nil || len(as[0].Docs) != 0 {
				t.Errorf("%d controls are left, %v", len(as[0].Docs), err)
			}
			r.foldAgrees()
		})
	}
}

// While another turn is under way the one that failed waits for its end, and is not lost.
func TestStartingOverWaitsForTheTurnUnderWay(t *testing.T) {
	t.Parallel()
	var told []string
	well := false
	r := newRig(t, flaky(&well, &told))
	r.caps.Cards = true
	r.say("1", "ann", "first")
	r.work()
	_, turn := r.failedAnswer()
	asking := newRig(t, modeltest.AfterTool("ask", modeltest.Say("fine")), modeltest.When("tea", modeltest.Use("ask", `{}`)), modeltest.When("first", modeltest.Say("at last")))
	r.model = asking.model
	r.say("2", "ann", "tea")
	r.work()
	r.tryAgain("3", turn, "ann")
	r.work()
	if n := len(r.waits()); n != 1 {
		t.Fatalf("%d waits", n)
	}
	r.say("4", "ann", "green")
	r.work()
	said := r.said()
	if !slices.Contains(said, "answer [2 4] fine") || said[len(said)-1] != "answer [1] at last" {
		t.Errorf("said %q", said)
	}
}

// Where a platform has no cards a failed answer has no button.
func TestNoButtonWithoutCards(t *testing.T) {
	t.Parallel()
	var told []string
	well := false
	r := newRig(t, flaky(&well, &told))
	r.say("1", "ann", "first")
	r.work()
	as, err := r.store.Read(t.Context(), store.List{Partition: r.part, Collection: conversation.Outgoing})
	if err != nil {
		t.Fatal(err)
	}
	var d conversation.Delivery
	if err := conversation.Decode(as[0].Docs[0], &d); err != nil || d.Card != nil {
		t.Errorf("%+v %v", d, err)
	}
}
