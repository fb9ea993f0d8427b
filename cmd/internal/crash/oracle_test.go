package main

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/bots/bottest/platform"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/store"
	"herald/core/store/memory"
)

func message(delivery string, piece int, text string) *platform.Message {
	return &platform.Message{ID: delivery + "/" + string(rune('0'+piece)), ByApp: true, Delivery: delivery, Piece: piece, Text: text}
}

// The oracle must see each kind of wrong.
func TestJudgeThread(t *testing.T) {
	t.Parallel()
	live := message("d1", 0, "This answers #a.")
	live.Live = true
	for _, tc := range []struct {
		name     string
		said     []said
		messages []*platform.Message
		want     string // "" is right
	}{
		{"answered", []said{{"t", "a", 1, 1}}, []*platform.Message{message("d1", 0, "#a")}, ""},
		{"in one answer", []said{{"t", "a", 1, 1}, {"t", "b", 1, 1}}, []*platform.Message{message("d1", 0, "#a #b")}, ""},
		{"not answered and need not be", []said{{"t", "a", 0, 1}}, nil, ""},
		{"lost", []said{{"t", "a", 1, 1}}, nil, "covered by 0 answers"},
		{"doubled", []said{{"t", "a", 1, 1}}, []*platform.Message{message("d1", 0, "#a"), message("d2", 0, "#a")}, "covered by 2 answers"},
		{"a piece twice", []said{{"t", "a", 1, 1}}, []*platform.Message{message("d1", 0, "#a"), message("d1", 0, "#a")}, "piece 0 of d1 stands twice"},
		{"reordered", []said{{"t", "a", 1, 1}, {"t", "b", 1, 1}}, []*platform.Message{message("d2", 0, "#b"), message("d1", 0, "#a")}, "answered in the order [#b #a]"},
		{"pieces reordered", []said{{"t", "a", 1, 1}}, []*platform.Message{message("d1", 1, "x"), message("d1", 0, "#a")}, "stands before piece 0"},
		{"a piece is missing", []said{{"t", "a", 1, 1}}, []*platform.Message{message("d1", 0, "#a\nLine 1 of")}, "is not whole"},
		{"still live", []said{{"t", "a", 1, 1}}, []*platform.Message{live}, "is still live"},
		{"not said here", []said{{"t", "a", 1, 1}}, []*platform.Message{message("d1", 0, "#a #x")}, "#x, which was not said here"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			s := &scene{said: tc.said}
			got := strings.Join(s.judgeThread("t", tc.messages), "; ")
			if (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("got %q, want %q", got, tc.want)
			}
		})
	}
}

func TestJudgeEffects(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		all  []effect
		bad  int
	}{
		{"once", []effect{{Tool: "x", Token: "a"}, {Tool: "x", Token: "b"}, {Tool: "y", Token: "a"}}, 0},
		{"repeatable", []effect{{Tool: "x", Token: "a", Repeatable: true}, {Tool: "x", Token: "a", Repeatable: true}}, 0},
		{"twice", []effect{{Tool: "x", Call: "1", Token: "a"}, {Tool: "x", Call: "2", Token: "a"}}, 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := judgeEffects(tc.all); len(got) != tc.bad {
				t.Errorf("got %q, want %d", got, tc.bad)
			}
		})
	}
}

// The count of a load must see each kind of wrong too.
func TestJudgeLoad(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		// answers are the texts that the app posts, each as a delivery of its own.
		answers                  []string
		lost, doubled, reordered int
		unacked                  bool
	}{
		{name: "all well", answers: []string{answers + "#a", answers + "#b"}},
		{name: "lost", answers: []string{answers + "#b"}, lost: 1},
		{name: "doubled", answers: []string{answers + "#a", answers + "#a", answers + "#b"}, doubled: 1},
		{name: "reordered", answers: []string{answers + "#b", answers + "#a"}, reordered: 1},
		{name: "nobody could know", answers: []string{answers + "#b", answers + "#a"}, unacked: true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			s, err := open(ctx, t.TempDir(), byLookBack, "", sendTimeout)
			if err != nil {
				t.Fatal(err)
			}
			defer s.close()
			bot := appOf(t, ctx, s)
			a := s.say("t1", "a", verbPlain)
			if !tc.unacked {
				bot.acked(a.Event)
			}
			b := s.say("t1", "b", verbPlain)
			bot.acked(a.Event)
			bot.acked(b.Event)
			for i, text := range tc.answers {
				bot.post("d"+string(rune('0'+i)), text)
			}
			var r loadReport
			r.judge(s)
			if r.lost != tc.lost || r.doubled != tc.doubled || r.reordered != tc.reordered {
				t.Errorf("%v, want %d lost, %d doubled, %d reordered", &r, tc.lost, tc.doubled, tc.reordered)
			}
		})
	}
}

