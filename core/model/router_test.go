package model_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/model"
	"herald/core/model/modeltest"
)

// bench is a router whose clock moves only by its own sleeps.
type bench struct {
	*model.Router
	now      time.Time
	slept    []time.Duration
	attempts []model.Attempt
	log      strings.Builder
}

func newBench(t *testing.T, retry model.Retry, models ...model.Configured) *bench {
	t.Helper()
	b := &bench{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	b.Router = model.NewRouter(model.RouterOptions{
		Retry: retry,
		Now:   func() time.Time { return b.now },
		Sleep: func(ctx context.Context, d time.Duration) error {
			b.slept = append(b.slept, d)
			b.now = b.now.Add(d)
			return ctx.Err()
		},
		Random:  func() float64 { return 0 },
		Log:     slog.New(slog.NewTextHandler(&b.log, nil)),
		Observe: func(a model.Attempt) { b.attempts = append(b.attempts, a) },
	})
	if err := b.Replace(models); err != nil {
		t.Fatal(err)
	}
	return b
}

// tried are the models of the attempts so far, in order.
func (b *bench) tried() string {
	names := make([]string, 0, len(b.attempts))
	for _, a := range b.attempts {
		names = append(names, a.Model)
	}
	return strings.Join(names, " ")
}

func (b *bench) state(name string) model.State {
	for _, h := range b.Health() {
		if h.Model == name {
			return h.State
		}
	}
	return "absent"
}

// replies is a model that gives one reply after the other and then repeats the last.
func replies(list ...modeltest.Reply) *modeltest.Scripted {
	n := 0
	return modeltest.NewScripted(func(*model.Request) (modeltest.Reply, bool) {
		r := list[min(n, len(list)-1)]
		n++
		return r, true
	})
}

func configured(name string, m model.Model) model.Configured {
	return model.Configured{Name: name, Model: m, Priority: model.DefaultPriority}
}

func request() *model.Request {
	return &model.Request{
		NewCallID: func() string { return "c1" },
		Messages:  []model.Message{{Role: model.User, Text: "hi"}},
	}
}

func generate(ctx context.Context, m model.Model) (shown string, a *model.Answer, err error) {
	for c, e := range m.Generate(ctx, request()) {
		if e != nil {
			return shown, nil, e
		}
		shown += c.Text
		if c.Done != nil {
			a = c.Done
		}
	}
	return shown, a, nil
}

func failure(k model.Kind, status int) modeltest.Reply {
	return modeltest.Fail(&model.Error{Kind: k, Status: status})
}

func TestFailuresMoveOnOnlyWhereItHelps(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name  string
		reply modeltest.Reply
		tried string
		err   model.Kind
	}{
		{"an outage falls back", failure(model.Unavailable, 503), "a b", ""},
		{"a network failure falls back", failure(model.Unavailable, 0), "a b", ""},
		{"a rate limit falls back", failure(model.RateLimit, 429), "a b", ""},
		{"a bad request falls back", failure(model.BadRequest, 400), "a b", ""},
		{"an untyped failure falls back", modeltest.Fail(errors.New("odd")), "a b", ""},
		{"a wrong key does not", failure(model.Auth, 401), "a", model.Auth},
		{"missing rights do not", failure(model.Auth, 403), "a", model.Auth},
		{"an unknown model does not", failure(model.BadRequest, 404), "a", model.BadRequest},
		{"an unprocessable request does not", failure(model.BadRequest, 422), "a", model.BadRequest},
		{"an empty account does not", failure(model.Quota, 429), "a", model.Quota},
		{"a filter does not", failure(model.ContentFilter, 400), "a", model.ContentFilter},
		{"a context that is too long does not", failure(model.ContextTooLong, 400), "a", model.ContextTooLong},
		{"after visible text nothing is tried again", modeltest.Reply{Text: "half an answer", Chunks: 2, BreakAfter: 1, Err: &model.Error{Kind: model.Unavailable}}, "a", model.Unavailable},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, model.Retry{}, configured("a", replies(tt.reply)), configured("b", replies(modeltest.Say("from b"))))
			_, a, err := generate(t.Context(), b.For("", "", ""))
			if b.tried() != tt.tried {
				t.Errorf("tried %q, want %q", b.tried(), tt.tried)
			}
			if tt.err == "" {
				if err != nil || a.Text != "from b" || a.Model != "b" {
					t.Fatalf("answer %+v, error %v", a, err)
				}
				return
			}
			if e, ok := errors.AsType[*model.Error](err); !ok || e.Kind != tt.err || e.Model != "a" {
				t.Errorf("error %v, want one of kind %q on a", err, tt.err)
			}
		})
	}
}

