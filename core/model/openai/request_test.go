package openai_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/model/openai"
)

// sent runs a request against a strict fake and returns what went over the wire.
func sent(t *testing.T, r *model.Request, change ...func(*openai.Options)) (body map[string]any, rec modeltest.Record) {
	t.Helper()
	s := &modeltest.Server{Record: true}
	if _, _, err := collect(t.Context(), faked(t, s, change...), r); err != nil {
		t.Fatal(err)
	}
	rec = s.Records()[0]
	if err := json.Unmarshal(rec.Body, &body); err != nil {
		t.Fatal(err)
	}
	return body, rec
}

func messages(t *testing.T, body map[string]any) []map[string]any {
	t.Helper()
	var out []map[string]any
	for _, m := range body["messages"].([]any) {
		out = append(out, m.(map[string]any))
	}
	return out
}

func TestRequestSettings(t *testing.T) {
	t.Parallel()
	warm := func(o *openai.Options) { o.Temperature, o.MaxOutputTokens = new(0.7), 100 }
	thinks := func(o *openai.Options) { o.Thinking = true }
	tests := []struct {
		name   string
		change func(*openai.Options)
		ask    func(*model.Request)
		want   map[string]any
		absent []string
	}{
		{"the model's settings", warm, func(*model.Request) {}, map[string]any{"temperature": 0.7, "max_tokens": 100.0}, nil},
		{"the request's come first", warm, func(r *model.Request) { r.Temperature, r.MaxOutputTokens = new(0.0), 5 }, map[string]any{"temperature": 0.0, "max_tokens": 5.0}, nil},
		{"what nobody sets is not sent", func(*openai.Options) {}, func(*model.Request) {}, nil, []string{"temperature", "max_tokens", "max_completion_tokens", "tools", "reasoning_effort"}},
		{"thinking", thinks, func(r *model.Request) { r.Thinking = new(-1) }, map[string]any{"reasoning_effort": "medium"}, nil},
		{"no thinking", thinks, func(r *model.Request) { r.Thinking = new(0) }, map[string]any{"reasoning_effort": "none"}, nil},
		{"a little thinking", thinks, func(r *model.Request) { r.Thinking = new(1024) }, map[string]any{"reasoning_effort": "low"}, nil},
		{"some thinking", thinks, func(r *model.Request) { r.Thinking = new(8192) }, map[string]any{"reasoning_effort": "medium"}, nil},
		{"much thinking", thinks, func(r *model.Request) { r.Thinking = new(8193) }, map[string]any{"reasoning_effort": "high"}, nil},
		{"nothing is said of thinking", thinks, func(*model.Request) {}, nil, []string{"reasoning_effort"}},
		{"a model that does not take it", func(*openai.Options) {}, func(r *model.Request) { r.Thinking = new(100) }, nil, []string{"reasoning_effort"}},
		{"usage is asked for", func(*openai.Options) {}, func(*model.Request) {}, map[string]any{"stream": true, "stream_options": map[string]any{"include_usage": true}}, nil},
		{"usage is not asked for", func(o *openai.Options) { o.StreamUsage = false }, func(*model.Request) {}, nil, []string{"stream_options"}},
		{
			"a name that a library knows rules for", func(o *openai.Options) { o.Model, o.Temperature, o.MaxOutputTokens = "o1-of-ours", new(0.2), 9 },
			func(*model.Request) {},
			map[string]any{"model": "o1-of-ours", "temperature": 0.2, "max_tokens": 9.0},
			nil,
		},
		{"another one, with tools", func(o *openai.Options) { o.Model = "gpt-6-sol" }, func(r *model.Request) { r.Tools = []model.ToolSpec{tool("look")} }, map[string]any{"model": "gpt-6-sol"}, nil},
		{"and one for another endpoint", func(o *openai.Options) { o.Model = "text-davinci-003" }, func(*model.Request) {}, map[string]any{"model": "text-davinci-003"}, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			r := ask("hi")
			tt.ask(r)
			body, _ := sent(t, r, tt.change)
			for k, w := range tt.want {
				if diff := cmp.Diff(w, body[k]); diff != "" {
					t.Errorf("%s (-want +got):\n%s", k, diff)
				}
			}
			for _, k := range tt.absent {
				if v, ok := body[k]; ok {
					t.Errorf("%s is sent: %v", k, v)
				}
			}
		})
	}
}