func TestRead(t *testing.T) {
	t.Parallel()
	say := func(text string) model.Message { return model.Message{Role: model.User, Text: text} }
	call := model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "1", Name: "x"}}}
	result := model.Message{Role: model.Tool, CallID: "1", Text: "done"}
	for _, tc := range []struct {
		name     string
		messages []model.Message
		tokens   string
		results  int
	}{
		{"one", []model.Message{say("#a plain")}, "#a", 0},
		{"after an answer", []model.Message{say("#a plain"), {Role: model.Assistant, Text: "#a"}, say("#b plain")}, "#b", 0},
		{"within a turn", []model.Message{say("#a effect"), call, result, say("#b plain")}, "#a #b", 1},
		{"after a stop", []model.Message{say("#a slow"), say("<note>A person stopped this turn</note>\n\n#b plain")}, "#b", 0},
		{"an answered question", []model.Message{say("#a ask"), call, {Role: model.Tool, CallID: "1", Text: "#b yes"}}, "#a #b", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got := read(&model.Request{Messages: tc.messages})
			if d := cmp.Diff(tc.tokens, strings.Join(got.tokens, " ")); d != "" || got.results != tc.results {
				t.Errorf("%d results, tokens (-want +got)\n%s", got.results, d)
			}
		})
	}
}

// A look must find each thing that a service at rest does not leave.
func TestLook(t *testing.T) {
	t.Parallel()
	const p = store.Partition("conversation/test:1/c/t")
	put := func(collection string) store.Op {
		return store.Put{Key: store.Key{Collection: collection, Name: "x"}, Value: []byte("{}")}
	}
	for _, tc := range []struct {
		name string
		op   store.Op
		want string
	}{
		{"at rest", store.Put{Key: conversation.HeadKey, Value: []byte("{}")}, ""},
		{"a settled delivery", put(conversation.Sent), ""},
		{"a message", put(conversation.Inbox), "inbox/x"},
		{"a delivery", put(conversation.Outgoing), "outbox/x"},
		{"a wait", put(conversation.Waits), "wait/x"},
		{"a suspicion", store.Put{Key: conversation.SuspectKey, Value: []byte("{}")}, "session/suspect"},
		{"a wake", store.Wake{Agenda: store.Outbox, Member: store.MemberOf(p, "")}, "agenda outbox"},
		{"a claim", store.Take{Agenda: store.Turns, Member: store.MemberOf(p, ""), Holder: "h", Lease: time.Hour}, "agenda turns"},
		{"a dead letter", store.Bury{ID: "x", Note: []byte("{}")}, deadLetter},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			st := memory.New(memory.Options{})
			if _, err := st.Commit(t.Context(), store.Commit{ID: "test/1", Partition: p, Ops: []store.Op{tc.op}}); err != nil {
				t.Fatal(err)
			}
			left, err := look(t.Context(), st)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.Join(left, "; "); (got == "") != (tc.want == "") || !strings.Contains(got, tc.want) {
				t.Errorf("left %q, want %q", got, tc.want)
			}
		})
	}
}

func TestTail(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(path, []byte(strings.Repeat("old\n", 100)+"new\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got := tail(path); !strings.HasSuffix(got, "old\nnew") || strings.Count(got, "\n") != 39 {
		t.Errorf("tail gives %q", got)
	}
}
