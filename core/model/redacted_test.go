package model_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"herald/core/model"
)

const secret = "sk-5ecret"

// scanSecret knows one secret.
func scanSecret(text string, end bool) (shown, left string) {
	text = strings.ReplaceAll(text, secret, "[x]")
	if end {
		return text, ""
	}
	for n := min(len(text), len(secret)-1); n > 0; n-- {
		if strings.HasSuffix(text, secret[:n]) {
			return text[:len(text)-n], text[len(text)-n:]
		}
	}
	return text, ""
}

// stream is a model that gives these pieces, then the answer or the failure.
type stream struct {
	pieces []string
	answer *model.Answer
	err    error
	panics any
}

func (s stream) Generate(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		for _, p := range s.pieces {
			if !yield(model.Chunk{Text: p}, nil) {
				return
			}
		}
		switch {
		case s.panics != nil:
			panic(s.panics)
		case s.err != nil:
			yield(model.Chunk{}, s.err)
		default:
			yield(model.Chunk{Done: s.answer}, nil)
		}
	}
}

// hear collects what comes of a stream.
func hear(m model.Model) (text string, a *model.Answer, err error) {
	for c, e := range m.Generate(context.Background(), &model.Request{}) {
		if e != nil {
			return text, nil, e
		}
		text += c.Text
		if c.Done != nil {
			a = c.Done
		}
	}
	return text, a, nil
}

func TestRedactedStream(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		pieces []string
		want   string
	}{
		{"no secret", []string{"one ", "two"}, "one two"},
		{"whole", []string{"it is " + secret + "."}, "it is [x]."},
		{"cut in two", []string{"it is sk-5e", "cret."}, "it is [x]."},
		{"byte by byte", strings.Split("a "+secret+" b "+secret, ""), "a [x] b [x]"},
		{"at the end", []string{"it is ", "sk", "-5ecret"}, "it is [x]"},
		{"a beginning that is none", []string{"the sk", "y"}, "the sky"},
		{"a beginning at the end", []string{"see sk-"}, "see sk-"},
		{"nothing", nil, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			whole := strings.Join(tc.pieces, "")
			text, a, err := hear(model.Redacted(stream{pieces: tc.pieces, answer: &model.Answer{Text: whole, Finish: model.FinishStop, Model: "m"}}, scanSecret))
			if err != nil || text != tc.want || a == nil || a.Text != tc.want || a.Finish != model.FinishStop || a.Model != "m" {
				t.Errorf("streamed %q, answer %+v, error %v; want %q", text, a, err, tc.want)
			}
		})
	}
}

// Wherever a stream is cut, what is shown is the whole answer.
func TestRedactedShowsTheAnswer(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{"s", "k", "sk-", "5ecret", secret, "-5ec", "ret", "é", " ", ""})).Draw(t, "pieces")
		text, a, err := hear(model.Redacted(stream{pieces: pieces, answer: &model.Answer{Text: strings.Join(pieces, "")}}, scanSecret))
		if err != nil || text != a.Text || strings.Contains(text, secret) {
			t.Fatalf("shown %q, answer %q, %v", text, a.Text, err)
		}
	})
}

func TestRedactedCalls(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, args, want string }{
		{"none", `{"a": 1, "b":[true,null,"x<y"],"c":1.5e+3}`, `{"a": 1, "b":[true,null,"x<y"],"c":1.5e+3}`},
		{"a value", `{"a":"the ` + secret + `!"}`, `{"a":"the [x]!"}`},
		{"a name", `{"` + secret + `":1}`, `{"[x]":1}`},
		{"escaped", `{"a":"sk\u002d5\u0065cret \" \\"}`, `{"a":"[x] \" \\"}`},
		{"deep", `[{"a":[" ` + secret + `"]},"` + secret + `"]`, `[{"a":[" [x]"]},"[x]"]`},
		{"no JSON", `{"a":"` + secret, `{"a":"[x]`},
		{"nothing", ``, ``},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			given := &model.Answer{Calls: []model.Call{{
				ID: "c1", Name: secret, Arguments: json.RawMessage(tc.args), Malformed: "no: " + secret, Extra: json.RawMessage(tc.args),
			}}}
			_, a, err := hear(model.Redacted(stream{answer: given}, scanSecret))
			if err != nil {
				t.Fatal(err)
			}
			want := []model.Call{{ID: "c1", Name: "[x]", Arguments: json.RawMessage(tc.want), Malformed: "no: [x]", Extra: json.RawMessage(tc.want)}}
			if d := cmp.Diff(want, a.Calls, cmp.Transformer("text", func(r json.RawMessage) string { return string(r) })); d != "" {
				t.Errorf("calls (-want +got)\n%s", d)
			}
			if given.Calls[0].Name != secret {
				t.Error("the driver's own answer was changed")
			}
		})
	}
}

