package turn_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/session"
	"herald/core/store"
	"herald/core/turn"
)

// desk reads files by their names.
type desk struct {
	mu    sync.Mutex
	read  []string
	block chan struct{} // when set, a file named "slow" ends with its context alone
}

func (d *desk) Read(ctx context.Context, _ chat.Conversation, f chat.File) (session.File, *model.Image) {
	d.mu.Lock()
	d.read = append(d.read, f.Name)
	d.mu.Unlock()
	out := session.File{Name: f.Name, MIME: f.MIME}
	switch f.Name {
	case "a.png":
		return out, &model.Image{MIME: "image/png", Data: []byte("PNG")}
	case "big.txt":
		out.Text = strings.Repeat("x", 2<<20)
	case "slow":
		d.block <- struct{}{}
		<-ctx.Done()
		out.Problem = "it was broken off"
	default:
		out.Text = "text of " + f.Name
	}
	return out, nil
}

func (r *rig) attach(id, who, text string, files ...chat.File) {
	r.t.Helper()
	m := conversation.Message{V: 1, MessageID: id, Order: id, Person: who, Text: text, Files: files}
	r.commit(store.Put{Key: m.Key(), Value: conversation.Encode(m)}, store.ScoreNow{Index: conversation.Dedupe, Member: "key/" + id})
}

// shown is what the model sees of the conversation, from the log.
func (r *rig) shown() []model.Message {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.Range{Partition: r.part, Log: conversation.Log, From: 1})
	if err != nil {
		r.t.Fatal(err)
	}
	var es []session.Event
	for _, en := range as[0].Entries {
		e, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
		if err != nil {
			r.t.Fatal(err)
		}
		es = append(es, e)
	}
	return session.NewHistory(es).Visible("root")
}

func TestFilesGoIntoTheTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t, modeltest.Always(modeltest.Say("ok")))
	d := &desk{}
	r.opts.Files = d
	r.attach("m1", "ada", "read", chat.File{Name: "a.csv", MIME: "text/csv"}, chat.File{Name: "a.png", MIME: "image/png"})
	r.work()
	r.foldAgrees()
	first := r.shown()[0]
	for _, want := range []string{"read\n\n<file name=\"a.csv\"", "text of a.csv", `picture "a.png"`} {
		if !strings.Contains(first.Text, want) {
			t.Errorf("the model sees no %q in %q", want, first.Text)
		}
	}
	r.say("m2", "ada", "and now?")
	r.work()
	if len(d.read) != 2 {
		t.Errorf("the files were read more than once: %q", d.read)
	}
	// Without anybody who reads them they are named.
	r.opts.Files = nil
	r.attach("m3", "ada", "and this?", chat.File{Name: "b.csv"})
	r.work()
	if all := r.shown(); !strings.Contains(all[len(all)-3].Text, `"b.csv" (unknown) was not read: files cannot be read here`) {
		t.Errorf("the model sees %+v", all)
	}
}

// What does not fit an entry of the store is named, and the rest is taken.
func TestManyFiles(t *testing.T) {
	t.Parallel()
	r := newRig(t, modeltest.Always(modeltest.Say("ok")))
	r.opts.Files = &desk{}
	r.attach("m1", "ada", "read", chat.File{Name: "big.txt"}, chat.File{Name: "big.txt"}, chat.File{Name: "c.txt"})
	r.work()
	text := r.shown()[0].Text
	if strings.Count(text, "<file ") != 2 || !strings.Contains(text, "text of c.txt") || !strings.Contains(text, "more than is read at once") {
		t.Errorf("the model sees %d files and ends with %q", strings.Count(text, "<file "), text[len(text)-200:])
	}
}

// A file that comes with the answer to a question goes with it.
func TestFilesOfAReply(t *testing.T) {
	t.Parallel()
	r := newRig(t, modeltest.AfterTool("ask", modeltest.Say("fine")), modeltest.When("begin", modeltest.Use("ask", `{}`)))
	r.opts.Files = &desk{}
	r.say("m1", "ada", "begin")
	r.work()
	r.attach("m2", "ada", "this one", chat.File{Name: "a.csv"}, chat.File{Name: "a.png", MIME: "image/png"})
	r.work()
	var result string
	for _, m := range r.shown() {
		if m.Role == model.Tool {
			result = m.Text
		}
	}
	if !strings.Contains(result, "this one") || !strings.Contains(result, "text of a.csv") || !strings.Contains(result, "picture is not shown") {
		t.Errorf("the answer is %q", result)
	}
}

// A stop ends the reading of a file.
func TestStopEndsReading(t *testing.T) {
	t.Parallel()
	r := newRig(t, modeltest.Always(modeltest.Say("ok")))
	d := &desk{block: make(chan struct{})}
	r.opts.Files = d
	r.attach("m1", "ada", "read", chat.File{Name: "slow"})
	c, ok := r.claim()
	if !ok {
		t.Fatal("nothing is due")
	}
	poke := make(chan struct{}, 1)
	done := make(chan error, 1)
	go func() { done <- r.engine().Handle(t.Context(), c, poke) }()
	<-d.block
	r.control(conversation.Stop, "m2", "ada")
	poke <- struct{}{}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	r.work()
	if got := r.said(); len(got) != 1 || !strings.Contains(got[0], "topped") {
		t.Errorf("it says %q", got)
	}
	if n := r.model.Calls(); n != 0 {
		t.Errorf("the model was called %d times after the stop", n)
	}
}

var _ turn.Files = (*desk)(nil)
