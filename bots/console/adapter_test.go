package console_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/console"
	"herald/bots/console/proto"
	"herald/core/chat"

	"github.com/google/go-cmp/cmp"
)

// taker is a receiver that remembers, and fails as long as it is told to.
type taker struct {
	mu   sync.Mutex
	got  []chat.Inbound
	fail int
	with error // what it fails with
}

func (r *taker) Receive(_ context.Context, in *chat.Inbound) (chat.Outcome, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, *in)
	if r.fail > 0 {
		r.fail--
		if r.with == nil {
			r.with = errors.New("the store is away")
		}
		return "", r.with
	}
	return chat.Kept, nil
}

func (r *taker) seen() []chat.Inbound {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]chat.Inbound(nil), r.got...)
}

func open(t *testing.T, opt console.Options) *console.Adapter {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	if opt.Receiver == nil {
		opt.Receiver = &taker{}
	}
	a, err := console.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

// crash gives a folder with what a process that died now would leave.
func crash(t *testing.T, dir string) string {
	t.Helper()
	to := t.TempDir()
	if err := os.CopyFS(to, os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	return to
}

func serve(t *testing.T, a *console.Adapter) string {
	t.Helper()
	s := httptest.NewServer(a.Handler())
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s.URL
}

func request(t *testing.T, method, url string, in, out any) int {
	t.Helper()
	var body io.Reader
	if s, ok := in.(string); ok {
		body = strings.NewReader(s)
	} else if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			t.Fatal(err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(t.Context(), method, url, body)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		t.Fatalf("%s %s: %v", method, url, err)
	}
	return resp.StatusCode
}

// follow reads a stream until the test ends.
func follow(t *testing.T, base string, after uint64, now bool) func() proto.Record {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, base+proto.StreamPath("here", after, now), nil)
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	sc := bufio.NewScanner(resp.Body)
	return func() proto.Record {
		t.Helper()
		if !sc.Scan() {
			t.Fatalf("the stream ended: %v", sc.Err())
		}
		var r proto.Record
		if err := json.Unmarshal(sc.Bytes(), &r); err != nil {
			t.Fatal(err)
		}
		return r
	}
}

func post(delivery, text string) *chat.Post {
	return &chat.Post{Conversation: console.Conversation("here"), DeliveryID: delivery, Text: text}
}

func TestSendIsOnceAcrossACrash(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, console.Options{Dir: dir})
	first, err := a.Send(t.Context(), post("d1", "hello"))
	if err != nil {
		t.Fatal(err)
	}
	again, err := a.Send(t.Context(), post("d1", "hello"))
	if err != nil || again.MessageID != first.MessageID {
		t.Errorf("a repeat gave %+v, %v; want the first receipt %+v", again, err, first)
	}
	second := post("d1", "next piece")
	second.Piece = 1
	if r, err := a.Send(t.Context(), second); err != nil || r.MessageID <= first.MessageID {
		t.Errorf("the second piece got %+v, %v; want an id after %s", r, err, first.MessageID)
	}
	b := open(t, console.Options{Dir: crash(t, dir)}) // the receipt never came home
	r, ok, err := b.Find(t.Context(), post("d1", ""))
	if err != nil || !ok || !cmp.Equal(r, first) {
		t.Errorf("Find after the crash: %+v, %v, %v; want %+v", r, ok, err, first)
	}
	if r, ok, err := b.Find(t.Context(), post("d2", "")); err != nil || ok {
		t.Errorf("Find of what was never sent: %+v, %v, %v", r, ok, err)
	}
	if r, err := b.Send(t.Context(), post("d1", "hello")); err != nil || r.MessageID != first.MessageID {
		t.Errorf("a repeat after the crash gave %+v, %v", r, err)
	}
}

