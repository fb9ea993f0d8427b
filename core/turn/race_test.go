package turn_test

import (
	"context"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/conversation"
	"herald/core/model/modeltest"
	"herald/core/session"
	"herald/core/store"
)

// overtaken is a store in which something happens right before the first commit of a site.
type overtaken struct {
	store.Store
	site   string
	happen func()
}

func (o *overtaken) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if o.happen != nil && strings.HasPrefix(c.ID, o.site+"/") {
		happen := o.happen
		o.happen = nil
		happen()
	}
	return o.Store.Commit(ctx, c)
}

// A click that is committed while the turn takes a message for the answer is the first outcome; the message is one of its own then.
func TestAClickWinsOverAMessageThatIsBeingTaken(t *testing.T) {
	t.Parallel()
	r := newRig(t, modeltest.AfterTool("ask", modeltest.Say("{result}")), modeltest.When("drink", modeltest.Use("ask", `{}`)))
	r.say("1", "ann", "drink")
	r.work()
	r.say("2", "ann", "coffee")
	o := &overtaken{Store: r.store, site: "turn.step"}
	o.happen = func() {
		as, err := r.store.Read(t.Context(), store.List{Partition: r.part, Collection: conversation.Waits})
		if err != nil || len(as[0].Docs) != 1 {
			t.Fatalf("%d waits, %v", len(as[0].Docs), err)
		}
		var w conversation.WaitDoc
		if err := conversation.Decode(as[0].Docs[0], &w); err != nil {
			t.Fatal(err)
		}
		w.Outcome = &session.Outcome{Wait: w.Wait.ID, Result: session.Replied, By: "ann", Text: "tea"}
		r.commit(store.Put{Key: w.Key(), Value: conversation.Encode(w)})
	}
	r.opts.Store = o
	r.work()
	if o.happen != nil {
		t.Fatal("nothing was overtaken")
	}
	// The call has the click's outcome, so the model is shown the message as what a person said next.
	want := []string{"ask [] **Tea or coffee?**", "answer [1 2] You said: ann: coffee"}
	if d := cmp.Diff(want, r.said()); d != "" {
		t.Errorf("said (-want +got)\n%s", d)
	}
}
