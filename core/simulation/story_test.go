package simulation_test

import (
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
	"herald/core/store/memory"
)

var (
	seeds = flag.Int("seeds", 4000, "how many seeds are played")
	first = flag.Uint64("seed", 0, "play this seed alone and tell its story")
)

const (
	people = 3
	// teamEvery: in each story with a seed of this many agents delegate.
	teamEvery = 16
)

// newWorld draws what kind of platform it is, and starts two processes.
func newWorld(seed uint64, trace bool) *world {
	w := &world{
		rng: rand.New(rand.NewPCG(seed, 7)), clock: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC), trace: trace,
		tools:     &effects{begun: map[string]int{}, repeatable: map[string]bool{}},
		forwarded: map[string]bool{},
	}
	w.base = memory.New(memory.Options{Clock: func() time.Time { return w.clock }})
	w.plat = &platform{w: w}
	if seed%teamEvery == 5 {
		w.team = &team{beside: map[string]bool{}}
	}
	w.plat.caps = chat.Capabilities{Edits: w.rng.IntN(2) == 0, Cards: w.rng.IntN(2) == 0, SendTimeout: 2 * time.Second}
	if w.rng.IntN(2) == 0 {
		w.plat.caps.Nonce, w.plat.caps.NonceFor = true, time.Hour
	} else {
		w.plat.caps.LookBack = true
	}
	for _, n := range []string{"A", "B"} {
		p := &process{w: w, name: n, skew: time.Duration(w.rng.IntN(1200)-600) * time.Second}
		w.procs = append(w.procs, p)
		p.start()
	}
	return w
}

// live is what happens at one step: people act, the platform, the clock and the crashes too, and one actor goes on.
func (w *world) live(said *[]*event, most int) {
	switch n := w.rng.IntN(1000); {
	case n < 25 && len(*said) < most || len(*said) == 0:
		c, who := conv(w.rng.IntN(2)), fmt.Sprintf("u%d", w.rng.IntN(people))
		words := []string{"hello", "hello", "effect", "look", "ask", "danger", "wait", "forward", "stop", "new"}
		if w.team != nil {
			words = asked
		}
		*said = append(*said, w.plat.say(chat.Message, c, who, words[w.rng.IntN(len(words))]))
	case n < 30 && len(*said) > 0:
		e := (*said)[w.rng.IntN(len(*said))]
		if w.rng.IntN(2) == 0 {
			w.plat.change(chat.Edit, e, "edited")
		} else {
			w.plat.change(chat.Delete, e, "")
		}
	case n < 50:
		w.click()
	case n < 60 && w.crashes < 4:
		w.crashes++
		w.procs[w.rng.IntN(len(w.procs))].crash()
	case n < 64:
		w.pass(leaseTime + time.Second) // whoever is at work is frozen past its lease
	case n < 400:
		w.pass(time.Duration(w.rng.IntN(200)) * time.Millisecond)
	}
	w.advance()
}

func (w *world) advance() {
	p := w.procs[w.rng.IntN(len(w.procs))]
	a := p.actors[w.rng.IntN(len(p.actors))]
	a.next()
}

// click presses a button of a card that stands.
func (w *world) click() {
	var cards []*post
	for _, o := range w.plat.posts {
		if o.card != nil && len(o.card.Buttons) > 0 {
			cards = append(cards, o)
		}
	}
	if len(cards) == 0 {
		return
	}
	o := cards[w.rng.IntN(len(cards))]
	b := o.card.Buttons[w.rng.IntN(len(o.card.Buttons))]
	e := w.plat.say(chat.Click, o.conv, fmt.Sprintf("u%d", w.rng.IntN(people)), "")
	e.in.Action = b.Action
	if b.Form != nil {
		e.in.Value = "typed"
	}
}

// rest lets the world come to rest: nothing fails any more, and what waits for a time gets it.
func (w *world) rest() error {
	w.quiet = true
	for range 100_000 {
		w.advance()
		if w.wrong != nil {
			return w.wrong
		}
		if w.running > 0 {
			continue
		}
		at, now, ok := w.due()
		switch {
		case !ok && w.idle():
			return nil
		case ok && at.After(now) && w.acked():
			w.pass(at.Sub(now))
		}
	}
	return fmt.Errorf("the world does not come to rest")
}

