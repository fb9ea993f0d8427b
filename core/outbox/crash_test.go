package outbox_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/worker"
)

// process is a process that dies at its n-th step: each call of the store and of the platform has a step before and one after it. What a
// dead process asks for is not done.
type process struct {
	steps atomic.Int64
	at    int64
	gone  atomic.Bool
	// end ends what the process was about.
	end context.CancelFunc
}

var errDead = errors.New("the process is dead")

// alive takes a step.
func (p *process) alive() bool {
	if p.gone.Load() {
		return false
	}
	if p.at > 0 && p.steps.Add(1) >= p.at {
		p.gone.Store(true)
		p.end()
		return false
	}
	return true
}

func (p *process) Fault(memory.Call) memory.Effect {
	e := memory.Effect{}
	if !p.alive() {
		e.Before = errDead
	} else if !p.alive() {
		e.After = errDead
	}
	return e
}

// mortal is an adapter in a process.
type mortal struct {
	*platform
	p *process
}

func (m mortal) Send(ctx context.Context, post *chat.Post) (chat.Receipt, error) {
	if !m.p.alive() {
		return chat.Receipt{}, errDead
	}
	r, err := m.platform.Send(ctx, post)
	if !m.p.alive() {
		return chat.Receipt{}, errDead
	}
	return r, err
}

func (m mortal) Edit(ctx context.Context, post *chat.Post, r chat.Receipt, final bool) error {
	if !m.p.alive() {
		return errDead
	}
	err := m.platform.Edit(ctx, post, r, final)
	if !m.p.alive() {
		return errDead
	}
	return err
}

func (m mortal) Find(ctx context.Context, post *chat.Post) (chat.Receipt, bool, error) {
	if !m.p.alive() {
		return chat.Receipt{}, false, errDead
	}
	r, ok, err := m.platform.Find(ctx, post)
	if !m.p.alive() {
		return chat.Receipt{}, false, errDead
	}
	return r, ok, err
}

// live runs a process until it dies, or for d.
func (r *rig) live(p *process, d time.Duration) {
	o := r.options()
	h := r.st.Attach(memory.Options{Faults: p})
	o.Store, o.Pacer = h, outbox.NewPacer(h, func(chat.Conversation) outbox.Paces { return r.paces })
	o.Adapter = func(chat.Conversation) (chat.Adapter, bool) { return mortal{r.platform, p}, true }
	w, err := outbox.NewWorker(o, worker.Options{Holder: newID(), Lease: lease, Grace: -1, Poll: 30 * time.Second})
	if err != nil {
		r.t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), d)
	defer cancel()
	p.end = cancel
	var wg sync.WaitGroup
	wg.Go(func() { _ = w.Run(ctx) })
	wg.Go(func() { _ = worker.Listen(ctx, r.st, w.Worker) })
	wg.Wait()
	_ = h.Close()
}

// scenario is what waits when the process starts, and what a person must see in the end.
type scenario struct {
	name  string
	setup func(r *rig)
	want  []string
	paces outbox.Paces
}

func scenarios() []scenario {
	return []scenario{
		{name: "plain", setup: func(r *rig) { r.say(conv(1), answer("a", "one")) }, want: []string{"one"}},
		{name: "pieces", setup: func(r *rig) { r.say(conv(1), answer("a", "one|two|three")) }, want: []string{"one", "two", "three"}},
		{
			name: "several deliveries", want: []string{"one", "two", "three"},
			setup: func(r *rig) { r.say(conv(1), answer("a", "one"), answer("b", "two|three")) },
		},
		{
			name: "paced", want: []string{"one", "two", "three"}, paces: outbox.Paces{Channel: 20 * time.Second},
			setup: func(r *rig) { r.say(conv(1), answer("a", "one|two"), answer("b", "three")) },
		},
		{
			name: "a live message that became final", want: []string{"final", "more"},
			setup: func(r *rig) {
				d := answer("a", "draft")
				d.Pieces = []conversation.Piece{{Text: "draft", Attempts: 1, TriedAt: time.Now()}}
				m := r.post(d.Post(conv(1), 0))
				d.Pieces[0].Receipt = &chat.Receipt{MessageID: m.id}
				time.Sleep(time.Second)
				d.Text, d.MadeAt = "final|more", time.Now()
				outbox.Pieces(d, []string{"final", "more"})
				r.say(conv(1), d)
			},
		},
		{
			name: "a live message without its receipt", want: []string{"final", "more"},
			setup: func(r *rig) {
				d := answer("a", "draft")
				d.Pieces = []conversation.Piece{{Text: "draft", Attempts: 1, TriedAt: time.Now()}}
				r.post(d.Post(conv(1), 0))
				time.Sleep(time.Second)
				d.Text, d.MadeAt = "final|more", time.Now()
				outbox.Pieces(d, []string{"final", "more"})
				r.say(conv(1), d)
			},
		},
		{
			name: "a turn that changed hands", want: []string{"final"},
			setup: func(r *rig) {
				d := answer("a", "final")
				m := r.post(&chat.Post{Conversation: conv(1), DeliveryID: "a", Text: "draft"})
				d.Pieces = []conversation.Piece{{Text: "final", Attempts: 1, TriedAt: time.Now(), Receipt: &chat.Receipt{MessageID: m.id}}}
				d.Resend = time.Now().Add(20 * time.Second)
				r.say(conv(1), d)
			},
		},
	}
}

