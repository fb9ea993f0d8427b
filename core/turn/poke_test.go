package turn_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"herald/core/store"
)

// hooked is a store that calls after once a commit of a site stands.
type hooked struct {
	store.Store
	site  string
	after func()
}

func (h hooked) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	res, err := h.Store.Commit(ctx, c)
	if err == nil && strings.HasPrefix(c.ID, h.site+"/") {
		h.after()
	}
	return res, err
}

// A message that arrives while the claim is being released wakes a member that its worker still counts as held. Unless the poke is
// left in its channel, nobody claims the member before the next look through the whole agenda.
func TestAPokeDuringTheReleaseIsLeftToTheWorker(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name, site string
		steps      func(r *rig)
	}{
		{"an answer", "turn.answer", func(r *rig) { r.say("1", "ann", "hi") }},
		{"nothing to do", "turn.idle", func(r *rig) { r.commit() }},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t)
				tc.steps(r)
				poke := make(chan struct{}, 1)
				r.opts.Store = hooked{r.store, tc.site, func() {
					r.say("2", "bob", "and me?")
					poke <- struct{}{}
					synctest.Wait() // whoever reads pokes has had every chance
				}}
				c, _ := r.claim()
				if err := r.engine().Handle(t.Context(), c, poke); err != nil {
					t.Fatal(err)
				}
				if len(poke) != 1 {
					t.Error("the poke was taken by a handler that did not look again")
				}
			})
		})
	}
}
