package console

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"testing"

	"herald/bots/console/proto"
)

func newTestPlace(t *testing.T) *place {
	t.Helper()
	tr, err := openTranscript(filepath.Join(t.TempDir(), "p.jsonl"), 1<<20, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = tr.close() })
	return newPlace("p", tr)
}

func (p *place) addText(t *testing.T, e *entry) {
	t.Helper()
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.add(e); err != nil {
		t.Fatal(err)
	}
}

func (p *place) stateText(id, text string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.state(&proto.Record{Kind: proto.Edit, ID: id, Text: text, Live: true})
}

// TestSlowListener gets the newest state of a live post alone, and never one behind its end.
func TestSlowListener(t *testing.T) {
	t.Parallel()
	p := newTestPlace(t)
	s, _ := p.listen()
	p.addText(t, &entry{Record: proto.Record{Kind: proto.Post, ID: "1", Text: "a", Live: true}, Delivery: "d"})
	p.stateText("1", "ab")
	p.stateText("1", "abc")
	late, _ := p.listen()
	all, ok := p.take(s)
	if !ok || len(all) != 2 || all[0].Text != "a" || all[1].Text != "abc" {
		t.Errorf("got %v, want the post and its newest state", all)
	}
	if all, _ := p.take(late); len(all) != 1 || all[0].Text != "abc" {
		t.Errorf("who came late got %v, want the newest state", all)
	}
	p.stateText("1", "abcd")
	p.addText(t, &entry{Record: proto.Record{Kind: proto.Edit, ID: "1", Text: "abcde"}})
	if all, _ := p.take(s); len(all) != 1 || all[0].Text != "abcde" {
		t.Errorf("at the end came %v, want the final text alone", all)
	}
	p.unlisten(s)
	if fresh, _ := p.listen(); len(fresh.states) != 0 {
		t.Errorf("an ended post is still live: %v", fresh.states)
	}
}

// TestListenerFallsBehind: its stream ends, so that it comes back with its cursor and misses nothing.
func TestListenerFallsBehind(t *testing.T) {
	t.Parallel()
	p := newTestPlace(t)
	s, _ := p.listen()
	for i := range maxWaiting {
		p.addText(t, &entry{Record: proto.Record{Kind: proto.Post, ID: fmt.Sprint(i)}, Delivery: fmt.Sprint(i)})
	}
	if all, ok := p.take(s); !ok || len(all) != maxWaiting {
		t.Fatalf("%d records, %v; want all", len(all), ok)
	}
	for i := range maxWaiting + 1 {
		p.addText(t, &entry{Record: proto.Record{Kind: proto.Post, ID: fmt.Sprint("x", i)}, Delivery: fmt.Sprint("x", i)})
	}
	if all, ok := p.take(s); ok {
		t.Errorf("got %d records with a gap, want the end", len(all))
	}
}
