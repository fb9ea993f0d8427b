package hostile_test

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"herald/bots/bottest/platform"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// What is wrong with a message is said to its writer in a sentence that says what to do, once, and the conversation goes on.
func TestBadMessages(t *testing.T) {
	t.Parallel()
	long := modeltest.Reply{Wire: modeltest.Wire{Status: 400, Body: `{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`}}
	r := begin(t, setup{rules: []modeltest.Rule{modeltest.When("too long for you", long)}})
	for _, tc := range []struct {
		name string
		say  platform.Say
		want []string
		// command: it comes as a slash command.
		command bool
		asks    int
	}{
		{"empty", platform.Say{Text: " \n"}, []string{"nothing in your message", "Write what you need"}, false, 0},
		{"zero width", platform.Say{Text: "\u200b"}, []string{"You said"}, false, 1},
		{"too much text", platform.Say{Text: strings.Repeat("word ", 100_000)}, []string{"500 kB", "in parts"}, false, 0},
		{"an unknown command", platform.Say{Text: "frobnicate"}, []string{"frobnicate", "help"}, true, 0},
		{"a command that is nearly one", platform.Say{Text: "statsu"}, []string{"status"}, true, 0},
		{"a command with too much", platform.Say{Text: "why a b c d e"}, []string{"why"}, true, 0},
		{"a reference to nothing", platform.Say{Text: "why NOTHING1"}, []string{"NOTHING1"}, true, 0},
		{"too long a context", platform.Say{Text: "this is too long for you"}, []string{"too long for the model", "`new`", "Reference"}, false, 1},
	} {
		before := r.model.Calls()
		tc.say.Channel, tc.say.Thread, tc.say.Mention = "c", tc.name, true
		post := r.chat.Post
		if tc.command {
			post = r.chat.Command
		}
		told := post(tc.say)
		got := ""
		r.wait("word about "+tc.name, func(v platform.View) bool {
			for _, m := range v.Messages("c", tc.name) {
				if m.ByApp && !m.Live {
					got = m.Text
				}
			}
			return got != "" && v.Acked(told.Event)
		})
		for _, w := range tc.want {
			if !strings.Contains(got, w) {
				t.Errorf("%s: the person reads %.300q, without %q", tc.name, got, w)
			}
		}
		if n := r.model.Calls() - before; n != tc.asks {
			t.Errorf("%s: the model was asked %d times, want %d", tc.name, n, tc.asks)
		}
		r.usable(tc.name)
		r.chat.Look(func(v platform.View) {
			n := 0
			for _, m := range v.Messages("c", tc.name) {
				if m.ByApp {
					n++
				}
			}
			if n != 2 {
				t.Errorf("%s: %d messages stand, want the word and the answer to the next one", tc.name, n)
			}
		})
	}
	r.up()
}

// A context that grew too long is summarised, and the conversation goes on; what no summary makes shorter ends with a sentence, and the
// session begins anew when the person says so.
func TestContextThatGrows(t *testing.T) {
	t.Parallel()
	summaries := atomic.Int64{}
	r := begin(t, setup{rules: []modeltest.Rule{func(q *model.Request) (modeltest.Reply, bool) {
		size := 0
		for _, m := range q.Messages {
			size += len(m.Text)
		}
		switch {
		case len(q.Tools) == 0: // only a summary is asked for without them
			summaries.Add(1)
			return modeltest.Say("They said many words."), true
		case size < 40_000:
			return modeltest.Say("fine"), true
		}
		return modeltest.Reply{Wire: modeltest.Wire{Status: 413, Body: "Request Entity Too Large"}}, true
	}}})
	for i := range 20 {
		if got := r.answer(r.say("t", fmt.Sprint(i, strings.Repeat(" word", 800))), "a long message"); got != "fine" {
			t.Fatalf("message %d: the person reads %q", i, got)
		}
	}
	if summaries.Load() == 0 {
		t.Error("nothing was summarised")
	}
	if got := r.answer(r.say("t", strings.Repeat("word ", 10_000)), "a message that is too long alone"); !strings.Contains(got, "too long for the model") || !strings.Contains(got, "`new`") {
		t.Errorf("the person reads %q", got)
	}
	if got := r.answer(r.say("t", "new"), "new"); !strings.Contains(got, "new conversation") {
		t.Errorf("new: %q", got)
	}
	r.usable("t")
	r.up()
}