// TestCrashAtEachStep kills the process at each of its steps, twice in a row, and lets another go on.
func TestCrashAtEachStep(t *testing.T) {
	t.Parallel()
	for _, caps := range []struct {
		name string
		chat.Capabilities
	}{{"nonce", withNonce}, {"look-back", withLookBack}, {"both", withBoth}} {
		for _, sc := range scenarios() {
			t.Run(caps.name+"/"+sc.name, func(t *testing.T) {
				t.Parallel()
				points := 0
				for n, died := int64(1), true; died; n++ {
					synctest.Test(t, func(t *testing.T) {
						r := newRig(t, caps.Capabilities)
						r.paces = sc.paces
						sc.setup(r)
						p := &process{at: n}
						r.live(p, 4*time.Minute)
						if died = p.gone.Load(); !died {
							return
						}
						points++
						// The second one dies as well, a little further on; its holder is another, so the first lease must end.
						r.live(&process{at: 3 + n%5}, 4*time.Minute)
						r.live(&process{}, 10*time.Minute)
						if diff := cmp.Diff(sc.want, r.shown(conv(1))); diff != "" {
							t.Errorf("killed at step %d: %s", n, diff)
						}
						r.settled(conv(1))
						if len(r.letters()) != 0 || r.reported(outbox.EventDouble) != 0 {
							t.Errorf("killed at step %d: %d letters, %d possible doubles", n, len(r.letters()), r.reported(outbox.EventDouble))
						}
					})
					if n > 500 {
						t.Fatal("the process has no last step")
					}
				}
				if points < 8 {
					t.Errorf("only %d points to fail at", points)
				}
			})
		}
	}
}

// TestStoreFailsAtEachCall: each call of the store fails once, before or after it was done. Nothing is lost or doubled, without a nonce too.
func TestStoreFailsAtEachCall(t *testing.T) {
	t.Parallel()
	for _, caps := range []struct {
		name string
		chat.Capabilities
	}{{"nonce", withNonce}, {"look-back", withLookBack}, {"blind", chat.Capabilities{Edits: true}}} {
		for _, sc := range scenarios()[:4] {
			for _, after := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/after=%t", caps.name, sc.name, after), func(t *testing.T) {
					t.Parallel()
					for n, failed := int64(1), true; failed && n < 30; n++ {
						synctest.Test(t, func(t *testing.T) {
							r := newRig(t, caps.Capabilities)
							r.paces = sc.paces
							var calls atomic.Int64
							failed = false
							r.via = r.st.Attach(memory.Options{Faults: memory.FaultFunc(func(c memory.Call) memory.Effect {
								if c.Method == "Extend" || c.Method == "Due" || calls.Add(1) != n {
									return memory.Effect{}
								}
								failed = true
								if after {
									return memory.Effect{After: memory.Unavailable("cut")}
								}
								return memory.Effect{Before: memory.Unavailable("cut")}
							})})
							sc.setup(r)
							r.run(5 * time.Minute)
							if diff := cmp.Diff(sc.want, r.shown(conv(1))); diff != "" {
								t.Errorf("failed at call %d: %s", n, diff)
							}
							r.settled(conv(1))
						})
					}
				})
			}
		}
	}
}

// TestStoreAwayAfterASend: the receipt is committed when the store is back, without a second send, while the claim holds.
func TestStoreAwayAfterASend(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withNothing)
		var away atomic.Bool
		r.via = r.st.Attach(memory.Options{Faults: memory.FaultFunc(func(memory.Call) memory.Effect {
			if away.Load() {
				return memory.Effect{Before: memory.Unavailable("cut")}
			}
			return memory.Effect{}
		})})
		r.faults = func(c call) fault {
			if c.op == "send" {
				away.Store(true)
			}
			return fine
		}
		r.say(conv(1), answer("a", "one"))
		_, stop := r.start()
		defer stop()
		time.Sleep(20 * time.Second)
		away.Store(false)
		time.Sleep(20 * time.Second)
		if diff := cmp.Diff([]string{"one"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		r.settled(conv(1), "a")
	})
}

// TestFencedStopsAtOnce: a holder whose claim was taken over sends nothing more.
func TestFencedStopsAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		r.say(conv(1), answer("a", "one|two|three"))
		claim := r.claim(conv(1))
		r.faults = func(c call) fault {
			if c.op == "send" && c.post.Piece == 1 {
				// Somebody else is the holder from here on.
				_, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: conversation.Partition(conv(1)), Ops: []store.Op{
					store.Release{Claim: claim, Again: true},
				}})
				if err != nil {
					t.Error(err)
				}
			}
			return fine
		}
		d, err := outbox.New(r.options())
		if err != nil {
			t.Fatal(err)
		}
		if err := d.Run(t.Context(), claim, nil); !errors.Is(err, store.ErrFenced) {
			t.Errorf("run: %v, want ErrFenced", err)
		}
		if n := r.count("send"); n != 2 {
			t.Errorf("%d sends, want none after the claim was lost", n)
		}
		r.faults = nil
		r.run(time.Minute)
		if diff := cmp.Diff([]string{"one", "two", "three"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
	})
}

// claim takes the outbox of c.
func (r *rig) claim(c chat.Conversation) store.Claim {
	r.t.Helper()
	claims, err := r.st.Claim(context.Background(), store.ClaimRequest{Agenda: store.Outbox, Holder: "test", Lease: lease, Limit: 1, Members: []store.Member{member(c)}})
	if err != nil || len(claims) != 1 {
		r.t.Fatalf("claim: %v, %v", claims, err)
	}
	return claims[0]
}
