package hostile_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"herald/bots/bottest/platform"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/store/redis/redistest"
)

// leaks are the ways in which a provider or a model gives a secret away. {key} is the client's own, {all} are all that there are.
func leaks(all []secret) []modeltest.Reply {
	var values, quoted []string
	for i, s := range all {
		if i > 1 && s.prefix == "" {
			values = append(values, s.core) // what a server is given on its command line is kept simple
			continue
		}
		values = append(values, s.value())
		quoted = append(quoted, strconv.Quote(s.value()))
	}
	text := "It is " + strings.Join(values, " and ") + ", and " + strings.Join(quoted, ",") + "."
	half := all[0].core[:len(all[0].core)/2]
	sse := func(lines ...string) modeltest.Reply {
		return modeltest.Reply{Wire: modeltest.Wire{Raw: "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n"}}
	}
	status := func(code int, body string) modeltest.Reply {
		h := http.Header{"Www-Authenticate": {"Bearer " + values[0]}, "X-Echo": {values[0]}, "Set-Cookie": {"key=" + all[0].core}}
		return modeltest.Reply{Wire: modeltest.Wire{Status: code, Body: body, Header: h}}
	}
	redirect := status(http.StatusFound, "")
	redirect.Wire.Header.Set("Location", "http://127.0.0.1:1/v1?key="+all[0].core)
	return []modeltest.Reply{
		status(401, `{"error":{"message":"Incorrect API key provided: {key}.","code":"invalid_api_key"}}`),
		status(401, `{"error":{"message":"Incorrect API key provided: `+half+`****.","code":"invalid_api_key"}}`),
		status(500, `{"error":{"message":"Authorization: Bearer {key} broke me"}}`),
		status(400, `{"error":{"message":"bad","param":"{key}","type":"{key}","code":"{key}"}}`),
		status(503, "<html><title>Proxy</title><body>Authorization: Bearer {key}</body></html>"),
		redirect,
		{Wire: modeltest.Wire{ContentType: "text/html", Raw: "<html><body>your key is {key}</body></html>"}},
		sse(`{"error":{"message":"key {key} overloaded"}}`),
		sse(`{"choices":[{"index":0,"delta":{"content":"so "}}]}`, `{"error":"{key}"}`),
		sse(`{"choices":[{"index":0,"delta":{"content":"{key}"}}]}`, `{"choices":[{"index":0,"delta":{},"finish_reason":"{key}"}]}`, `[DONE]`),
		sse(`{key}`),
		{Text: text},
		{Text: text, Chunks: len(text) / 3},
		{Text: text, Chunks: 7, Wire: modeltest.Wire{Cut: 5}},
		{Calls: []modeltest.Call{{Name: "remember", Arguments: `{"title":"keys","text":` + inJSON(values[0]) + `}`}}},
		{Calls: []modeltest.Call{{Name: "remember", Arguments: `{"title":` + inJSON(values[1]) + `,"text":"keys"}`}}},
		{Calls: []modeltest.Call{{Name: "none", Arguments: `{` + inJSON(values[0]) + `:` + inJSON(values[1]) + `}`}}},
		{Calls: []modeltest.Call{{Name: "remember", Arguments: `{"title":"` + values[1]}}},
		{Calls: []modeltest.Call{{Name: "tool_" + values[1]}}},
		{Text: "Let me.\n<tool_call>{\"name\":\"remember\",\"arguments\":{\"title\":\"k\",\"text\":" + inJSON(values[1]) + "}}</tool_call>"},
	}
}

// inJSON is s as a JSON string.
func inJSON(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err) // strings cannot fail
	}
	return string(b)
}

var playNumber = regexp.MustCompile(`leak (\d+)`)

// leaking answers "leak 3" with the third leak, and with an echo of what it has been shown once a tool has run.
func leaking(all []secret) []modeltest.Rule {
	list := leaks(all)
	echo := func(r *model.Request) (modeltest.Reply, bool) {
		last := r.Messages[len(r.Messages)-1]
		return modeltest.Say("The tool says: " + last.Text), last.Role == model.Tool
	}
	return []modeltest.Rule{echo, func(r *model.Request) (modeltest.Reply, bool) {
		m := playNumber.FindStringSubmatch(modeltest.LastUser(r))
		if m == nil {
			return modeltest.Reply{}, false
		}
		n, err := strconv.Atoi(m[1])
		if err != nil || n >= len(list) {
			return modeltest.Reply{}, false
		}
		return list[n], true
	}}
}

