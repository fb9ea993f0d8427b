package outbox_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/store"
)

// draft is a live delivery with its message, which stands.
func (r *rig) draft(id, text string) (*conversation.Delivery, *message) {
	d := answer(id, text)
	d.Live, d.MadeAt = true, time.Time{}
	d.Pieces = []conversation.Piece{{Text: text, Attempts: 1, TriedAt: time.Now()}}
	m := r.post(d.Post(conv(1), 0))
	d.Pieces[0].Receipt = &chat.Receipt{MessageID: m.id}
	return d, m
}

// finish makes a live delivery final.
func (r *rig) finish(d *conversation.Delivery, text string) {
	d.Live, d.Text, d.MadeAt = false, text, time.Now()
	outbox.Pieces(d, r.Cut(conv(1), text))
}

func TestLiveIsLeftAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		_, stop := r.start()
		defer stop()
		d, _ := r.draft("a", "thinking")
		r.say(conv(1), d)
		r.say(conv(1), answer("0", "a notice meanwhile"))
		time.Sleep(25 * time.Hour)
		if diff := cmp.Diff([]string{"thinking", "a notice meanwhile"}, r.shown(conv(1))); diff != "" {
			t.Errorf("while it is live: %s", diff)
		}
		r.finish(d, "done|more")
		r.say(conv(1), d)
		synctest.Wait()
		if diff := cmp.Diff([]string{"done", "a notice meanwhile", "more"}, r.shown(conv(1))); diff != "" {
			t.Errorf("when it is final: %s", diff)
		}
		r.settled(conv(1), "a", "0")
	})
}

// TestRemovedLiveMessage: a text that nobody has seen is posted anew; one that was seen is not.
func TestRemovedLiveMessage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		final string
		// seen: the final text had been shown before the message was removed.
		seen bool
		want []string
	}{
		{"before the end", "done", false, []string{"done"}},
		{"before the end, more pieces", "done|more", false, []string{"done", "more"}},
		{"after the end", "done", true, nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withBoth)
				d, m := r.draft("a", "thinking")
				r.finish(d, tc.final)
				if tc.seen {
					d.Pieces[0].Settled = true
					d.Resend = time.Now().Add(time.Second)
				}
				m.gone = true
				r.say(conv(1), d)
				r.run(time.Minute)
				if diff := cmp.Diff(tc.want, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				r.settled(conv(1), "a")
			})
		})
	}
}

// TestResendHoldsUpNobody: the last edit after a change of hands waits for the old lease, the next answer does not.
func TestResendHoldsUpNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		d, m := r.draft("a", "thinking")
		r.finish(d, "done")
		d.Resend = time.Now().Add(30 * time.Second)
		_, stop := r.start()
		defer stop()
		r.say(conv(1), d, answer("b", "next"))
		synctest.Wait()
		if diff := cmp.Diff([]string{"done", "next"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		r.platform.locked(func() { m.text = "a late edit of the old holder" })
		time.Sleep(31 * time.Second)
		if diff := cmp.Diff([]string{"done", "next"}, r.shown(conv(1))); diff != "" {
			t.Errorf("after the old lease: %s", diff)
		}
		r.settled(conv(1), "a", "b")
	})
}

// TestChangedMeanwhile: another writer changes the document during a send; neither its change nor the receipt is lost.
func TestChangedMeanwhile(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		// fault is what becomes of the first send: that must not be lost.
		fault fault
		sends int
		finds int
	}{
		{"with a receipt", fine, 1, 0},
		{"with a refusal", refuse, 2, 0},
		{"with an unknown outcome", lost, 1, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withLookBack)
				r.say(conv(1), answer("a", "one"))
				once := first(1, "send", tc.fault)
				changed := false
				r.faults = func(c call) fault {
					if c.op == "send" && !changed {
						changed = true
						d := r.list(conv(1), conversation.Outgoing)["a"]
						d.Covers = append(d.Covers, d.Covers[0])
						d.Covers[1].MessageID = "another"
						r.say(conv(1), &d)
					}
					return once(c)
				}
				r.run(time.Minute)
				if diff := cmp.Diff([]string{"one"}, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				if n := r.count("send"); n != tc.sends {
					t.Errorf("%d sends, want %d", n, tc.sends)
				}
				if n := r.count("find"); n != tc.finds {
					t.Errorf("%d look-backs, want %d", n, tc.finds)
				}
				r.settled(conv(1), "a")
				if n := len(r.list(conv(1), conversation.Sent)["a"].Covers); n != 2 {
					t.Errorf("the other writer's change is lost: %d covers", n)
				}
			})
		})
	}
}

// TestLateInteraction: a response that is out of reach becomes an ordinary message.
func TestLateInteraction(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		r.faults = func(c call) fault {
			if c.op == "send" && c.post.Interaction != "" {
				return vanish
			}
			return fine
		}
		d := answer("a", "one|two")
		d.Interaction = "i1"
		r.say(conv(1), d)
		r.run(time.Second)
		if diff := cmp.Diff([]string{"one", "two"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		r.settled(conv(1), "a")
	})
}

func TestTryEdit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		pacer := outbox.NewPacer(r.st, func(chat.Conversation) outbox.Paces { return outbox.Paces{Edit: time.Second} })
		d, m := r.draft("a", "thinking")
		edit := func(ctx context.Context, text string) (bool, error) {
			d.Pieces[0].Text = text
			return pacer.TryEdit(ctx, r.platform, d.Post(conv(1), 0), *d.Pieces[0].Receipt)
		}
		for _, step := range []struct {
			text string
			done bool
			want string
		}{
			{"1", true, "1"},
			{"12", false, "1"}, // too soon: left out
			{"123", false, "1"},
		} {
			if done, err := edit(t.Context(), step.text); done != step.done || err != nil || m.text != step.want {
				t.Errorf("edit to %q: %t, %v, shows %q", step.text, done, err, m.text)
			}
		}
		time.Sleep(time.Second)
		if done, err := edit(t.Context(), "1234"); !done || err != nil || m.text != "1234" {
			t.Errorf("after the pace: %t, %v, shows %q", done, err, m.text)
		}
		time.Sleep(time.Second)
		r.fail(first(1, "edit", limit))
		var outage *chat.Outage
		if done, err := edit(t.Context(), "x"); done || !errors.As(err, &outage) {
			t.Errorf("a refused edit: %t, %v", done, err)
		}
		time.Sleep(6 * time.Second)
		if done, err := edit(t.Context(), "x"); done || err != nil {
			t.Errorf("before the platform's time: %t, %v, want it left out", done, err)
		}
		time.Sleep(2 * time.Second)
		ctx, cancel := context.WithCancelCause(t.Context())
		cancel(store.ErrFenced)
		calls := r.count("edit")
		if done, err := edit(ctx, "x"); done || err == nil || r.count("edit") != calls {
			t.Errorf("without a claim: %t, %v", done, err)
		}
	})
}