func TestRetryOfTheOnlyModel(t *testing.T) {
	t.Parallel()
	limited := func(d time.Duration) modeltest.Reply {
		return modeltest.Fail(&model.Error{Kind: model.RateLimit, Status: 429, RetryAfter: d, Message: "slow down"})
	}
	down := failure(model.Unavailable, 503)
	ok := modeltest.Say("done")
	tests := []struct {
		name    string
		replies []modeltest.Reply
		slept   []time.Duration
		err     string
	}{
		{"pauses grow", []modeltest.Reply{down, down, ok}, []time.Duration{500 * time.Millisecond, time.Second}, ""},
		{"the third failure is the last", []modeltest.Reply{down, down, down, ok}, []time.Duration{500 * time.Millisecond, time.Second}, "unavailable (HTTP 503)"},
		{"Retry-After is a floor", []modeltest.Reply{limited(7 * time.Second), ok}, []time.Duration{7 * time.Second}, ""},
		{"a short Retry-After does not shorten the pause", []modeltest.Reply{limited(time.Millisecond), ok}, []time.Duration{500 * time.Millisecond}, ""},
		{"a long Retry-After is not waited for", []modeltest.Reply{limited(5 * time.Minute), ok}, nil, "asks to wait 5m0s, longer than the 30s"},
		{"a bad request is not repeated", []modeltest.Reply{failure(model.BadRequest, 400), ok}, nil, "bad request (HTTP 400)"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, model.Retry{Base: time.Second}, configured("a", replies(tt.replies...)))
			shown, _, err := generate(t.Context(), b.For("a", "", ""))
			if diff := cmp.Diff(tt.slept, b.slept); diff != "" {
				t.Errorf("pauses (-want +got):\n%s", diff)
			}
			switch {
			case tt.err == "" && (err != nil || shown != "done"):
				t.Errorf("shown %q, error %v", shown, err)
			case tt.err != "" && (err == nil || !strings.Contains(err.Error(), tt.err)):
				t.Errorf("error %v, want one with %q", err, tt.err)
			}
		})
	}
}

func TestPauseIsJitteredAndBounded(t *testing.T) {
	t.Parallel()
	random := 0.999
	var slept []time.Duration
	r := model.NewRouter(model.RouterOptions{
		Retry: model.Retry{Tries: 6, Base: time.Second, Longest: 4 * time.Second},
		Now:   func() time.Time { return time.Unix(0, 0) },
		Sleep: func(_ context.Context, d time.Duration) error {
			slept = append(slept, d.Round(100*time.Millisecond))
			return nil
		},
		Random: func() float64 { return random },
	})
	if err := r.Replace([]model.Configured{configured("a", replies(failure(model.Unavailable, 500)))}); err != nil {
		t.Fatal(err)
	}
	if _, _, err := generate(t.Context(), r.For("", "", "")); err == nil {
		t.Fatal("no error")
	}
	want := []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second, 4 * time.Second}
	if diff := cmp.Diff(want, slept); diff != "" {
		t.Errorf("pauses (-want +got):\n%s", diff)
	}
}

func TestAllModelsAreTriedBeforeOneIsTriedAgain(t *testing.T) {
	t.Parallel()
	a, bb := replies(failure(model.Unavailable, 500)), replies(failure(model.Unavailable, 502), modeltest.Say("late"))
	b := newBench(t, model.Retry{}, configured("a", a), configured("b", bb))
	shown, _, err := generate(t.Context(), b.For("auto", "", ""))
	if err != nil || shown != "late" {
		t.Errorf("shown %q, error %v", shown, err)
	}
	if b.tried() != "a b a b" {
		t.Errorf("tried %q", b.tried())
	}
}