// Whatever a provider, a model or a person does, no secret of the configuration reaches a person, a log, a metric, the store or a prompt.
func TestNoSecretLeaves(t *testing.T) {
	t.Parallel()
	all := newSecrets("key of a variable", "key of a file", "password of the store", "password of the sentinels")
	for _, tc := range []struct {
		name, format string
		// secrets is how many of all are configured.
		secrets int
		// store gives the settings of a store, and the bytes of its files.
		store func(t *testing.T) (env []string, read func() []byte)
	}{
		{"SQLite, log as text", "text", 2, func(*testing.T) ([]string, func() []byte) { return nil, nil }},
		{"Redis, log as JSON", "json", 3, func(t *testing.T) ([]string, func() []byte) {
			s := redistest.Run(t, redistest.Options{AOF: "always", Password: all[2].core})
			return []string{"HERALD_STORE__URL=" + s.URL(), "HERALD_STORE__PASSWORD_ENV=CANARY_STORE", "CANARY_STORE=" + all[2].core}, func() []byte {
				s.Quit()
				return huntFiles(t, all[:3], s.Dir())
			}
		}},
		{"Redis by Sentinel, password in the URL", "text", 4, func(t *testing.T) ([]string, func() []byte) {
			s := redistest.Run(t, redistest.Options{AOF: "always", Password: all[2].core})
			sentinel := redistest.RunSentinel(t, s)
			for _, cmd := range [][]any{
				{"SENTINEL", "SET", redistest.MasterName, "auth-pass", all[2].core},
				{"ACL", "SETUSER", "default", ">" + all[3].core},
			} {
				if _, err := sentinel.Do(t.Context(), cmd...); err != nil {
					t.Fatal(err)
				}
			}
			return []string{
				"HERALD_STORE__URL=redis+sentinel://:" + all[2].core + "@" + sentinel.Addr() + "/" + redistest.MasterName,
				"HERALD_STORE__SENTINEL_PASSWORD_ENV=CANARY_SENTINEL", "CANARY_SENTINEL=" + all[3].core,
			}, func() []byte { s.Quit(); return huntFiles(t, all, s.Dir()) }
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			env, read := tc.store(t)
			playLeaks(t, all[:tc.secrets], tc.format, env, read)
		})
	}
}

func playLeaks(t *testing.T, all []secret, format string, env []string, read func() []byte) {
	first := &modeltest.Server{Key: all[0].value(), Rules: leaking(all), Record: true}
	second := &modeltest.Server{Key: all[1].value(), Rules: leaking(all), Record: true}
	plat := startPlatform(t, platform.Options{})
	h := newHome(t, append(env, "HERALD_LOG__LEVEL=debug", "HERALD_LOG__FORMAT="+format, "CANARY_KEY="+all[0].value())...)
	h.write("key.txt", all[1].value()+"\n")
	h.write("herald.toml", fmt.Sprintf(`
[providers.one]
base_url = %q
api_key_env = "CANARY_KEY"
[providers.two]
base_url = %q
api_key_file = "key.txt"
[models.first]
provider = "one"
model = "m"
priority = 10
[models.second]
provider = "two"
model = "m"
priority = 20
`, startModel(t, first), startModel(t, second)))
	h.write("data/agents/main/AGENT.md", "---\ntype: chat\n---\nThe key is "+all[0].value()+", marmalade.")
	said := map[string]result{}
	said["store create"] = h.do("", "store", "create")
	said["config check"] = h.do("", "config", "check")
	said["config explain"] = h.do("", "config", "explain")
	said["doctor beside"] = h.do("", "doctor", "--ask")
	svc := h.start("demo-service", plat.URL())

	var told []platform.Told
	for i := range leaks(all) {
		told = append(told, plat.Post(platform.Say{Channel: "c", Thread: fmt.Sprint("t", i), Text: fmt.Sprint("leak ", i), Mention: true}))
	}
	told = append(told, plat.Post(platform.Say{Channel: "c", Thread: "pasted", Text: "marmalade is " + all[0].value() + " or " + all[1].value(), Mention: true}))
	for i, tt := range told {
		waitFor(t, plat, svc, fmt.Sprint("an answer to leak ", i), func(v platform.View) bool { return len(settled(v, tt)) > 0 })
	}
	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/"} {
		hunt(t, all, path, []byte(fetch(t, svc, path)))
	}
	svc.stop()
	for _, kind := range []string{"text", "json"} {
		if kind == format && !strings.Contains(svc.log.String(), "turn failed") {
			t.Errorf("the log as %s holds no failure: nothing was looked through\n%s", kind, svc.log)
		}
	}
	hunt(t, all, "the log", []byte(svc.log.String()))
	hunt(t, all, "stdout", []byte(svc.out.String()))
	plat.Look(func(v platform.View) {
		for _, rec := range v.Journal() {
			if rec.Kind == platform.Sent || rec.Kind == platform.Edited {
				hunt(t, all, "a message", []byte(rec.Text))
			}
		}
	})
	// What the models were shown: the canary of an agent's file, of a person and of what a model had said before is not among it.
	for _, s := range []*modeltest.Server{first, second} {
		if s.Calls() == 0 {
			t.Error("a provider was not asked: its key was not tried")
		}
		for _, rec := range s.Records() {
			hunt(t, all, "a prompt", rec.Body)
		}
	}
	for name, r := range said {
		hunt(t, all, name, []byte(r.out+r.err))
	}
	if said["doctor beside"].out == "" || !strings.Contains(said["config explain"].out, "api_key_env") {
		t.Errorf("the commands said nothing: %+v", said)
	}
	files := string(huntFiles(t, all, filepath.Join(h.dir, "data"), "AGENT.md"))
	if read != nil {
		files += string(read())
	}
	if !strings.Contains(files, "marmalade is [redacted]") {
		t.Error("what people say is not found in the files of the store: nothing was looked through")
	}
}

// write makes a file of the home.
func (h *home) write(name, text string) {
	h.t.Helper()
	path := filepath.Join(h.dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		h.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		h.t.Fatal(err)
	}
}