// A secret of digits alone may come as a number.
func TestRedactedNumber(t *testing.T) {
	t.Parallel()
	scan := func(text string, _ bool) (string, string) { return strings.ReplaceAll(text, "12345678", "[x]"), "" }
	_, a, err := hear(model.Redacted(stream{answer: &model.Answer{Calls: []model.Call{{Arguments: json.RawMessage(`{"pin":12345678,"n":7}`)}}}}, scan))
	if err != nil || string(a.Calls[0].Arguments) != `{"pin":"[x]","n":7}` {
		t.Errorf("%s, %v", a.Calls[0].Arguments, err)
	}
}

func TestRedactedFailures(t *testing.T) {
	t.Parallel()
	cause := fmt.Errorf("dial %s: %w", secret, errPlain)
	for _, tc := range []struct {
		name string
		err  error
		kind model.Kind
	}{
		{"of the port", &model.Error{Kind: model.Auth, Status: 401, Message: "bad key " + secret, Err: cause}, model.Auth},
		{"of another kind", cause, ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			text, _, err := hear(model.Redacted(stream{pieces: []string{"so sk-5e"}, err: tc.err}, scanSecret))
			if text != "so " {
				t.Errorf("shown of the broken answer: %q", text)
			}
			for e := err; e != nil; e = errors.Unwrap(e) {
				if strings.Contains(fmt.Sprintf("%v %#v", e.Error(), e.Error()), secret) {
					t.Errorf("the secret stands in %v", e)
				}
			}
			if !errors.Is(err, errPlain) {
				t.Errorf("%v is no longer what it was", err)
			}
			if e, ok := errors.AsType[*model.Error](err); ok != (tc.kind != "") || ok && (e.Kind != tc.kind || e.Status != 401) {
				t.Errorf("got %#v", err)
			}
		})
	}
	if _, _, err := hear(model.Redacted(stream{err: context.Canceled}, scanSecret)); err != context.Canceled { //nolint:errorlint // the very one
		t.Errorf("an error without a secret was changed: %v", err)
	}
}

var errPlain = errors.New("plain")

func TestRedactedPanics(t *testing.T) {
	t.Parallel()
	type other struct{ n int }
	for _, tc := range []struct{ panics, want any }{
		{"broke on " + secret, "broke on [x]"},
		{errors.New(secret), "[x]"},
		{other{7}, other{7}},
	} {
		func() {
			defer func() {
				if p := recover(); p != tc.want {
					t.Errorf("panic %v, want %v", p, tc.want)
				}
			}()
			_, _, _ = hear(model.Redacted(stream{panics: tc.panics}, scanSecret))
		}()
	}
}

// Who breaks off a stream ends the call below it.
func TestRedactedBreaksOff(t *testing.T) {
	t.Parallel()
	ended := false
	m := model.Redacted(endless{&ended}, scanSecret)
	for c, err := range m.Generate(t.Context(), &model.Request{}) {
		if err != nil || c.Text != "more " {
			t.Errorf("chunk %+v, %v", c, err)
		}
		break
	}
	if !ended {
		t.Error("the call below goes on")
	}
}

type endless struct{ ended *bool }

func (e endless) Generate(context.Context, *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		defer func() { *e.ended = true }()
		for yield(model.Chunk{Text: "more "}, nil) {
		}
	}
}
