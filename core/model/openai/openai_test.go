package openai_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"herald/core/model"
	"herald/core/model/openai"
)

// served is a driver whose endpoint answers with h.
func served(t *testing.T, h http.HandlerFunc, change ...func(*openai.Options)) model.Model {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	tr := openai.NewTransport()
	t.Cleanup(tr.CloseIdleConnections)
	o := openai.Options{Name: "small", BaseURL: s.URL + "/v1/", Key: "sk-canary-0123456789abcdef", Model: "gpt-5-of-ours", HTTP: tr, StreamUsage: true}
	for _, c := range change {
		c(&o)
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// canned answers with a body, byte for byte, as a stream.
func canned(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, body)
	}
}

// ids makes call ids c1, c2, ….
func ids() func() string {
	n := 0
	return func() string { n++; return fmt.Sprintf("c%d", n) }
}

func ask(text string, tools ...model.ToolSpec) *model.Request {
	return &model.Request{
		System: []string{"You are a test."}, Tools: tools, NewCallID: ids(),
		Messages: []model.Message{{Role: model.User, Text: text}},
	}
}

// collect runs a request to its end: the text shown, the answer, the error.
func collect(ctx context.Context, m model.Model, r *model.Request) (shown string, a *model.Answer, err error) {
	var b strings.Builder
	for c, e := range m.Generate(ctx, r) {
		if e != nil {
			return b.String(), nil, e
		}
		b.WriteString(c.Text)
		if c.Done != nil {
			a = c.Done
		}
	}
	return b.String(), a, nil
}

func TestPlainAnswer(t *testing.T) {
	t.Parallel()
	m := served(t, canned(`data: {"choices":[{"index":0,"delta":{"role":"assistant","content":"Hel"}}]}

data: {"choices":[{"index":0,"delta":{"content":"lo"}}]}

data: {"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}

data: {"choices":[],"usage":{"prompt_tokens":10,"completion_tokens":2,"prompt_tokens_details":{"cached_tokens":4}}}

data: [DONE]

`))
	shown, a, err := collect(t.Context(), m, ask("hi"))
	if err != nil {
		t.Fatal(err)
	}
	if shown != "Hello" || a.Text != "Hello" || a.Finish != model.FinishStop || a.Model != "small" {
		t.Errorf("shown %q, answer %+v", shown, a)
	}
	if want := (model.Usage{Input: 10, Cached: 4, Output: 2}); a.Usage != want {
		t.Errorf("usage %+v, want %+v", a.Usage, want)
	}
}