// due is when the next member of any agenda is due.
func (w *world) due() (at, now time.Time, ok bool) {
	for _, a := range []store.Agenda{store.Turns, store.Outbox, store.Handover} {
		t, n, has, err := w.base.Due(context.Background(), a)
		if err != nil {
			panic(err)
		}
		if now = n; has && (!ok || t.Before(at)) {
			at, ok = t, true
		}
	}
	return at, now, ok
}

func (w *world) acked() bool {
	return !slices.ContainsFunc(w.plat.events, func(e *event) bool { return !e.acked })
}

// idle reports whether nothing is under way inside a process, either.
func (w *world) idle() bool {
	return w.acked() && !slices.ContainsFunc(w.procs, func(p *process) bool { return len(p.express) > 0 })
}

// play is one seed.
func play(seed uint64, trace bool) (w *world, err error) {
	w = newWorld(seed, trace)
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
		for _, p := range w.procs {
			p.kill()
		}
	}()
	var said []*event
	// Most faults need little room: two messages and a crash. Every eighth story is a long one.
	steps, most := 40+w.rng.IntN(80), 2
	switch {
	case w.team != nil:
		steps, most = 150+w.rng.IntN(250), 4
	case seed%8 == 0:
		steps, most = 600, 8
	}
	for range steps {
		w.live(&said, most)
	}
	if err := w.rest(); err != nil {
		return w, err
	}
	if w.team != nil {
		if err := w.probe(&said); err != nil {
			return w, err
		}
	}
	return w, w.check(said)
}

// check reads only what was sent in and what the platform was told.
func (w *world) check(said []*event) error {
	p := w.plat
	if w.wrong != nil {
		return w.wrong
	}
	if p.doubles > 0 {
		return fmt.Errorf("%d pieces were posted twice", p.doubles)
	}
	for id, n := range w.tools.begun {
		if n > 1 && !w.tools.repeatable[id] {
			return fmt.Errorf("the call %s of a tool that must not be repeated began %d times", id, n)
		}
	}
	touched := make(map[string]bool)
	for _, e := range p.events {
		if e.in.Kind == chat.Delete {
			touched[e.in.MessageID] = true
		}
	}
	covered := make(map[string]map[string]int) // message → delivery → first post's order
	for _, o := range p.posts {
		for _, m := range o.covers {
			if covered[m] == nil {
				covered[m] = make(map[string]int)
			}
			if _, ok := covered[m][o.delivery]; !ok {
				covered[m][o.delivery] = o.order
			}
		}
	}
	var ids []string
	for _, e := range said {
		ids = append(ids, e.in.MessageID)
	}
	for id := range w.forwarded {
		ids = append(ids, id)
	}
	again := w.startedOver()
	for _, id := range ids {
		n := len(covered[id])
		for d := range covered[id] {
			if again[d] && n > 1 {
				n-- // a person asked for another answer in place of this one
			}
		}
		switch {
		case n == 1:
		case n == 0 && touched[id]: // deleted before its turn began
		default:
			return fmt.Errorf("message %s is covered by %d answers: %v", id, n, covered[id])
		}
	}
	return w.checkOrder(said, covered)
}

// startedOver are the failed answers in whose place somebody asked for another one.
func (w *world) startedOver() map[string]bool {
	out := make(map[string]bool)
	for _, e := range w.plat.events {
		if turn, ok := strings.CutPrefix(e.in.Action, conversation.AgainMark); ok {
			out[conversation.ID("d", turn, "answer")] = true
		}
	}
	return out
}

// began is the earliest instant at which the turn that answers e can have begun: when the first of its messages was handed on. The reply
// to a question belongs to the turn that asked.
func began(e *event, said []*event, covered map[string]map[string]int) int {
	first := e.sentAt
	for d := range covered[e.in.MessageID] {
		for _, o := range said {
			if _, ok := covered[o.in.MessageID][d]; ok {
				first = min(first, o.sentAt)
			}
		}
	}
	return first
}

