package console_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"herald/bots/bottest"
	"herald/bots/console"
	"herald/bots/console/proto"
	"herald/core/chat"
)

// desk is the console as the suite's fixture: its platform is the transcript, its people are HTTP clients.
type desk struct {
	t       *testing.T
	adapter *console.Adapter
	server  *httptest.Server

	mu     sync.Mutex
	lines  map[string]*line
	last   map[int]chan struct{} // by place: closed when the line before was answered
	people sync.WaitGroup
}

// line is what a person typed, and what became of its last attempt.
type line struct {
	place int
	say   proto.Say
	done  chan struct{}
	err   error
}

func newDesk(t *testing.T, r chat.Receiver) *desk {
	t.Helper()
	a := open(t, console.Options{Receiver: r})
	d := &desk{t: t, adapter: a, server: httptest.NewServer(a.Handler()), lines: map[string]*line{}, last: map[int]chan struct{}{}}
	t.Cleanup(func() {
		if err := d.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return d
}

func (d *desk) Adapter() chat.Adapter { return d.adapter }

func (d *desk) Place(i int) chat.Conversation { return console.Conversation(fmt.Sprint("p", i)) }

func (d *desk) Say(place int, text string) string {
	l := &line{place: place, say: proto.Say{Key: fmt.Sprint("k", d.count()), Text: text}}
	d.mu.Lock()
	d.lines[l.say.Key] = l
	d.mu.Unlock()
	d.attempt(l)
	return l.say.Key
}

func (d *desk) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.lines)
}

// attempt sends a line when the one before in its place has its answer, as one person does.
func (d *desk) attempt(l *line) {
	d.mu.Lock()
	defer d.mu.Unlock()
	done := make(chan struct{})
	before := d.last[l.place]
	l.done, d.last[l.place] = done, done
	d.people.Go(func() {
		defer close(done)
		if before != nil {
			<-before
		}
		err := d.send(l)
		d.mu.Lock()
		l.err = err
		d.mu.Unlock()
	})
}

func (d *desk) send(l *line) error {
	body, err := json.Marshal(l.say)
	if err != nil {
		return err
	}
	resp, err := http.Post(d.server.URL+proto.LinesPath(fmt.Sprint("p", l.place)), "application/json", bytes.NewReader(body))
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return errors.New(resp.Status)
	}
	return nil
}

func (d *desk) Await(ctx context.Context, name string) error {
	d.mu.Lock()
	l := d.lines[name]
	done := l.done
	d.mu.Unlock()
	select {
	case <-done:
		d.mu.Lock()
		defer d.mu.Unlock()
		return l.err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (d *desk) Acked(name string) bool {
	d.mu.Lock()
	l := d.lines[name]
	d.mu.Unlock()
	select {
	case <-l.done:
		d.mu.Lock()
		defer d.mu.Unlock()
		return l.err == nil
	default:
		return false
	}
}

func (d *desk) Again(name string) {
	d.mu.Lock()
	l := d.lines[name]
	d.mu.Unlock()
	d.attempt(l)
}

func (d *desk) Standing(place int) (out []bottest.Standing) {
	var all []proto.Record
	if code := request(d.t, http.MethodGet, d.server.URL+proto.HistoryPath(fmt.Sprint("p", place), 1000), nil, &all); code != http.StatusOK {
		d.t.Errorf("history: status %d", code)
	}
	for _, r := range all {
		if r.Kind == proto.Post {
			out = append(out, bottest.Standing{ID: r.ID, Text: r.Text, Live: r.Live})
		}
	}
	return out
}

func (d *desk) Inject(f bottest.Fault) { d.t.Errorf("the console knows no fault %q", f) }

func (d *desk) Break() { d.server.CloseClientConnections() }

func (d *desk) Stop(context.Context) error {
	d.server.CloseClientConnections()
	d.server.Close()
	d.people.Wait()
	return nil
}

func TestConformance(t *testing.T) {
	t.Parallel()
	bottest.Run(t, bottest.Harness{
		Traits: bottest.Traits{Platform: "console"},
		New:    func(t *testing.T, r chat.Receiver) bottest.Fixture { return newDesk(t, r) },
	})
}
