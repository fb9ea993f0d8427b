package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/tool"
)

// tools are what the cases call: one that looks and one that sends, which notes how often.
func tools(sent *sync.Map) func(*service.Options) {
	newTool := func(name string) tool.Tool {
		return tool.Tool{
			Spec: model.ToolSpec{Name: name, Description: "For tests.", Parameters: json.RawMessage(`{"type":"object"}`)},
			Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
				n, _ := sent.LoadOrStore(c.Conversation.Thread+"/"+name+string(c.Arguments), new(sync.Map))
				n.(*sync.Map).Store(c.ID, true)
				return tool.Result{Text: "seen " + string(c.Arguments)}, nil
			},
		}
	}
	return func(o *service.Options) {
		o.Tools = []tool.Tool{newTool("look"), newTool("send")}
		o.Allow = []string{"look", "send"}
	}
}

// afterResults answers a request that shows results of calls.
func afterResults(reply modeltest.Reply) modeltest.Rule {
	return func(r *model.Request) (modeltest.Reply, bool) {
		for _, m := range slices.Backward(r.Messages) {
			if m.Role != model.User {
				return reply, m.Role == model.Tool
			}
		}
		return reply, false
	}
}

var caseNumber = regexp.MustCompile(`case (\d+)`)

// playCases answers "case 7" with the seventh case.
func playCases(cases []modeltest.Case) modeltest.Rule {
	return func(r *model.Request) (modeltest.Reply, bool) {
		m := caseNumber.FindStringSubmatch(modeltest.LastUser(r))
		if m == nil {
			return modeltest.Reply{}, false
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n >= len(cases) {
			return modeltest.Reply{}, false
		}
		return cases[n].Reply, true
	}
}

// sentences are what a person reads of each kind of failure.
var sentences = map[model.Kind]string{
	model.Auth: "does not accept this installation's key", model.RateLimit: "asked too often", model.Quota: "has reached its limit",
	model.ContextTooLong: "too long for the model", model.ContentFilter: "content rules", model.BadRequest: "refused the request", model.Unavailable: "could not be reached or broke off",
}

// Every oddity of a stream, of a call and of an error that the fake endpoint knows goes through the whole service: the person reads one
// answer or one sentence, and the conversation goes on.
func TestEveryCaseOfAModel(t *testing.T) {
	t.Parallel()
	cases := slices.Concat(modeltest.Streams(), modeltest.CallStreams(), modeltest.Errors())
	for i := range cases {
		// A provider that wants 20 s gets them, three times; a test has not that much time.
		if h := cases[i].Reply.Wire.Header; h.Get("Retry-After") == "20" {
			cases[i].Reply.Wire.Header = http.Header{"Retry-After": {"1"}}
		}
	}
	sent := new(sync.Map)
	r := begin(t, setup{
		rules:  []modeltest.Rule{afterResults(modeltest.Say("done")), playCases(cases)},
		env:    []string{"HERALD_MODEL_TIMEOUTS__FIRST_TOKEN_SECONDS=30", "HERALD_MODEL_TIMEOUTS__BETWEEN_TOKENS_SECONDS=30", "HERALD_PROVIDERS__FAKE__API_KEY_ENV=KEY", "KEY=key-in-the-test"},
		change: tools(sent),
	})
	told := make([]platform.Told, len(cases))
	for i := range cases {
		told[i] = r.say(fmt.Sprint("t", i), fmt.Sprint("case ", i))
	}
	for i, c := range cases {
		got := r.answer(told[i], c.Name)
		want := c.Text
		switch {
		case c.Kind != "":
			want = sentences[c.Kind]
			if !strings.Contains(got, want) || strings.Count(got, "Reference `") != 1 {
				t.Errorf("%s: the person reads %.300q, want a sentence with %q and a reference", c.Name, got, want)
			}
			if strings.Contains(got, "key-in-the-test") {
				t.Errorf("%s: the key stands in %q", c.Name, got)
			}
			continue
		case len(c.Calls) > 0:
			want = "done"
		}
		if got != want {
			t.Errorf("%s: answer %.300q, want %q", c.Name, got, want)
		}
		for _, call := range c.Calls {
			key := fmt.Sprint("t", i, "/", call.Name, call.Arguments)
			n, ran := sent.Load(key)
			if ran == (call.Arguments == modeltest.Unreadable) {
				t.Errorf("%s: call %s %s ran: %v", c.Name, call.Name, call.Arguments, ran)
			}
			if ran {
				times := 0
				n.(*sync.Map).Range(func(any, any) bool { times++; return true })
				if wanted := count(c.Calls, call); times != wanted {
					t.Errorf("%s: call %s %s ran %d times, want %d", c.Name, call.Name, call.Arguments, times, wanted)
				}
			}
		}
	}
	for i := range cases {
		r.usable(fmt.Sprint("t", i))
	}
	r.chat.Look(func(v platform.View) {
		for i, c := range cases {
			if n := len(v.Answers(told[i].Message)); n != 1 {
				t.Errorf("%s: %d answers stand at the end", c.Name, n)
			}
		}
	})
	if strings.Contains(r.log.String(), "key-in-the-test") {
		t.Error("the key stands in the log")
	}
	r.up()
}

func count(calls []modeltest.Call, c modeltest.Call) int {
	n := 0
	for _, o := range calls {
		if o.Name == c.Name && o.Arguments == c.Arguments {
			n++
		}
	}
	return n
}

// A model that does not end, or ends in the wrong place, costs a bounded time and is told of once.
func TestModelsThatDoNotEnd(t *testing.T) {
	t.Parallel()
	big := strings.Repeat("All work and no play makes Jack a dull boy.\n", 1<<20/44)
	round := func(calls func(n int) []modeltest.Call) modeltest.Rule {
		return func(r *model.Request) (modeltest.Reply, bool) {
			return modeltest.Reply{Calls: calls(len(r.Messages))}, true
		}
	}
	for _, tc := range []struct {
		name string
		rule modeltest.Rule
		want string
		// most bounds the requests that the model is asked.
		most int
	}{
		{"hangs before the first token", modeltest.Always(modeltest.Reply{Wire: modeltest.Wire{HangFirst: true}}), sentences[model.Unavailable], 3},
		{"sends comments for ever", modeltest.Always(modeltest.Reply{Wire: modeltest.Wire{HangFirst: true, Comments: true}}), sentences[model.Unavailable], 3},
		{"hangs in the middle", modeltest.Always(modeltest.Reply{Text: "one two three four", Chunks: 4, Wire: modeltest.Wire{Hang: 2}}), sentences[model.Unavailable], 1},
		{"breaks off in the middle", modeltest.Always(modeltest.Reply{Text: "one two three four", Chunks: 4, Wire: modeltest.Wire{Cut: 2}}), sentences[model.Unavailable], 1},
		{"repeats for ever", modeltest.Always(modeltest.Reply{Text: strings.Repeat("and so on ", 1000), Wire: modeltest.Wire{Endless: true}}), "", 3},
		{"the same call for ever", round(func(int) []modeltest.Call { return []modeltest.Call{{Name: "look", Arguments: `{"at":1}`}} }), "I came to no end", 5},
		{"another call each time for ever", round(func(n int) []modeltest.Call {
			return []modeltest.Call{{Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, n)}}
		}), "I came to no end", 21},
		{"a call that is none for ever", round(func(n int) []modeltest.Call { return []modeltest.Call{{Name: fmt.Sprint("none", n)}} }), "I came to no end", 21},
		{"arguments that are no JSON for ever", round(func(int) []modeltest.Call { return []modeltest.Call{{Name: "look", Arguments: `{"at":`}} }), "I came to no end", 21},
		{"a thousand calls at once", func(r *model.Request) (modeltest.Reply, bool) {
			var calls []modeltest.Call
			for i := range 1000 {
				calls = append(calls, modeltest.Call{Name: "look", Arguments: fmt.Sprintf(`{"at":%d}`, i)})
			}
			return modeltest.Reply{Calls: calls}, true
		}, "", 21},
		{"a call of a megabyte", func(r *model.Request) (modeltest.Reply, bool) {
			if m := r.Messages[len(r.Messages)-1]; m.Role == model.Tool {
				return modeltest.Say("done"), true
			}
			return modeltest.Use("look", `{"at":"`+strings.Repeat("x", 1<<20)+`"}`), true
		}, "", 3},
		{"an empty answer", modeltest.Always(modeltest.Say("")), "empty answer", 1},
		{"an answer of white space", modeltest.Always(modeltest.Say(" \n\t\u200b ")), "", 1},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			began := time.Now()
			r := begin(t, setup{
				rules:  []modeltest.Rule{tc.rule},
				env:    []string{"HERALD_MODEL_TIMEOUTS__FIRST_TOKEN_SECONDS=2", "HERALD_MODEL_TIMEOUTS__BETWEEN_TOKENS_SECONDS=2", "HERALD_TURN__STREAM_EDIT_MS=1000"},
				change: tools(new(sync.Map)),
			})
			told := r.say("t", "go on")
			var texts []string
			r.wait("an answer", func(v platform.View) bool { texts = settled(v, told); return len(texts) > 0 })
			if all := strings.Join(texts, ""); !strings.Contains(all, tc.want) || strings.TrimSpace(all) == "" {
				t.Errorf("the person reads %.400q, want %q", all, tc.want)
			}
			if n := r.model.Calls(); n > tc.most {
				t.Errorf("the model was asked %d times, at most %d", n, tc.most)
			}
			t.Logf("%d requests, %d pieces, %s", r.model.Calls(), len(texts), time.Since(began).Round(10*time.Millisecond))
			r.usable("t")
			r.up()
		})
	}
	t.Run("an answer of a megabyte", func(t *testing.T) {
		t.Parallel()
		p := platform.Options{Features: features()}
		p.Features.TextLimit = 40000
		r := begin(t, setup{rules: []modeltest.Rule{modeltest.Always(modeltest.Reply{Text: big, Chunks: 50})}, platform: p, env: []string{"HERALD_TURN__STREAM_EDIT_MS=1000"}})
		told := r.say("t", "go on")
		var all string
		r.wait("the whole answer", func(v platform.View) bool {
			all = strings.Join(settled(v, told), "")
			return len(strip(all)) >= len(strip(big))
		})
		if strip(all) != strip(big) {
			t.Errorf("the pieces are %d bytes, the answer is %d", len(all), len(big))
		}
		r.usable("t")
		r.up()
	})
}

// strip leaves out white space, which may fall away where an answer is cut.
func strip(s string) string { return strings.Join(strings.Fields(s), "") }