func TestANamedModelHasNoSubstitute(t *testing.T) {
	t.Parallel()
	b := newBench(t, model.Retry{Tries: 1}, configured("a", replies(failure(model.Unavailable, 500))), configured("b", replies(modeltest.Say("b"))))
	if _, _, err := generate(t.Context(), b.For("a", "", "")); err == nil || b.tried() != "a" {
		t.Errorf("tried %q, error %v", b.tried(), err)
	}
}

func TestNotConfigured(t *testing.T) {
	t.Parallel()
	b := newBench(t, model.Retry{}, configured("a", replies(modeltest.Say("a"))))
	empty := newBench(t, model.Retry{})
	tests := []struct {
		name string
		m    model.Model
		want []string
	}{
		{"an unknown name is named, with those that exist", b.For("gpt-9", "", ""), []string{`"gpt-9"`, "configured are a"}},
		{"without models the operator is told what to write", empty.For("", "", ""), []string{"no model is configured", "[models]", "[providers]"}},
		{"a name does not help then", empty.For("a", "", ""), []string{"no model is configured"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			_, _, err := generate(t.Context(), tt.m)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.NotConfigured {
				t.Fatalf("error %v", err)
			}
			for _, w := range tt.want {
				if !strings.Contains(e.Error(), w) {
					t.Errorf("error %q lacks %q", e, w)
				}
			}
		})
	}
}

func TestCallerEndsTheCall(t *testing.T) {
	t.Parallel()
	t.Run("by its context, during a pause", func(t *testing.T) {
		t.Parallel()
		ctx, cancel := context.WithCancel(t.Context())
		b := newBench(t, model.Retry{}, configured("a", modeltest.NewScripted(func(*model.Request) (modeltest.Reply, bool) {
			cancel()
			return failure(model.Unavailable, 500), true
		})))
		_, _, err := generate(ctx, b.For("", "", ""))
		if !errors.Is(err, context.Canceled) || b.state("a") != model.Healthy || b.Health()[0].Failures != 0 {
			t.Errorf("error %v, health %+v", err, b.Health())
		}
	})
	t.Run("by leaving the loop", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, model.Retry{}, configured("a", replies(modeltest.Reply{Text: "one two", Chunks: 2})))
		for range b.For("", "", "").Generate(t.Context(), request()) {
			break
		}
		if len(b.attempts) != 1 || !b.attempts[0].Canceled {
			t.Errorf("attempts %+v", b.attempts)
		}
	})
}

func TestReplaceRefuses(t *testing.T) {
	t.Parallel()
	m := replies(modeltest.Say("x"))
	tests := []struct {
		name   string
		models []model.Configured
		want   string
	}{
		{"no name", []model.Configured{configured("", m)}, "reserved"},
		{"the name of the choice", []model.Configured{configured("auto", m)}, "reserved"},
		{"a name twice", []model.Configured{configured("a", m), configured("a", m)}, "twice"},
		{"no driver", []model.Configured{{Name: "a"}}, "no driver"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, model.Retry{}, configured("kept", m))
			if err := b.Replace(tt.models); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if got := b.Models(); len(got) != 1 || got[0].Name != "kept" {
				t.Errorf("models %+v", got)
			}
		})
	}
}

func TestAttemptsAreObserved(t *testing.T) {
	t.Parallel()
	usage := model.Usage{Input: 100, Cached: 40, Output: 7}
	b := newBench(t, model.Retry{}, configured("a", replies(failure(model.RateLimit, 429))), configured("b", replies(modeltest.Reply{Text: "x", Usage: usage})))
	if _, _, err := generate(t.Context(), b.For("", "", "")); err != nil {
		t.Fatal(err)
	}
	want := []model.Attempt{{Model: "a", Failure: model.RateLimit}, {Model: "b", Usage: usage, FirstText: 1}}
	if diff := cmp.Diff(want, b.attempts); diff != "" {
		t.Errorf("attempts (-want +got):\n%s", diff)
	}
}

// TestAuthNamesTheProvider: the operator reads at once whose key is refused.
func TestAuthNamesTheProvider(t *testing.T) {
	t.Parallel()
	c := configured("fast", replies(failure(model.Auth, 401)))
	c.Provider = "cloud"
	_, _, err := generate(t.Context(), newBench(t, model.Retry{}, c).For("", "", ""))
	if err == nil || !strings.Contains(err.Error(), "providers.cloud.api_key_env") {
		t.Errorf("got %v, want it to name the provider cloud", err)
	}
}
