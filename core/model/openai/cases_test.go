package openai_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/model/openai"
)

const canary = "sk-canary-0123456789abcdef"

// faked is a driver of a fake server that knows the canary.
func faked(t *testing.T, s *modeltest.Server, change ...func(*openai.Options)) model.Model {
	t.Helper()
	s.Key = canary
	base, stop, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(stop)
	tr := openai.NewTransport()
	t.Cleanup(tr.CloseIdleConnections)
	o := openai.Options{Name: "small", BaseURL: base, Key: canary, Model: "gpt-5-of-ours", HTTP: tr, StreamUsage: true}
	for _, c := range change {
		c(&o)
	}
	m, err := openai.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func tool(name string) model.ToolSpec {
	return model.ToolSpec{Name: name, Description: "does " + name, Parameters: json.RawMessage(`{"type":"object","properties":{}}`)}
}

func TestCases(t *testing.T) {
	t.Parallel()
	groups := map[string][]modeltest.Case{"streams": modeltest.Streams(), "calls": modeltest.CallStreams(), "errors": modeltest.Errors()}
	for group, cases := range groups {
		t.Run(group, func(t *testing.T) {
			t.Parallel()
			for _, c := range cases {
				t.Run(c.Name, func(t *testing.T) {
					t.Parallel()
					m := faked(t, &modeltest.Server{Rules: []modeltest.Rule{modeltest.Always(c.Reply)}})
					shown, a, err := collect(t.Context(), m, ask("go", tool("look"), tool("send")))
					if shown != c.Text {
						t.Errorf("shown %q, want %q", shown, c.Text)
					}
					if c.Kind != "" {
						checkFailure(t, c, err)
						return
					}
					if err != nil {
						t.Fatal(err)
					}
					checkAnswer(t, c, a)
				})
			}
		})
	}
}

func checkFailure(t *testing.T, c modeltest.Case, err error) {
	t.Helper()
	e, ok := errors.AsType[*model.Error](err)
	if !ok {
		t.Fatalf("error %v is none of the port's", err)
	}
	if e.Kind != c.Kind || e.Status != c.Status || e.RetryAfter != c.RetryAfter || e.Model != "small" {
		t.Errorf("error %+v, want kind %q, status %d, retry after %v", e, c.Kind, c.Status, c.RetryAfter)
	}
	if !strings.Contains(e.Message, c.Words) {
		t.Errorf("message %q lacks %q", e.Message, c.Words)
	}
	if len(e.Message) > 2000 || strings.Contains(e.Error(), canary[3:15]) {
		t.Errorf("message is unfit to be shown: %s", e.Error())
	}
}

func checkAnswer(t *testing.T, c modeltest.Case, a *model.Answer) {
	t.Helper()
	var calls []modeltest.Call
	for _, got := range a.Calls {
		args := string(got.Arguments)
		if got.Malformed != "" {
			if args != "{}" {
				t.Errorf("a malformed call has arguments: %s", args)
			}
			args = modeltest.Unreadable
		}
		if !strings.HasPrefix(got.ID, "c") {
			t.Errorf("call id %q was not made by the request", got.ID)
		}
		calls = append(calls, modeltest.Call{Name: got.Name, Arguments: args})
	}
	if diff := cmp.Diff(c.Calls, calls); diff != "" {
		t.Errorf("calls (-want +got):\n%s", diff)
	}
	if a.Text != c.Text || a.Finish != c.Finish || a.Usage != c.Usage {
		t.Errorf("answer %q, %s, %+v; want %q, %s, %+v", a.Text, a.Finish, a.Usage, c.Text, c.Finish, c.Usage)
	}
}
