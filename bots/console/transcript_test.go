package console

import (
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"testing"

	"herald/bots/console/proto"
	"herald/core/chat"
)

// TestAppendThatCannotBeTakenBack: from then on nothing is said to be sent or not sent.
func TestAppendThatCannotBeTakenBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.jsonl")
	tr, err := openTranscript(path, 1<<20, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	if err := tr.append(&entry{Record: proto.Record{Kind: proto.Post, ID: "1"}, Delivery: "d"}); err != nil {
		t.Fatal(err)
	}
	good := tr.file
	if tr.file, err = os.Open(path); err != nil { // neither writing nor cutting works any more
		t.Fatal(err)
	}
	defer tr.file.Close()
	defer good.Close()
	for range 2 {
		err := tr.append(&entry{Record: proto.Record{Kind: proto.Post, ID: "2"}, Delivery: "e"})
		if err == nil || errors.Is(err, errNotWritten) {
			t.Errorf("got %v, want an error that leaves the outcome open", err)
		}
		if o, ok := errors.AsType[*chat.Outage](outage("x", err)); !ok || o.NotSent {
			t.Errorf("got %+v, want an outage whose outcome is unknown", o)
		}
	}
}

// TestFailedAppendIsTakenBack: the disk refuses a line half way; what follows stands right behind the last good line.
func TestFailedAppendIsTakenBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "p.jsonl")
	tr, err := openTranscript(path, 1<<20, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = tr.close() }()
	if err := tr.append(&entry{Record: proto.Record{Kind: proto.Post, ID: "1"}, Delivery: "d"}); err != nil {
		t.Fatal(err)
	}
	n, err := tr.file.WriteString(`{"seq":2,"kind":"po`)
	if err != nil {
		t.Fatal(err)
	}
	full := errors.New("no space left on device")
	if err := tr.takeBack(n, full); !errors.Is(err, errNotWritten) || !errors.Is(err, full) {
		t.Errorf("got %v, want the cause, and that nothing stands", err)
	}
	if err := tr.append(&entry{Record: proto.Record{Kind: proto.Post, ID: "2"}, Delivery: "e"}); err != nil {
		t.Fatal(err)
	}
	again, err := openTranscript(path, 1<<20, slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = again.close() }()
	if len(again.posts) != 2 || again.seq != 2 {
		t.Errorf("after opening again: %d posts, last number %d; want 2 and 2", len(again.posts), again.seq)
	}
}
