package openai_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/model/openai"
)

func TestHugeAndBrokenAnswers(t *testing.T) {
	t.Parallel()
	type wire = modeltest.Wire
	mega := strings.Repeat("0123456789abcdef", 1<<16)
	endless := "data: {\"choices\":[{\"delta\":{\"role\":\"assistant\"}}]}\n\n"
	tests := []struct {
		name   string
		reply  modeltest.Reply
		change func(*openai.Options)
		text   string // of the answer; when empty an error with words is wanted
		words  string
	}{
		{"a megabyte in many pieces", modeltest.Reply{Text: mega, Chunks: 1000}, nil, mega, ""},
		{"a megabyte in one piece", modeltest.Reply{Text: mega}, nil, mega, ""},
		{"no end", modeltest.Reply{Text: mega[:1000], Wire: wire{Endless: true}}, nil, "", "the answer is too long"},
		{"no end and no text", modeltest.Reply{Wire: wire{Raw: strings.Repeat(endless, 5000)}}, func(o *openai.Options) { o.MaxStreamBytes = 1 << 16 }, "", "the stream is longer than"},
		{"no end of one line", modeltest.Reply{Wire: wire{Raw: "data: {\"choices\":[" + strings.Repeat(" ", 9<<20)}}, nil, "", "too long"},
		{"no end of one event", modeltest.Reply{Wire: wire{Raw: strings.Repeat("data: [\n", 5<<20)}}, nil, "", "too long"},
		{"no end of comments", modeltest.Reply{Wire: wire{Raw: strings.Repeat(": x\n\n", 1<<18)}}, func(o *openai.Options) { o.MaxStreamBytes = 1 << 18 }, "", "the stream is longer than"},
		{"no end of blanks", modeltest.Reply{Wire: wire{Raw: strings.Repeat(" ", 10<<20)}}, nil, "", "too long"},
		{"no end of a completion", modeltest.Reply{Wire: wire{Raw: `{"choices":[` + strings.Repeat(" ", 9<<20)}}, nil, "", "too long"},
		{"no end of calls", modeltest.Reply{Calls: make([]modeltest.Call, 200)}, nil, "", "too many tool calls"},
		{"cut in the middle", modeltest.Reply{Text: "one two", Chunks: 2, Wire: wire{Cut: 1}}, nil, "", "the connection was cut"},
		{"cut behind the finish reason", modeltest.Reply{Wire: wire{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n", CutRaw: true}}, nil, "x", ""},
		{"a redirect", modeltest.Reply{Wire: wire{Status: 307, Header: http.Header{"Location": {"https://elsewhere.example/v1?key=" + canary}}}}, nil, "", "redirects to elsewhere.example"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			change := tt.change
			if change == nil {
				change = func(*openai.Options) {}
			}
			for i := range tt.reply.Calls {
				tt.reply.Calls[i].Name = "look"
			}
			m := faked(t, &modeltest.Server{Rules: []modeltest.Rule{modeltest.Always(tt.reply)}}, change)
			shown, a, err := collect(t.Context(), m, ask("hi"))
			if tt.words == "" {
				if err != nil || a.Text != tt.text || shown != tt.text {
					t.Errorf("%d bytes shown, error %v", len(shown), err)
				}
				return
			}
			e, ok := errors.AsType[*model.Error](err)
			if !ok || !strings.Contains(e.Message, tt.words) || strings.Contains(e.Error(), canary) {
				t.Errorf("error %v, want one with %q", err, tt.words)
			}
		})
	}
}

func TestNoServer(t *testing.T) {
	t.Parallel()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_ = l.Close()
	m, err := openai.New(openai.Options{
		Name: "small", BaseURL: "http://user:" + canary + "@" + l.Addr().String() + "/v1?token=" + canary, Key: canary, Model: "m", HTTP: openai.NewTransport(),
	})
	if err != nil {
		t.Fatal(err)
	}
	_, _, err = collect(t.Context(), m, ask("hi"))
	e, ok := errors.AsType[*model.Error](err)
	if !ok || e.Kind != model.Unavailable || !e.Retriable() || !strings.Contains(e.Message, "refused") {
		t.Errorf("error %v", err)
	}
	if s := err.Error(); strings.Contains(s, "canary") || strings.Contains(s, "user") {
		t.Errorf("the address is in the error: %s", s)
	}
}

func TestNoEchoOfTheKey(t *testing.T) {
	t.Parallel()
	type wire = modeltest.Wire
	half, tail := canary[:13], canary[len(canary)-9:]
	tests := []struct {
		name  string
		reply modeltest.Reply
	}{
		{"whole, in an error", modeltest.Reply{Wire: wire{Status: 401, Body: `{"error":{"message":"Incorrect API key provided: {key}."}}`}}},
		{"in a header's form", modeltest.Reply{Wire: wire{Status: 401, Body: `{"error":"bad header Authorization: Bearer {key}"}`}}},
		{"masked by the provider", modeltest.Reply{Wire: wire{Status: 401, Body: `{"error":"bad key ` + half + `*******` + tail + `"}`}}},
		{"in part", modeltest.Reply{Wire: wire{Status: 400, Body: `{"error":"key begins with ` + half + ` and ends in ` + tail + `"}`}}},
		{"in a page", modeltest.Reply{Wire: wire{Status: 502, Body: `<html><body>{key}</body></html>`}}},
		{"far behind, where the message is cut", modeltest.Reply{Wire: wire{Status: 500, Body: strings.Repeat("word ", 78) + `{key}`}}},
		{"in an error of the stream", modeltest.Reply{Wire: wire{Raw: "data: {\"error\":\"no: {key}\"}\n\n"}}},
		{"in garbage", modeltest.Reply{Wire: wire{Raw: "data: {{{ {key}\n\n"}}},
		{"in text", modeltest.Reply{Wire: wire{Raw: "data: {\"choices\":[{\"delta\":{\"content\":\"is it {key}?\"},\"finish_reason\":\"stop\"}]}\n\n"}}},
		{"in text, in two pieces", modeltest.Reply{Text: "is it " + canary + "?", Chunks: 5}},
		{"in text, byte by byte", modeltest.Reply{Text: canary + canary + "?", Chunks: 1000}},
		{"in arguments", modeltest.Reply{Calls: []modeltest.Call{{Name: "look", Arguments: `{"at":"` + canary + `"}`}}}},
		{"in arguments that cannot be read", modeltest.Reply{Calls: []modeltest.Call{{Name: "look", Arguments: `{"at":` + canary}}}},
		{"in a call written as text", modeltest.Reply{Text: `<tool_call>{"name":"look","arguments":{"at":"` + canary + `"}}</tool_call>`}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			m := faked(t, &modeltest.Server{Rules: []modeltest.Rule{modeltest.Always(tt.reply)}})
			shown, a, err := collect(t.Context(), m, ask("hi", tool("look")))
			var all strings.Builder
			all.WriteString(shown)
			if err != nil {
				all.WriteString(err.Error())
			}
			if a != nil {
				all.WriteString(a.Text)
				for _, c := range a.Calls {
					all.WriteString(string(c.Arguments) + c.Malformed)
				}
			}
			for i := 0; i+8 <= len(canary); i++ {
				if strings.Contains(all.String(), canary[i:i+8]) {
					t.Fatalf("the key is in %q", all.String())
				}
			}
			if all.String() == "" {
				t.Error("nothing was said at all")
			}
		})
	}
}

func TestConnectionsAreUsedAgain(t *testing.T) {
	t.Parallel()
	var dialed atomic.Int64
	s := &modeltest.Server{}
	s.On(modeltest.When("fail", modeltest.Reply{Wire: modeltest.Wire{Status: 500, Body: `{"error":"no"}`}}))
	m := faked(t, s, func(o *openai.Options) {
		tr := o.HTTP.(*http.Transport)
		dial := tr.DialContext
		tr.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			dialed.Add(1)
			return dial(ctx, network, addr)
		}
	})
	for range 5 {
		if _, _, err := collect(t.Context(), m, ask("hi")); err != nil {
			t.Fatal(err)
		}
		if _, _, err := collect(t.Context(), m, ask("fail")); err == nil {
			t.Fatal("no error")
		}
	}
	if n := dialed.Load(); n != 1 {
		t.Errorf("%d connections for 10 calls in a row", n)
	}
}

func TestLeavingTheLoopEndsTheCall(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	m := served(t, func(w http.ResponseWriter, r *http.Request) {
		held("data: {\"choices\":[{\"delta\":{\"content\":\"x\"}}]}\n\n")(w, r)
		close(gone)
	})
	for c, err := range m.Generate(t.Context(), ask("hi")) {
		if err != nil || c.Text != "x" {
			t.Errorf("chunk %+v, error %v", c, err)
		}
		break
	}
	<-gone // else the test does not end
}