func TestHistoryIsFitForAStrictProvider(t *testing.T) {
	t.Parallel()
	r := ask("hi", tool("look"))
	r.System = []string{"stable", "", "volatile"}
	r.Messages = []model.Message{
		{Role: model.User, Text: "  "},
		{Role: model.Assistant, Calls: []model.Call{
			{ID: "session/turn-17/call-1", Name: "look"},
			{ID: "session/turn-17/call-2", Name: "look", Arguments: json.RawMessage(`[1]`), Malformed: "no object"},
			{ID: "search:0", Name: "look", Arguments: json.RawMessage(`{"at": "<a&b>"}`)},
		}},
		{Role: model.Tool, CallID: "session/turn-17/call-1"},
		{Role: model.Tool, CallID: "session/turn-17/call-2", Text: "not run", Failed: true},
		{Role: model.Tool, CallID: "search:0", Text: "error: gone", Failed: true},
		{Role: model.Assistant},
		{Role: model.User, Text: "see", Images: []model.Image{{MIME: "image/png", Data: []byte("PNG")}}},
		{Role: model.User, Images: []model.Image{{MIME: "image/gif", Data: []byte("GIF")}}},
	}
	body, rec := sent(t, r)
	if rec.Violation != "" {
		t.Errorf("a strict provider refuses it: %s", rec.Violation)
	}
	got := messages(t, body)
	if got[0]["content"] != "stable\n\nvolatile" || got[0]["role"] != "system" {
		t.Errorf("system %v", got[0])
	}
	if v, ok := got[2]["content"]; !ok || v != nil {
		t.Errorf("content beside calls is %v, %v, want null", v, ok)
	}
	var args, texts []any
	seen := map[any]bool{}
	for _, c := range got[2]["tool_calls"].([]any) {
		c := c.(map[string]any)
		args = append(args, c["function"].(map[string]any)["arguments"])
		id := c["id"].(string)
		if len(id) != 9 || seen[id] {
			t.Errorf("call id %q", id)
		}
		seen[id] = true
	}
	for _, m := range got[3:6] {
		texts = append(texts, m["content"])
		if !seen[m["tool_call_id"]] {
			t.Errorf("result of no call: %v", m)
		}
	}
	if diff := cmp.Diff([]any{"{}", "{}", `{"at": "<a&b>"}`}, args); diff != "" {
		t.Errorf("arguments (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]any{"(no output)", "Error: not run", "error: gone"}, texts); diff != "" {
		t.Errorf("results (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]model.Image{{MIME: "image/png", Data: []byte("PNG")}}, rec.Request.Messages[6].Images); diff != "" {
		t.Errorf("image (-want +got):\n%s", diff)
	}
}

func TestBodyKeepsItsBeginning(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{Record: true}
	m := faked(t, s)
	r := ask("hi", tool("look"))
	r.Messages = append(r.Messages,
		model.Message{Role: model.Assistant, Calls: []model.Call{{ID: "x1", Name: "look", Arguments: json.RawMessage(`{}`)}}},
		model.Message{Role: model.Tool, CallID: "x1", Text: "seen"})
	if _, _, err := collect(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Text: "so"}, model.Message{Role: model.User, Text: "and?"})
	if _, _, err := collect(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	first, second := s.Records()[0], s.Records()[1]
	if second.Shared < len(first.Body)-len("]}") {
		t.Errorf("only %d of %d bytes are the same:\n%s\n%s", second.Shared, len(first.Body), first.Body, second.Body)
	}
}

func TestToolNames(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("n", 70)
	names := []string{"look", "a.b", "a/b", "a b", "größe", long, long + "2"}
	var tools []model.ToolSpec
	for _, n := range names {
		tools = append(tools, tool(n))
	}
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &modeltest.Server{Record: true}
			m := faked(t, s)
			s.On(func(r *model.Request) (modeltest.Reply, bool) {
				var calls []modeltest.Call
				for _, spec := range r.Tools {
					calls = append(calls, modeltest.Call{Name: spec.Name})
				}
				return modeltest.Reply{Calls: calls}, true
			})
			r := ask("hi", tools...)
			r.Messages = []model.Message{
				{Role: model.User, Text: "hi"},
				{Role: model.Assistant, Calls: []model.Call{{ID: "1", Name: name}}},
				{Role: model.Tool, CallID: "1", Text: "x"},
			}
			_, a, err := collect(t.Context(), m, r)
			if err != nil {
				t.Fatal(err)
			}
			var back []string
			for _, c := range a.Calls {
				back = append(back, c.Name)
			}
			if diff := cmp.Diff(names, back); diff != "" {
				t.Errorf("names (-want +got):\n%s", diff)
			}
		})
	}
}