// checkOrder: a message that was acknowledged before a newer one of its conversation was sent at all is never answered after it.
func (w *world) checkOrder(said []*event, covered map[string]map[string]int) error {
	order := func(e *event) (first int) {
		for _, o := range covered[e.in.MessageID] {
			if first == 0 || o < first {
				first = o
			}
		}
		return first
	}
	for _, a := range said {
		for _, b := range said {
			if a.in.Conversation != b.in.Conversation || a.in.Order >= b.in.Order || a.ackedAt > b.sentAt || order(a) == 0 || order(b) == 0 {
				continue
			}
			if isControl(a) || isControl(b) || a.ackedAt > began(b, said, covered) {
				continue
			}
			if order(a) > order(b) {
				return fmt.Errorf("%s was acknowledged before %s came, and is answered after it", a.in.MessageID, b.in.MessageID)
			}
		}
	}
	return nil
}

func isControl(e *event) bool { return e.in.Text == "stop" || e.in.Text == "new" }

// stands checks what the store holds when all is done: nothing waits.
func (w *world) stands() error {
	for n := range 10 {
		p := conversation.Partition(conv(n))
		if err := w.standsTasks(p); err != nil {
			return err
		}
		if err := w.standsIn(p); err != nil {
			return err
		}
	}
	if ls, err := w.base.DeadLetters(context.Background(), 10); err != nil || len(ls) > 0 {
		return fmt.Errorf("there are dead letters: %s %v", notes(ls), err)
	}
	return nil
}

// standsIn checks that nothing waits in a partition.
func (w *world) standsIn(p store.Partition) error {
	as, err := w.base.Read(context.Background(), store.List{Partition: p, Collection: conversation.Inbox}, store.List{Partition: p, Collection: conversation.Outgoing},
		store.List{Partition: p, Collection: conversation.Waits}, store.List{Partition: p, Collection: conversation.Handovers})
	if err != nil {
		return err
	}
	for i, a := range as {
		if len(a.Docs) > 0 {
			return fmt.Errorf("%s: %d documents are left in the collection %d of inbox, outbox, waits, handovers", p, len(a.Docs), i)
		}
	}
	return nil
}

func notes(ls []store.Letter) string {
	var b strings.Builder
	for _, l := range ls {
		fmt.Fprintf(&b, "%s: %s; ", l.Partition, l.Note)
	}
	return b.String()
}

func TestSimulation(t *testing.T) {
	t.Parallel()
	if *first != 0 {
		w, err := play(*first, true)
		t.Logf("%s", w.story.String())
		if err != nil {
			t.Fatalf("seed %d: %v", *first, err)
		}
		if err := w.stands(); err != nil {
			t.Fatalf("seed %d: %v", *first, err)
		}
		return
	}
	begin := time.Now()
	var next, posts, crashes, landed, summaries atomic.Int64
	failed := make(chan error, *seeds)
	var wg sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for seed := next.Add(1); seed <= int64(*seeds) && len(failed) == 0; seed = next.Add(1) {
				w, err := play(uint64(seed), false)
				if err == nil {
					err = w.stands()
				}
				if err != nil {
					failed <- fmt.Errorf("seed %d: %w\nplay it again with: go test ./core/simulation -run TestSimulation -seed %d -v", seed, err, seed)
				}
				posts.Add(int64(len(w.plat.posts)))
				crashes.Add(int64(w.crashes))
				if w.team != nil {
					landed.Add(int64(w.team.landed))
					summaries.Add(int64(w.team.summaries))
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	for err := range failed {
		t.Error(err)
	}
	if *seeds >= 1000 && len(failed) == 0 && (landed.Load() == 0 || summaries.Load() == 0) {
		t.Errorf("%d results of tasks landed, %d histories were summarised: these stories tell nothing", landed.Load(), summaries.Load())
	}
	t.Logf("%d seeds, %d posts, %d crashes, %d results of tasks, %d summaries, %.0f seeds a second", *seeds, posts.Load(), crashes.Load(), landed.Load(), summaries.Load(), float64(min(next.Load(), int64(*seeds)))/time.Since(begin).Seconds())
}