// Where nothing can be written, every command says which path it is and what to do, and leaves no half of anything.
func TestFoldersWithoutRights(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		env   func(h *home) string
		want  string
		codes []int
	}{
		{"the data folder is a file", func(h *home) string { h.write("taken", "x"); return "HERALD_DATA_DIR=" + h.dir + "/taken" }, "taken", []int{1, 4}},
		{"the data folder cannot be made", func(*home) string { return "HERALD_DATA_DIR=/proc/none/herald" }, "/proc/none", []int{1, 4}},
		{"the store is a folder", func(h *home) string {
			_ = os.MkdirAll(filepath.Join(h.dir, "folder.db"), 0o700)
			return "HERALD_STORE__URL=sqlite:" + filepath.Join(h.dir, "folder.db")
		}, "folder.db", []int{4}},
		{"the store is another file", func(h *home) string {
			h.write("letter.db", strings.Repeat("Dear diary, ", 1000))
			return "HERALD_STORE__URL=sqlite:" + filepath.Join(h.dir, "letter.db")
		}, "letter.db", []int{4}},
		{"the store was torn", func(h *home) string {
			h.do("", "store", "create")
			path := filepath.Join(h.dir, "data", "herald.db")
			data, err := os.ReadFile(path)
			if err != nil {
				h.t.Fatal(err)
			}
			h.write("data/herald.db", string(data[:5000])+strings.Repeat("\xff", 3000))
			return "X=x"
		}, "herald.db", []int{4}},
		{"the socket is too long", func(h *home) string { return "HERALD_SOCKET=" + filepath.Join(h.dir, strings.Repeat("s", 120)) }, "socket", []int{1, 3}},
		{"the address is taken", func(h *home) string {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				h.t.Fatal(err)
			}
			h.t.Cleanup(func() { _ = l.Close() })
			return "HERALD_HTTP__LISTEN=" + l.Addr().String()
		}, "http.listen", []int{1}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			h := newHome(t, "HERALD_PROVIDERS__P__BASE_URL=http://127.0.0.1:1/v1", "HERALD_PROVIDERS__P__DEFAULT_MODEL=m")
			h.env = append(h.env, tc.env(h))
			r := h.do("", "run")
			ok := false
			for _, code := range tc.codes {
				ok = ok || r.code == code
			}
			if !ok || !strings.Contains(r.err, tc.want) || strings.Contains(r.err, "goroutine") || strings.Contains(r.err, "msg=ready") {
				t.Errorf("herald run: code %d, want one of %d and %q: %s", r.code, tc.codes, tc.want, r.err)
			}
			if data, err := os.ReadFile(filepath.Join(h.dir, "letter.db")); err == nil && !strings.HasPrefix(string(data), "Dear diary") {
				t.Error("a file that is no store was written over")
			}
		})
	}
}

// Without a model the person is told that an admin must act, by the terminal and by a platform; the operator is told how.
func TestNoModelIsTold(t *testing.T) {
	t.Parallel()
	plat := startPlatform(t, platform.Options{})
	h := newHome(t)
	svc := h.start("demo-service", plat.URL())
	told := plat.Post(platform.Say{Channel: "c", Thread: "t", Text: "hello", Mention: true})
	var texts []string
	waitFor(t, plat, svc, "word", func(v platform.View) bool { texts = settled(v, told); return len(texts) > 0 })
	if all := strings.Join(texts, ""); !strings.Contains(all, "admin must") || len(texts) != 1 {
		t.Errorf("the person reads %q", texts)
	}
	if body := fetch(t, svc, "/readyz"); !strings.Contains(body, "models: not ready") {
		t.Errorf("readyz: %s", body)
	}
	if log := svc.log.String(); !strings.Contains(log, "no model is configured") {
		t.Errorf("the operator is not told: %s", log)
	}
	svc.stop()
	if d := h.do("", "doctor"); d.code != 5 || !strings.Contains(d.out, "default_model") && !strings.Contains(d.out, "[models]") {
		t.Errorf("doctor: code %d: %s", d.code, d.out)
	}
}