func TestAToolMayHaveTheNameThatAnotherIsGiven(t *testing.T) {
	t.Parallel()
	_, rec := sent(t, ask("hi", tool("a.b")))
	taken := rec.Request.Tools[0].Name
	_, rec = sent(t, ask("hi", tool("a.b"), tool(taken)))
	if rec.Violation != "" || rec.Request.Tools[1].Name != taken {
		t.Errorf("tools %+v: %s", rec.Request.Tools, rec.Violation)
	}
}

func TestRequestsThatAreRefused(t *testing.T) {
	t.Parallel()
	with := func(params string) model.ToolSpec {
		return model.ToolSpec{Name: "look", Parameters: json.RawMessage(params)}
	}
	tests := []struct {
		name, want string
		r          *model.Request
	}{
		{"a tool twice", "offered twice", ask("hi", tool("look"), tool("look"))},
		{"a tool without a name", "no name", ask("hi", tool(""))},
		{"parameters that are a list", "no JSON object", ask("hi", with(`[]`))},
		{"parameters of another type", `another type than "object"`, ask("hi", with(`{"type":"string"}`))},
		{"no source of ids", "NewCallID", &model.Request{Messages: []model.Message{{Role: model.User, Text: "hi"}}}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &modeltest.Server{}
			_, _, err := collect(t.Context(), faked(t, s), tt.r)
			e, ok := errors.AsType[*model.Error](err)
			if !ok || e.Kind != model.BadRequest || e.Retriable() || !strings.Contains(e.Message, tt.want) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
			if s.Calls() != 0 {
				t.Error("it was sent all the same")
			}
		})
	}
}

func TestParametersAreAnObjectSchema(t *testing.T) {
	t.Parallel()
	for _, params := range []string{"", "null", "{}", `{"properties":{"a":{"type":"string"}}}`, `{"type":"object"}`} {
		r := ask("hi", model.ToolSpec{Name: "look", Parameters: json.RawMessage(params)})
		if _, rec := sent(t, r); rec.Violation != "" {
			t.Errorf("%q: %s", params, rec.Violation)
		}
	}
}

// elsewhere carries requests for any host to one address, so that what is special about a host can be tried.
type elsewhere struct {
	base http.RoundTripper
	to   string
}

func (e elsewhere) RoundTrip(r *http.Request) (*http.Response, error) {
	r = r.Clone(r.Context())
	r.URL.Scheme, r.URL.Host = "http", e.to
	return e.base.RoundTrip(r)
}

// as makes a driver believe that it speaks to the host.
func as(host string) func(*openai.Options) {
	return func(o *openai.Options) {
		o.HTTP = elsewhere{o.HTTP, strings.TrimSuffix(strings.TrimPrefix(o.BaseURL, "http://"), "/v1")}
		o.BaseURL = "https://" + host + "/v1"
	}
}

func TestHostsThatDiffer(t *testing.T) {
	t.Parallel()
	schema := `{"$schema":"x","type":"object","additionalProperties":false,"properties":{
		"const":{"type":"string","const":"a"},"n":{"type":"integer","enum":[1,2],"exclusiveMinimum":0},
		"list":{"type":"array","items":{"type":"string","properties":{},"additionalProperties":true}}},"required":["n"]}`
	r := func() *model.Request {
		r := ask("hi", model.ToolSpec{Name: "look", Parameters: json.RawMessage(schema)})
		r.MaxOutputTokens = 7
		return r
	}
	t.Run("OpenAI wants another name for the output limit", func(t *testing.T) {
		t.Parallel()
		body, _ := sent(t, r(), as("api.openai.com"))
		if body["max_completion_tokens"] != 7.0 || body["max_tokens"] != nil {
			t.Errorf("limits %v, %v", body["max_completion_tokens"], body["max_tokens"])
		}
	})
	t.Run("Gemini takes plain schemas only", func(t *testing.T) {
		t.Parallel()
		_, rec := sent(t, r(), as("generativelanguage.googleapis.com"))
		want := `{"properties":{"const":{"enum":["a"],"type":"string"},"list":{"items":{"type":"string"},"type":"array"},"n":{"type":"integer"}},"required":["n"],"type":"object"}`
		if got := string(rec.Request.Tools[0].Parameters); got != want {
			t.Errorf("schema %s\nwant   %s", got, want)
		}
	})
	t.Run("others get the schema as it is", func(t *testing.T) {
		t.Parallel()
		_, rec := sent(t, r())
		var want, got any
		if json.Unmarshal([]byte(schema), &want) != nil || json.Unmarshal(rec.Request.Tools[0].Parameters, &got) != nil || !cmp.Equal(want, got) {
			t.Errorf("schema %s", rec.Request.Tools[0].Parameters)
		}
	})
}

