package failpoint_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/cmd/internal/failpoint"
	"herald/core/chat"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/tool"
)

// logged gives points and what they have reached so far.
func logged() (*failpoint.Points, *bytes.Buffer) {
	var log bytes.Buffer
	return failpoint.New(failpoint.Options{Log: &log}), &log
}

func reached(t *testing.T, log *bytes.Buffer, want string) {
	t.Helper()
	if d := cmp.Diff(want, log.String()); d != "" {
		t.Errorf("points (-want +got)\n%s", d)
	}
}

func TestStore(t *testing.T) {
	t.Parallel()
	p, log := logged()
	st := failpoint.Store(memory.New(memory.Options{}), p)
	ctx := t.Context()
	ask := store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1}
	if cs, err := st.Claim(ctx, ask); err != nil || len(cs) != 0 {
		t.Fatal(cs, err)
	}
	if _, err := st.Commit(ctx, store.Commit{ID: "a.b/1", Partition: "p", Ops: []store.Op{store.Wake{Agenda: store.Turns, Member: "p"}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := st.Commit(ctx, store.Commit{ID: "a.b/2", Partition: "p", Guards: []store.Guard{store.Fewer{Collection: "c", N: 0}}}); err == nil {
		t.Fatal("a guard that cannot hold held")
	}
	cs, err := st.Claim(ctx, ask)
	if err != nil || len(cs) != 1 {
		t.Fatal(cs, err)
	}
	if lost, err := st.Extend(ctx, time.Minute, cs...); err != nil || lost[0] {
		t.Fatal(lost, err)
	}
	reached(t, log, "before a.b 1\nafter a.b 1\nbefore a.b 2\nafter claim:turns 1\nbefore extend 1\nafter extend 1\n")
}

// platform answers every call with err.
type platform struct {
	failpoint.Connection
	err error
}

func (p platform) Send(context.Context, *chat.Post) (chat.Receipt, error) {
	return chat.Receipt{MessageID: "1"}, p.err
}
func (p platform) Edit(context.Context, *chat.Post, chat.Receipt, bool) error { return p.err }
func (p platform) Find(context.Context, *chat.Post) (chat.Receipt, bool, error) {
	return chat.Receipt{MessageID: "2"}, true, p.err
}

func TestAdapter(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		err  error
		want string
	}{
		{"carried out", nil, "before send 1\nafter send 1\nbefore edit 1\nafter edit 1\nbefore find 1\nafter find 1\n"},
		{"failed", errors.New("no"), "before send 1\nbefore edit 1\nbefore find 1\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, log := logged()
			a := failpoint.Adapter(platform{err: tc.err}, p)
			r, err := a.Send(t.Context(), &chat.Post{})
			if r.MessageID != "1" || !errors.Is(err, tc.err) {
				t.Errorf("send: %v, %v", r, err)
			}
			if err := a.Edit(t.Context(), &chat.Post{}, r, true); !errors.Is(err, tc.err) {
				t.Errorf("edit: %v", err)
			}
			if r, ok, err := a.Find(t.Context(), &chat.Post{}); r.MessageID != "2" || !ok || !errors.Is(err, tc.err) {
				t.Errorf("find: %v, %v, %v", r, ok, err)
			}
			reached(t, log, tc.want)
		})
	}
}

func TestModel(t *testing.T) {
	t.Parallel()
	ask := &model.Request{Messages: []model.Message{{Role: model.User, Text: "go"}}, NewCallID: func() string { return "1" }}
	for _, tc := range []struct {
		name  string
		reply modeltest.Reply
		want  string
		text  string
	}{
		{"answers", modeltest.Reply{Text: "one two", Chunks: 2}, "before model 1\nafter model 1\n", "one two"},
		{"fails", modeltest.Fail(&model.Error{Kind: model.Unavailable}), "before model 1\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			p, log := logged()
			text := ""
			for c, err := range failpoint.Model(modeltest.NewScripted(modeltest.Always(tc.reply)), p).Generate(t.Context(), ask) {
				text += c.Text
				if c.Done != nil && log.String() != tc.want {
					t.Error("the end of the answer was handed on before its point")
				}
				if err != nil && tc.text != "" {
					t.Error(err)
				}
			}
			if text != tc.text {
				t.Errorf("the answer is %q", text)
			}
			reached(t, log, tc.want)
		})
	}
}

func TestTool(t *testing.T) {
	t.Parallel()
	p, log := logged()
	fail := false
	one := failpoint.Tool(tool.Tool{
		Spec: model.ToolSpec{Name: "x", Parameters: json.RawMessage(`{"type":"object"}`)},
		Run: func(context.Context, tool.Call) (tool.Result, error) {
			if fail {
				return tool.Result{}, errors.New("no")
			}
			return tool.Result{Text: "yes"}, nil
		},
	}, p)
	if r, err := one.Run(t.Context(), tool.Call{}); err != nil || r.Text != "yes" {
		t.Error(r, err)
	}
	fail = true
	if _, err := one.Run(t.Context(), tool.Call{}); err == nil {
		t.Error("the tool's error is lost")
	}
	reached(t, log, "before tool:x 1\nafter tool:x 1\nbefore tool:x 2\n")
}
