package modeltest_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/model"
	"herald/core/model/modeltest"
)

func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("c%d", n) }
}

func ask(messages ...model.Message) *model.Request {
	return &model.Request{Messages: messages, NewCallID: ids()}
}

func user(text string) model.Message { return model.Message{Role: model.User, Text: text} }

func calling(ids ...string) model.Message {
	m := model.Message{Role: model.Assistant}
	for _, id := range ids {
		m.Calls = append(m.Calls, model.Call{ID: id, Name: "look", Arguments: json.RawMessage(`{}`)})
	}
	return m
}

func result(id string) model.Message {
	return model.Message{Role: model.Tool, CallID: id, Text: "seen"}
}

func run(ctx context.Context, m model.Model, r *model.Request) (shown []string, a *model.Answer, err error) {
	for c, e := range m.Generate(ctx, r) {
		if e != nil {
			return shown, nil, e
		}
		if c.Done != nil {
			a = c.Done
			continue
		}
		shown = append(shown, c.Text)
	}
	return shown, a, nil
}

func TestScriptedFollowsItsRules(t *testing.T) {
	t.Parallel()
	s := modeltest.NewScripted(
		modeltest.AfterTool("look", modeltest.Say("I saw: {result}")),
		modeltest.When("time", modeltest.Use("look", `{"at":1}`)),
		modeltest.Whenever("story", modeltest.Reply{Text: "äöü…", Chunks: 2}),
	)
	tests := []struct {
		name  string
		r     *model.Request
		shown []string
		calls []model.Call
	}{
		{"an echo without a match", ask(user("hi")), []string{"You said: hi"}, nil},
		{"words", ask(user("what time is it")), nil, []model.Call{{ID: "c1", Name: "look", Arguments: json.RawMessage(`{"at":1}`)}}},
		{"a result", ask(user("what time is it"), calling("x"), result("x")), []string{"I saw: seen"}, nil},
		{"whole runes in pieces", ask(user("a story")), []string{"äö", "ü…"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			shown, a, err := run(t.Context(), s, tt.r)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.shown, shown); diff != "" {
				t.Errorf("shown (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.calls, a.Calls); diff != "" {
				t.Errorf("calls (-want +got):\n%s", diff)
			}
			if (a.Finish == model.FinishCalls) != (tt.calls != nil) || a.Usage.Input == 0 || a.Usage.Output == 0 {
				t.Errorf("answer %+v", a)
			}
		})
	}
}

func TestScriptedFails(t *testing.T) {
	t.Parallel()
	boom := errors.New("boom")
	t.Run("after the pieces it is told to", func(t *testing.T) {
		t.Parallel()
		shown, _, err := run(t.Context(), modeltest.NewScripted(modeltest.Always(modeltest.Reply{Text: "abcd", Chunks: 4, Err: boom, BreakAfter: 2})), ask(user("x")))
		if !errors.Is(err, boom) || len(shown) != 2 {
			t.Errorf("shown %q, error %v", shown, err)
		}
	})
	t.Run("on a history that a strict provider refuses", func(t *testing.T) {
		t.Parallel()
		s := modeltest.NewScripted()
		_, _, err := run(t.Context(), s, ask(user("x"), calling("a")))
		e, ok := errors.AsType[*model.Error](err)
		if !ok || e.Kind != model.BadRequest || s.Violations() != 1 {
			t.Errorf("error %v, %d violations", err, s.Violations())
		}
		s.Lenient = true
		if _, _, err := run(t.Context(), s, ask(user("x"), calling("a"))); err != nil || s.Violations() != 2 {
			t.Errorf("error %v, %d violations", err, s.Violations())
		}
	})
	t.Run("when its context ends during a delay", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		s := modeltest.NewScripted(modeltest.Always(modeltest.Reply{Text: "ab", Chunks: 2, Delay: time.Hour}))
		var waited []time.Duration
		s.Sleep = func(ctx context.Context, d time.Duration) error {
			waited = append(waited, d)
			cancel()
			return ctx.Err()
		}
		shown, _, err := run(ctx, s, ask(user("x")))
		if !errors.Is(err, context.Canceled) || len(shown) != 1 || len(waited) != 1 || waited[0] != time.Hour {
			t.Errorf("shown %q, waited %v, error %v", shown, waited, err)
		}
	})
}

func TestValidate(t *testing.T) {
	t.Parallel()
	tools := func(list ...model.ToolSpec) *model.Request {
		r := ask(user("x"))
		r.Tools = list
		return r
	}
	bad := calling("a")
	bad.Calls[0].Arguments = json.RawMessage(`[1]`)
	nameless := calling("a")
	nameless.Calls[0].Name = ""
	tests := []struct {
		name string
		r    *model.Request
		want string // "" is valid
	}{
		{"a question", ask(user("x")), ""},
		{"calls and results", ask(user("x"), calling("a", "b"), result("b"), result("a"), user("y")), ""},
		{"an empty result, filled by drivers", ask(user("x"), calling("a"), model.Message{Role: model.Tool, CallID: "a"}), ""},
		{"nothing", ask(), "there is no message"},
		{"no result", ask(user("x"), calling("a")), "call a has no result"},
		{"a result missing among two", ask(user("x"), calling("a", "b"), result("a"), user("y")), "message 3: call b has no result"},
		{"an orphan result", ask(user("x"), result("a")), `message 1: a result names call "a"`},
		{"a result first", ask(result("a"), user("x")), `message 0: a result names call "a"`},
		{"a result twice", ask(user("x"), calling("a"), result("a"), result("a")), "message 3: the result of call a stands twice"},
		{"a result away from its call", ask(user("x"), calling("a"), user("y"), result("a")), "message 2: call a has no result"},
		{"an id twice", ask(user("x"), calling("a"), result("a"), calling("a"), result("a")), "message 3: call id a is used twice"},
		{"an id twice in one answer", ask(user("x"), calling("a", "a")), "call id a is used twice"},
		{"no id", ask(user("x"), calling("")), "no id"},
		{"no name", ask(user("x"), nameless, result("a")), "no name"},
		{"arguments that are no object", ask(user("x"), bad, result("a")), "no JSON object"},
		{"the assistant first", ask(model.Message{Role: model.Assistant, Text: "x"}), "first message"},
		{"an empty question", ask(user("")), "user message is empty"},
		{"an empty answer", ask(user("x"), model.Message{Role: model.Assistant}), "neither text nor calls"},
		{"calls of a user", ask(model.Message{Role: model.User, Text: "x", Calls: calling("a").Calls}), "has tool calls"},
		{"an unknown role", ask(model.Message{Role: "system", Text: "x"}), `unknown role "system"`},
		{"a tool twice", tools(model.ToolSpec{Name: "a"}, model.ToolSpec{Name: "a"}), "tool a stands twice"},
		{"a tool without a name", tools(model.ToolSpec{}), "no name"},
		{"parameters that are no object", tools(model.ToolSpec{Name: "a", Parameters: json.RawMessage(`[]`)}), "no object schema"},
		{"no source of ids", &model.Request{Messages: []model.Message{user("x")}}, "NewCallID"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			err := modeltest.Validate(tt.r)
			if tt.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if err == nil || !contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}

func BenchmarkScripted(b *testing.B) {
	s := modeltest.NewScripted(modeltest.Always(modeltest.Say("hello")))
	r := ask(user("x"))
	b.ReportAllocs()
	for b.Loop() {
		if _, a, err := run(b.Context(), s, r); err != nil || a.Text != "hello" {
			b.Fatal(err)
		}
	}
}