func TestOpaqueDataOfACallGoesBackToItsProviderOnly(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{Record: true}
	s.On(modeltest.Always(modeltest.Reply{Calls: []modeltest.Call{{Name: "look", Extra: `"extra_content":{"google":{"thought_signature":"abc"}}`}}}))
	gemini := faked(t, s, as("generativelanguage.googleapis.com"))
	_, a, err := collect(t.Context(), gemini, ask("hi", tool("look")))
	if err != nil {
		t.Fatal(err)
	}
	again := func() *model.Request {
		r := ask("hi", tool("look"))
		r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: a.Calls}, model.Message{Role: model.Tool, CallID: a.Calls[0].ID, Text: "x"})
		return r
	}
	if _, _, err := collect(t.Context(), gemini, again()); err != nil {
		t.Fatal(err)
	}
	if got := string(s.Records()[1].Request.Messages[1].Calls[0].Extra); got != `{"google":{"thought_signature":"abc"}}` {
		t.Errorf("sent back %s", got)
	}
	_, rec := sent(t, again())
	if got := rec.Request.Messages[1].Calls[0].Extra; len(got) > 0 {
		t.Errorf("another provider got %s", got)
	}
}

func TestReasoningGoesBackBesideItsCalls(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{Record: true}
	first := "data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"let me \"}}]}\n\n" +
		"data: {\"choices\":[{\"delta\":{\"reasoning_content\":\"look\"}}]}\n\n" +
		"data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":0,\"id\":\"a\",\"function\":{\"name\":\"look\",\"arguments\":\"{}\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"
	s.On(modeltest.When("hi", modeltest.Reply{Wire: modeltest.Wire{Raw: first}}))
	m := faked(t, s)
	shown, a, err := collect(t.Context(), m, ask("hi", tool("look")))
	if err != nil || shown != "" || a.Text != "" {
		t.Fatalf("shown %q, answer %+v, error %v", shown, a, err)
	}
	r := ask("hi", tool("look"))
	r.Messages = append(r.Messages, model.Message{Role: model.Assistant, Calls: a.Calls}, model.Message{Role: model.Tool, CallID: a.Calls[0].ID, Text: "x"})
	if _, _, err := collect(t.Context(), m, r); err != nil {
		t.Fatal(err)
	}
	if body := string(s.Records()[1].Body); !strings.Contains(body, `"reasoning_content":"let me look","tool_calls"`) {
		t.Errorf("sent %s", body)
	}
	if _, rec := sent(t, r, as("elsewhere.example")); strings.Contains(string(rec.Body), "let me look") {
		t.Errorf("another provider got %s", rec.Body)
	}
}

func TestAuthorization(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{canary: "Bearer " + canary, "": ""} {
		var got http.Header
		m := served(t, func(w http.ResponseWriter, r *http.Request) {
			got = r.Header.Clone()
			canned("data: {\"choices\":[{\"delta\":{\"content\":\"x\"},\"finish_reason\":\"stop\"}]}\n\n")(w, r)
		}, func(o *openai.Options) { o.Key = key })
		if _, _, err := collect(t.Context(), m, ask("hi")); err != nil {
			t.Fatal(err)
		}
		if got.Get("Authorization") != want || got.Get("User-Agent") != "herald" {
			t.Errorf("headers %v, want Authorization %q", got, want)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name   string
		change func(*openai.Options)
		want   string
	}{
		{"no name", func(o *openai.Options) { o.Name = "" }, "configured name"},
		{"no model", func(o *openai.Options) { o.Model = "" }, "provider's id"},
		{"no address", func(o *openai.Options) { o.BaseURL = "" }, "no http or https address"},
		{"an address with a password that is none", func(o *openai.Options) { o.BaseURL = "ftp://u:" + canary + "@host" }, "no http or https address"},
		{"no transport", func(o *openai.Options) { o.HTTP = nil }, "transport"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o := openai.Options{Name: "n", BaseURL: "http://localhost/v1", Model: "m", HTTP: openai.NewTransport()}
			tt.change(&o)
			_, err := openai.New(o)
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), canary) {
				t.Errorf("error %v, want one with %q", err, tt.want)
			}
		})
	}
}
