package inproc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/store"
	"herald/core/store/inproc"
)

var start = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)

func TestReserveTakesAllPlacesOrNone(t *testing.T) {
	t.Parallel()
	var p inproc.Paces
	channel := inproc.Place{Key: "channel", Every: time.Second, Burst: 1}
	app := inproc.Place{Key: "app", Every: time.Minute, Burst: 1}
	p.Reserve(start, -1, app)
	if _, ok := p.Reserve(start, time.Second, channel, app); ok {
		t.Fatal("a wait of a minute was taken for a second")
	}
	if wait, ok := p.Reserve(start, 0, channel); !ok || wait != 0 {
		t.Errorf("the refused call took the channel's place: %v, %v", wait, ok)
	}
	if wait, ok := p.Reserve(start, -1, channel, app); !ok || wait != time.Minute {
		t.Errorf("got %v, %v", wait, ok)
	}
}

func TestTheSameKeyTwiceIsTwoPlaces(t *testing.T) {
	t.Parallel()
	var p inproc.Paces
	pl := inproc.Place{Key: "k", Every: time.Second, Burst: 1}
	if wait, ok := p.Reserve(start, -1, pl, pl); !ok || wait != time.Second {
		t.Errorf("got %v, %v", wait, ok)
	}
	if wait, _ := p.Reserve(start, -1, pl); wait != 2*time.Second {
		t.Errorf("the third waits %v", wait)
	}
}

// TestNoWindowHasMoreThanItsShare checks the promise of a pace from the outside: in any window of n intervals at most n + burst uses.
func TestNoWindowHasMoreThanItsShare(t *testing.T) {
	t.Parallel()
	for burst := 1; burst <= 4; burst++ {
		t.Run(fmt.Sprint("burst ", burst), func(t *testing.T) {
			t.Parallel()
			var p inproc.Paces
			var uses []time.Time
			now := start
			for i := range 300 {
				// Floods, trickles and rests follow each other.
				now = now.Add([]time.Duration{0, 0, 0, 300 * time.Millisecond, 0, 4 * time.Second}[i%6])
				if i%50 == 49 {
					p.Hold(now, "k", 3*time.Second)
				}
				wait, _ := p.Reserve(now, -1, inproc.Place{Key: "k", Every: time.Second, Burst: burst})
				uses = append(uses, now.Add(wait))
			}
			for i := range uses {
				if i > 0 && uses[i].Before(uses[i-1]) {
					t.Fatalf("use %d stands before the one that was asked for first", i)
				}
				if j := i + burst; j < len(uses) && uses[j].Sub(uses[i]) < time.Second {
					t.Fatalf("%d uses within %v", burst+1, uses[j].Sub(uses[i]))
				}
			}
		})
	}
}

func TestIdlePacesAreForgotten(t *testing.T) {
	t.Parallel()
	var p inproc.Paces
	for i := range 5000 {
		p.Reserve(start.Add(time.Duration(i)*time.Second), -1, inproc.Place{Key: fmt.Sprint("channel", i), Every: time.Second, Burst: 1})
	}
	if n := p.Len(); n > 64 {
		t.Errorf("%d paces are remembered of which one is in use", n)
	}
	p.Reset()
	if n := p.Len(); n != 0 {
		t.Errorf("%d paces after a reset", n)
	}
}

func TestListenersComeAndGo(t *testing.T) {
	t.Parallel()
	var h inproc.Hints
	var got []string
	hint := store.Hint{Topic: "t"}
	h.Send(hint)
	stopA := h.Listen(func(store.Hint) { got = append(got, "a") })
	var stopB func()
	stopB = h.Listen(func(store.Hint) { got = append(got, "b"); stopB() })
	h.Send(hint)
	h.Send(hint)
	stopA()
	stopA()
	h.Send(hint)
	if d := cmp.Diff([]string{"a", "b", "a"}, got); d != "" {
		t.Error(d)
	}
}

func TestListenersFromManyGoroutines(t *testing.T) {
	t.Parallel()
	var h inproc.Hints
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 100 {
				heard := make(chan struct{}, 1000)
				stop := h.Listen(func(store.Hint) {
					select {
					case heard <- struct{}{}:
					default:
					}
				})
				h.Send(store.Hint{Topic: "t"})
				stop()
				if len(heard) == 0 {
					t.Error("a listener missed its own hint")
				}
			}
		})
	}
	wg.Wait()
}