// TestSecretInALine: what stands in the transcript, and so in the history, has no secret of Herald's; the receiver decides by the line as it is.
func TestSecretInALine(t *testing.T) {
	t.Parallel()
	dir, r := t.TempDir(), &taker{}
	a := open(t, console.Options{Dir: dir, Receiver: r, Clean: func(s string) string { return strings.ReplaceAll(s, "sk-canary", "[redacted]") }})
	base := serve(t, a)
	var taken proto.Taken
	if code := request(t, http.MethodPost, base+proto.LinesPath("here"), proto.Say{Key: "k1", Text: "my key is sk-canary, does it work?"}, &taken); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	file, err := os.ReadFile(filepath.Join(dir, "here.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if text := string(file); strings.Contains(text, "sk-canary") || !strings.Contains(text, "my key is [redacted], does it work?") {
		t.Errorf("the transcript has %s", text)
	}
	if got := r.seen(); len(got) != 1 || got[0].Text != "my key is sk-canary, does it work?" {
		t.Errorf("the receiver got %+v", got)
	}
}

// TestTornAppend: bytes that a crash left of an append are no post, and do not spoil the next one.
func TestTornAppend(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, console.Options{Dir: dir})
	for _, d := range []string{"d1", "d2"} {
		if _, err := a.Send(t.Context(), post(d, "text of "+d)); err != nil {
			t.Fatal(err)
		}
	}
	whole, err := os.ReadFile(filepath.Join(dir, "here.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	second := bytes.IndexByte(whole, '\n') + 1
	for cut := second; cut < len(whole); cut += 17 {
		to := crash(t, dir)
		if err := os.WriteFile(filepath.Join(to, "here.jsonl"), whole[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		b := open(t, console.Options{Dir: to})
		_, one, err1 := b.Find(t.Context(), post("d1", ""))
		_, two, err2 := b.Find(t.Context(), post("d2", ""))
		if err1 != nil || err2 != nil || !one || two {
			t.Errorf("cut at %d: found %v %v, errors %v %v; want the first alone", cut, one, two, err1, err2)
		}
		if _, err := b.Send(t.Context(), post("d2", "text of d2")); err != nil {
			t.Errorf("cut at %d: %v", cut, err)
		}
		c := open(t, console.Options{Dir: crash(t, to)})
		if _, ok, err := c.Find(t.Context(), post("d2", "")); err != nil || !ok {
			t.Errorf("cut at %d: the post after it is not found: %v", cut, err)
		}
	}
}

func TestRotationIsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, console.Options{Dir: dir, MaxBytes: 2000})
	var last chat.Receipt
	for i := range 60 {
		r, err := a.Send(t.Context(), post(fmt.Sprint("d", i), strings.Repeat("x", 100)))
		if err != nil {
			t.Fatal(err)
		}
		if r.MessageID <= last.MessageID {
			t.Errorf("id %s does not come after %s", r.MessageID, last.MessageID)
		}
		last = r
	}
	size := int64(0)
	files, err := filepath.Glob(filepath.Join(dir, "here.jsonl*"))
	if err != nil || len(files) != 2 {
		t.Fatalf("files %v, %v; want two", files, err)
	}
	for _, f := range files {
		s, err := os.Stat(f)
		if err != nil {
			t.Fatal(err)
		}
		size += s.Size()
	}
	if size > 2*2300 {
		t.Errorf("the transcript has %d bytes over two files, the bound is about 4000", size)
	}
	again := open(t, console.Options{Dir: crash(t, dir), MaxBytes: 2000})
	for i := range 60 {
		_, one, err1 := a.Find(t.Context(), post(fmt.Sprint("d", i), ""))
		_, two, err2 := again.Find(t.Context(), post(fmt.Sprint("d", i), ""))
		if one != two || err1 != nil || err2 != nil {
			t.Errorf("post %d: found %v by who wrote it, %v after a restart (%v, %v)", i, one, two, err1, err2)
		}
	}
	for _, x := range []*console.Adapter{a, again} {
		if _, ok, err := x.Find(t.Context(), post("d59", "")); !ok || err != nil {
			t.Errorf("the newest post is not found: %v", err)
		}
		if _, ok, err := x.Find(t.Context(), post("d0", "")); ok || err != nil {
			t.Errorf("the oldest post is found, or %v", err)
		}
	}
	next := follow(t, serve(t, a), 0, false)
	seq := uint64(0)
	for r := next(); r.Kind != proto.Ready; r = next() {
		if seq != 0 && r.Seq != seq+1 {
			t.Errorf("record %d follows %d", r.Seq, seq)
		}
		seq = r.Seq
	}
	if seq != 60 {
		t.Errorf("the stream of what stands ends at %d, want 60", seq)
	}
}

func TestLiveMessage(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, console.Options{Dir: dir})
	base := serve(t, a)
	next := follow(t, base, 0, true)
	if r := next(); r.Kind != proto.Ready {
		t.Fatalf("got %+v first", r)
	}
	p := post("d1", "He")
	p.Live, p.ReplyTo = true, "q1"
	r, err := a.Send(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	if got := next(); got.Kind != proto.Post || !got.Live || got.Text != "He" {
		t.Errorf("got %+v", got)
	}
	for _, step := range []struct {
		text  string
		final bool
	}{{"Hello", false}, {"Hello!", true}} {
		p.Text = step.text
		if err := a.Edit(t.Context(), p, r, step.final); err != nil {
			t.Fatal(err)
		}
		got := next()
		if got.Kind != proto.Edit || got.Text != step.text || got.Live == step.final || (got.Seq != 0) != step.final || got.ReplyTo != "q1" {
			t.Errorf("after %+v the stream gives %+v", step, got)
		}
	}
	raw, err := os.ReadFile(filepath.Join(dir, "here.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	if n := bytes.Count(raw, []byte("\n")); n != 2 {
		t.Errorf("the transcript has %d lines, want the post and its final text", n)
	}
	var all []proto.Record
	if request(t, http.MethodGet, base+proto.HistoryPath("here", 10), nil, &all); len(all) != 1 || all[0].Text != "Hello!" || all[0].Live {
		t.Errorf("history %+v, want the final text", all)
	}
	gone, ok := errors.AsType[*chat.Refused](a.Edit(t.Context(), p, chat.Receipt{MessageID: "1"}, true))
	if !ok || !gone.Gone {
		t.Errorf("an edit of what does not stand: %v, want gone", gone)
	}
}

// What no repeat can mend is the client's mistake.
func TestClickThatWillNeverDo(t *testing.T) {
	t.Parallel()
	for name, err := range map[string]error{"malformed": fmt.Errorf("its action is too long: %w", chat.ErrMalformed), "invalid": &chat.Invalid{Text: "Write an answer."}} {
		base := serve(t, open(t, console.Options{Receiver: &taker{fail: 1, with: err}}))
		var no proto.Trouble
		if code := request(t, http.MethodPost, base+proto.ClicksPath("here"), proto.Click{Key: "k1", Action: "wait:w1:approve"}, &no); code != http.StatusBadRequest || no.Retry || no.Error == "" {
			t.Errorf("%s: answered %d %+v, want a refusal for good", name, code, no)
		}
	}
}

func TestLineIsDurableAndKeepsItsID(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	r := &taker{fail: 1}
	a := open(t, console.Options{Dir: dir, Receiver: r, User: "ann b"})
	base := serve(t, a)
	say := proto.Say{Key: "k1", Text: "hello"}
	var no proto.Trouble
	if code := request(t, http.MethodPost, base+proto.LinesPath("here"), say, &no); code != http.StatusServiceUnavailable || !no.Retry {
		t.Fatalf("the failed receive was answered %d %+v, want a demand to repeat", code, no)
	}
	var all []proto.Record
	if request(t, http.MethodGet, base+proto.HistoryPath("here", 10), nil, &all); len(all) != 0 {
		t.Errorf("a line that was not taken stands in the history: %+v", all)
	}
	// The process dies, the client repeats with its key: the same message.
	r2 := &taker{}
	b := open(t, console.Options{Dir: crash(t, dir), Receiver: r2, User: "ann b"})
	base = serve(t, b)
	var yes proto.Taken
	if code := request(t, http.MethodPost, base+proto.LinesPath("here"), say, &yes); code != http.StatusOK {
		t.Fatalf("status %d", code)
	}
	var next proto.Taken
	request(t, http.MethodPost, base+proto.LinesPath("here"), proto.Say{Key: "k2", Text: "more"}, &next)
	if yes.ID != r.seen()[0].MessageID || next.ID <= yes.ID {
		t.Errorf("ids: first try %s, its repeat %s, the next line %s", r.seen()[0].MessageID, yes.ID, next.ID)
	}
	if request(t, http.MethodGet, base+proto.HistoryPath("here", 10), nil, &all); len(all) != 2 {
		t.Errorf("history %+v, want both lines", all)
	}
	in := r2.seen()[0]
	want := chat.Inbound{
		Kind: chat.Message, App: console.App, Conversation: console.Conversation("here"), MessageID: yes.ID, Order: yes.ID, SentAt: in.SentAt,
		Sender: chat.Sender{Identity: "console:local/ann%20b", Name: "ann b"}, Text: "hello", Direct: true, Addressed: true,
	}
	if diff := cmp.Diff(want, in); diff != "" {
		t.Errorf("inbound (-want +got):\n%s", diff)
	}
}

func TestClick(t *testing.T) {
	t.Parallel()
	r := &taker{}
	a := open(t, console.Options{Receiver: r})
	base := serve(t, a)
	c := post("d1", "May I?")
	c.Card = &chat.Card{Title: "May I?", Fields: []chat.Field{{Name: "tool", Value: "rm"}}, Buttons: []chat.Button{{Action: "a1", Label: "Yes", Danger: true}}}
	if _, err := a.Send(t.Context(), c); err != nil {
		t.Fatal(err)
	}
	next := follow(t, base, 0, false)
	want := &proto.Card{Title: "May I?", Fields: []proto.Field{{Name: "tool", Value: "rm"}}, Choices: []proto.Button{{Action: "a1", Label: "Yes", Danger: true}}}
	if diff := cmp.Diff(want, next().Card); diff != "" {
		t.Errorf("card (-want +got):\n%s", diff)
	}
	var one, two proto.Taken
	request(t, http.MethodPost, base+proto.ClicksPath("here"), proto.Click{Key: "k", Action: "a1"}, &one)
	request(t, http.MethodPost, base+proto.ClicksPath("here"), proto.Click{Key: "k", Action: "a1"}, &two)
	got := r.seen()
	if len(got) != 2 || got[0].Kind != chat.Click || got[0].Action != "a1" || got[0].DedupeKey() != got[1].DedupeKey() || one.ID != two.ID {
		t.Errorf("a click and its repeat came as %+v", got)
	}
}

func TestBadRequests(t *testing.T) {
	t.Parallel()
	r := &taker{}
	base := serve(t, open(t, console.Options{Receiver: r}))
	lines := base + proto.LinesPath("here")
	for name, c := range map[string]struct {
		method, url string
		body        any
		status      int
	}{
		"no JSON":         {http.MethodPost, lines, "hello", 400},
		"truncated":       {http.MethodPost, lines, `{"key":"k","te`, 400},
		"no key":          {http.MethodPost, lines, proto.Say{Text: "x"}, 400},
		"long key":        {http.MethodPost, lines, proto.Say{Key: strings.Repeat("k", 129), Text: "x"}, 400},
		"empty":           {http.MethodPost, lines, proto.Say{Key: "k", Text: " \n\t"}, 400},
		"too long":        {http.MethodPost, lines, proto.Say{Key: "k", Text: strings.Repeat("x", proto.MaxText+1)}, 413},
		"huge":            {http.MethodPost, lines, `{"key":"` + strings.Repeat("k", 8<<20) + `"}`, 413},
		"long place":      {http.MethodPost, base + proto.LinesPath(strings.Repeat("p", 65)), proto.Say{Key: "k", Text: "x"}, 400},
		"place with path": {http.MethodPost, base + proto.LinesPath("../../etc"), proto.Say{Key: "k", Text: "x"}, 400},
		"place with line": {http.MethodPost, base + proto.LinesPath("a\nb"), proto.Say{Key: "k", Text: "x"}, 400},
		"no action":       {http.MethodPost, base + proto.ClicksPath("here"), proto.Click{Key: "k"}, 400},
		"bad cursor":      {http.MethodGet, base + proto.Prefix + "here/stream?after=-1", nil, 400},
		"bad limit":       {http.MethodGet, base + proto.HistoryPath("here", 0), nil, 400},
		"no facts":        {http.MethodGet, base + proto.FactsPath("here", "1"), nil, 404},
	} {
		t.Run(name, func(t *testing.T) {
			var no proto.Trouble
			if got := request(t, c.method, c.url, c.body, &no); got != c.status || no.Error == "" || no.Retry {
				t.Errorf("status %d, %+v; want %d and a reason", got, no, c.status)
			}
		})
	}
	if got := r.seen(); len(got) != 0 {
		t.Errorf("bad requests reached the receiver: %+v", got)
	}
}

func TestFacts(t *testing.T) {
	t.Parallel()
	cost := 0.25
	base := serve(t, open(t, console.Options{Facts: func(_ context.Context, c chat.Conversation, id string) (proto.Facts, error) {
		if id != "m1" || c != console.Conversation("here") {
			return proto.Facts{}, errors.New("no such message")
		}
		return proto.Facts{Session: "s1", InputTokens: 10, OutputTokens: 20, Cost: &cost, Failure: "stopped"}, nil
	}}))
	var f proto.Facts
	request(t, http.MethodGet, base+proto.FactsPath("here", "m1"), nil, &f)
	if diff := cmp.Diff(proto.Facts{Session: "s1", InputTokens: 10, OutputTokens: 20, Cost: &cost, Failure: "stopped"}, f); diff != "" {
		t.Errorf("facts (-want +got):\n%s", diff)
	}
	var no proto.Trouble
	if code := request(t, http.MethodGet, base+proto.FactsPath("here", "m2"), nil, &no); code != 404 || !strings.Contains(no.Error, "no such message") {
		t.Errorf("%d %+v", code, no)
	}
}

func TestRefusals(t *testing.T) {
	t.Parallel()
	a := open(t, console.Options{})
	elsewhere, thread, other, nameless, place := post("d", "x"), post("d", "x"), post("d", "x"), post("", "x"), post("d", "x")
	elsewhere.Conversation.Workspace = "test:lab"
	thread.Conversation.Thread = "t"
	other.Only = "console:local/somebody"
	place.Conversation.Channel = ""
	for name, p := range map[string]*chat.Post{"workspace": elsewhere, "thread": thread, "another reader": other, "no delivery": nameless, "no place": place} {
		if _, err := a.Send(t.Context(), p); !isRefused(err) {
			t.Errorf("%s: %v, want a refusal", name, err)
		}
	}
	mine := post("d", "x")
	mine.Only = a.Identity()
	if _, err := a.Send(t.Context(), mine); err != nil {
		t.Error(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := a.Send(ended, post("d9", "x"))
	if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.NotSent || !errors.Is(err, context.Canceled) {
		t.Errorf("with an ended context: %v", err)
	}
}

func isRefused(err error) bool { _, ok := errors.AsType[*chat.Refused](err); return ok }

func TestOneProcessHoldsTheFolder(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	a := open(t, console.Options{Dir: dir})
	if _, err := console.New(console.Options{Dir: dir, Receiver: &taker{}}); !errors.Is(err, console.ErrInUse) {
		t.Errorf("a second one: %v, want ErrInUse", err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	b, err := console.New(console.Options{Dir: dir, Receiver: &taker{}})
	if err != nil {
		t.Fatalf("after the first was closed: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = a.Send(t.Context(), post("d", "x"))
	if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.NotSent {
		t.Errorf("send on a closed console: %v, want an outage", err)
	}
}

// TestClockGoesBack: ids keep growing, over a restart too.
func TestClockGoesBack(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	a := open(t, console.Options{Dir: dir, Now: func() time.Time { return now }})
	one, err := a.Send(t.Context(), post("d1", "x"))
	if err != nil {
		t.Fatal(err)
	}
	b := open(t, console.Options{Dir: crash(t, dir), Now: func() time.Time { return now.Add(-time.Hour) }})
	two, err := b.Send(t.Context(), post("d2", "x"))
	if err != nil || two.MessageID <= one.MessageID || len(two.MessageID) != len(one.MessageID) {
		t.Errorf("ids %s, then %s (%v)", one.MessageID, two.MessageID, err)
	}
}

func TestTwoClientsAndACursor(t *testing.T) {
	t.Parallel()
	a := open(t, console.Options{})
	base := serve(t, a)
	one, two := follow(t, base, 0, true), follow(t, base, 0, true)
	one()
	two()
	for i := range 5 {
		if _, err := a.Send(t.Context(), post(fmt.Sprint("d", i), fmt.Sprint("text ", i))); err != nil {
			t.Fatal(err)
		}
	}
	var cursor uint64
	for i := range 5 {
		x, y := one(), two()
		if x.Text != fmt.Sprint("text ", i) || !cmp.Equal(x, y) {
			t.Errorf("record %d: %+v and %+v", i, x, y)
		}
		if i == 2 {
			cursor = x.Seq
		}
	}
	later := follow(t, base, cursor, false)
	for _, want := range []string{"text 3", "text 4", ""} {
		if got := later(); got.Text != want {
			t.Errorf("after the cursor: %+v, want %q", got, want)
		}
	}
}
