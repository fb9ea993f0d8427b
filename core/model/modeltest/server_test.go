package modeltest_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"herald/core/model"
	"herald/core/model/modeltest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func contains(s, sub string) bool { return strings.Contains(s, sub) }

// post asks a server without a network.
func post(t testing.TB, s *modeltest.Server, body string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v1/chat/completions", strings.NewReader(body))
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, r)
	return w
}

const hello = `{"model":"m","stream":true,"messages":[{"role":"user","content":"hello"}]}`

func TestServerIsStrict(t *testing.T) {
	t.Parallel()
	with := func(messages string) string { return `{"model":"m","stream":true,"messages":[` + messages + `]}` }
	const u, call = `{"role":"user","content":"x"}`, `{"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{}"}}]}`
	const res = `{"role":"tool","tool_call_id":"a","content":"seen"}`
	tests := []struct{ name, body, want string }{
		{"a question", hello, ""},
		{"a round of tools", with(u + "," + call + "," + res), ""},
		{"parts", with(`{"role":"user","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"data:image/png;base64,UE5H"}}]}`), ""},
		{"no JSON", `{`, "no request"},
		{"no model", `{"messages":[` + u + `]}`, "model is missing"},
		{"no messages", with(""), "no message"},
		{"an empty result", with(u + "," + call + "," + `{"role":"tool","tool_call_id":"a","content":""}`), "content is empty"},
		{"a result without content", with(u + "," + call + "," + `{"role":"tool","tool_call_id":"a"}`), "content is missing"},
		{"calls without content", with(u + "," + strings.Replace(call, `"content":null,`, "", 1) + "," + res), "content is missing"},
		{"calls without arguments", with(u + "," + strings.Replace(call, `,"arguments":"{}"`, "", 1) + "," + res), "no arguments"},
		{"arguments that are no object", with(u + "," + strings.Replace(call, `"{}"`, `"x"`, 1) + "," + res), "no JSON object"},
		{"a call of another type", with(u + "," + strings.Replace(call, `"type":"function"`, `"type":"f"`, 1) + "," + res), "call a has type"},
		{"an unusable name", with(u + "," + strings.Replace(call, `"look"`, `"a.b"`, 1) + "," + res), "unusable name"},
		{"no result", with(u + "," + call), "has no result"},
		{"an orphan result", with(u + "," + res), "no assistant message made"},
		{"a system message behind others", with(u + `,{"role":"system","content":"x"}`), "stands behind"},
		{"null for parameters", `{"model":"m","messages":[` + u + `],"tools":[{"type":"function","function":{"name":"look","parameters":null}}]}`, "no schema of type object"},
		{"an unusable tool", `{"model":"m","messages":[` + u + `],"tools":[{"type":"function","function":{"name":"a b","parameters":{"type":"object"}}}]}`, "unusable"},
		{"empty stream options", `{"model":"m","stream":true,"stream_options":{},"messages":[` + u + `]}`, "stream_options"},
		{"too hot", `{"model":"m","temperature":3,"messages":[` + u + `]}`, "temperature"},
		{"no output", `{"model":"m","max_tokens":0,"messages":[` + u + `]}`, "output limit"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &modeltest.Server{}
			w := post(t, s, tt.body)
			if tt.want == "" {
				if w.Code != http.StatusOK || s.Violations() != 0 {
					t.Errorf("status %d: %s", w.Code, w.Body)
				}
				return
			}
			if w.Code != http.StatusBadRequest || s.Violations() != 1 || !contains(w.Body.String(), tt.want) {
				t.Errorf("status %d, %d violations: %s; want %q", w.Code, s.Violations(), w.Body, tt.want)
			}
		})
	}
}

func TestServerKeepsRecords(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{Record: true, Key: "k1234567"}
	auth := []string{"Authorization", "Bearer k1234567"}
	if w := post(t, s, hello); w.Code != http.StatusUnauthorized {
		t.Errorf("without the key: %d", w.Code)
	}
	longer := strings.Replace(hello, `"}]`, `"},{"role":"assistant","content":"hi"},{"role":"user","content":"again"}]`, 1)
	for _, body := range []string{hello, longer, `{"model":"m","messages":[{"role":"user","content":"other"}]}`} {
		if w := post(t, s, body, auth...); w.Code != http.StatusOK {
			t.Fatalf("%d: %s", w.Code, w.Body)
		}
	}
	recs := s.Records()
	if len(recs) != 3 || s.Calls() != 3 {
		t.Fatalf("%d records, %d calls", len(recs), s.Calls())
	}
	if want := len(hello) - len(`]}`); recs[0].Shared != 0 || recs[1].Shared != want || recs[2].Shared != 0 {
		t.Errorf("shared %d, %d, %d; want 0, %d, 0", recs[0].Shared, recs[1].Shared, recs[2].Shared, want)
	}
	if recs[1].Model != "m" || modeltest.LastUser(recs[1].Request) != "again" || string(recs[1].Body) != longer {
		t.Errorf("record %+v", recs[1])
	}
}

func TestServerAnswersWithoutAStream(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{Rules: []modeltest.Rule{modeltest.When("look", modeltest.Use("look", `{"at":1}`))}}
	for body, want := range map[string]string{
		`{"model":"m","messages":[{"role":"user","content":"hi"}]}`:   `"content":"You said: hi"`,
		`{"model":"m","messages":[{"role":"user","content":"look"}]}`: `"arguments":"{\"at\":1}"`,
	} {
		if w := post(t, s, body); w.Header().Get("Content-Type") != "application/json" || !contains(w.Body.String(), want) {
			t.Errorf("answer %s, want %s", w.Body, want)
		}
	}
}

func TestServerUnderWay(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{}
	base, stop, err := s.Start(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	defer http.DefaultClient.CloseIdleConnections()
	s.On(modeltest.When("hello", modeltest.Say("late rule")))
	get := func(method, path, body string) (int, string) {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		resp, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		defer resp.Body.Close()
		b, err := io.ReadAll(resp.Body)
		if err != nil {
			t.Fatal(err)
		}
		return resp.StatusCode, string(b)
	}
	for _, tt := range []struct {
		method, path, body string
		code               int
		want               string
	}{
		{http.MethodPost, "/chat/completions", hello, 200, "late rule"},
		{http.MethodGet, "/models", "", 200, `"object":"list"`},
		{http.MethodPost, "/embeddings", "{}", 404, "Unknown request URL"},
	} {
		if code, body := get(tt.method, tt.path, tt.body); code != tt.code || !contains(body, tt.want) {
			t.Errorf("%s %s: %d %s", tt.method, tt.path, code, body)
		}
	}
}

func TestCasesAreNamedOnce(t *testing.T) {
	t.Parallel()
	for _, cases := range [][]modeltest.Case{modeltest.Streams(), modeltest.CallStreams(), modeltest.Errors()} {
		seen := map[string]bool{}
		for _, c := range cases {
			if seen[c.Name] || c.Name == "" {
				t.Errorf("case %q stands twice or has no name", c.Name)
			}
			seen[c.Name] = true
			if (c.Kind == "") == (c.Finish == "") {
				t.Errorf("case %q wants both an answer and a failure, or neither", c.Name)
			}
		}
	}
}

func TestServerUnchecked(t *testing.T) {
	t.Parallel()
	s := &modeltest.Server{Unchecked: true, Record: true}
	orphan := `{"model":"m","stream":true,"stream_options":{"include_usage":true},"messages":[{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"a \"quoted\" \\"},{"role":"assistant","content":"hi"}]}`
	w := post(t, s, orphan)
	if w.Code != http.StatusOK || s.Violations() != 0 || !contains(w.Body.String(), `You said: a \"quoted\" \\`) || !contains(w.Body.String(), `"usage":{`) {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
	// A body that is written in another way is parsed after all.
	if w := post(t, s, `{"model":"m","stream":true,"messages":[{"content":"hello","role":"user"}]}`); !contains(w.Body.String(), "You said: hello") || contains(w.Body.String(), `"usage":{`) {
		t.Errorf("%d: %s", w.Code, w.Body)
	}
}

func BenchmarkServer(b *testing.B) {
	b.Run("strict", func(b *testing.B) { benchServer(b, false) })
	b.Run("unchecked", func(b *testing.B) { benchServer(b, true) })
}

func benchServer(b *testing.B, unchecked bool) {
	s := &modeltest.Server{Unchecked: unchecked, Rules: []modeltest.Rule{modeltest.Always(modeltest.Say("hello"))}}
	var m strings.Builder
	for i := range 25 {
		fmt.Fprintf(&m, `{"role":"user","content":%q},{"role":"assistant","content":%q},`, strings.Repeat("question ", 30), strings.Repeat("answer ", 40+i))
	}
	body := `{"model":"m","stream":true,"messages":[` + m.String() + `{"role":"user","content":"hello"}]}`
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if w := post(b, s, body); w.Code != http.StatusOK {
			b.Fatal(w.Body)
		}
	}
}

var _ model.Model = (*modeltest.Scripted)(nil)
