package authored_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/tool"
	"herald/core/tool/sandbox"
	"herald/core/tool/sandbox/sandboxtest"
	"herald/skills"
	"herald/skills/authored"
)

const echo = `description = "Echoes"
command = ["echo", "{text}"]
[parameters.properties.text]
type = "string"
`

type tree struct {
	t   *testing.T
	dir string
	at  time.Time
}

func newTree(t *testing.T) *tree { return &tree{t, t.TempDir(), time.Now().Add(-time.Hour)} }

func (f *tree) write(rel, src string) {
	f.t.Helper()
	path := filepath.Join(f.dir, rel)
	f.at = f.at.Add(time.Second)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(src), 0o644), os.Chtimes(path, f.at, f.at)); err != nil {
		f.t.Fatal(err)
	}
}

// recorder is a runner that runs nothing.
type recorder struct {
	mu     sync.Mutex
	got    []sandbox.Command
	result sandbox.Result
	err    error
}

func (r *recorder) Run(_ context.Context, c sandbox.Command) (sandbox.Result, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.got = append(r.got, c)
	return r.result, r.err
}

func (f *tree) open(run authored.Runner) *authored.Registry {
	var mu sync.Mutex
	now := time.Now()
	return authored.Open(authored.Options{
		Shared:   skills.Folder{Path: filepath.Join(f.dir, "tools"), Setting: "tools.dir", MayBeMissing: true},
		Agents:   skills.Folder{Path: filepath.Join(f.dir, "agents"), Setting: "agents.dir", MayBeMissing: true},
		Reserved: func(n string) bool { return n == "current_time" },
		Runner:   run, Transport: http.DefaultTransport,
		Secret: func(v string) (string, error) {
			if v != "SHOP_KEY" {
				return "", fmt.Errorf("the variable %s is not set", v)
			}
			return "canary-4711", nil
		},
		Clock: func() time.Time { mu.Lock(); defer mu.Unlock(); now = now.Add(time.Minute); return now },
		Log:   slog.New(slog.DiscardHandler),
	})
}

func ids(t *testing.T, r *authored.Registry, agent string) string {
	t.Helper()
	list, err := r.Tools(t.Context(), tool.Scope{Agent: agent})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := tool.NewRegistry(list...); err != nil {
		t.Error(err)
	}
	var out []string
	for _, tl := range list {
		out = append(out, tl.Spec.Name)
	}
	return strings.Join(out, " ")
}

// call runs a tool as the engine does: what the agent does not have does not exist.
func call(t *testing.T, r *authored.Registry, agent, name, args string) (string, error) {
	t.Helper()
	s := tool.Scope{Agent: agent}
	list, err := r.Tools(t.Context(), s)
	if err != nil {
		t.Fatal(err)
	}
	for _, tl := range list {
		if tl.Spec.Name == name {
			res, err := tl.Run(t.Context(), tool.Call{Scope: s, ID: "call-1", Name: name, Arguments: json.RawMessage(args)})
			return res.Text, err
		}
	}
	return "", tool.ErrUnknown
}

func TestParse(t *testing.T) {
	t.Parallel()
	const params = "\n[parameters.properties.q]\ntype = \"string\"\n"
	web := func(s string) string { return "description = \"d\"\n" + params + "[http]\n" + s }
	tests := []struct {
		name, src, want string
		line            int
	}{
		{"a command", echo, "", 0},
		{"a request", web(`url = "https://shop.example/items/{q}"`), "", 0},
		{"no parameters", "description = \"d\"\ncommand = [\"date\"]", "", 0},
		{"braces that are no parameters", "description = \"d\"\ncommand = [\"awk\", \"{print $1}\"]", "", 0},
		{"a script beside it", "description = \"d\"\ncommand = [\"python3\", \"./x.py\", \"{q}\"]" + params, "", 0},
		{"no TOML", "description = \"d\"\ncommand = [", "not valid TOML", 2},
		{"an unknown key", "description = \"d\"\ncommand = [\"date\"]\nrepeateble = true", `there is no setting "repeateble"`, 3},
		{"another name", "name = \"other\"\n" + echo, `calls itself "other"`, 0},
		{"no description", "command = [\"date\"]", "there is no description", 0},
		{"nothing to do", "description = \"d\"", "does nothing", 0},
		{"two things to do", "description = \"d\"\ncommand = [\"date\"]\n[http]\nurl = \"https://a.example\"", "make two tools", 0},
		{"a long time", "description = \"d\"\ncommand = [\"date\"]\ntimeout_seconds = 301", "can be 1 to 300", 0},
		{"parameters that are no object", "description = \"d\"\ncommand = [\"date\"]\n[parameters]\ntype = \"string\"", `of type "object"`, 0},
		{"a parameter that is no table", "description = \"d\"\ncommand = [\"date\"]\n[parameters.properties]\nq = \"string\"", "is no table", 0},
		{"a schema that is none", "description = \"d\"\ncommand = [\"date\"]\n[parameters.properties.q]\ntype = \"text\"", "no JSON Schema", 0},
		{"a schema from elsewhere", "description = \"d\"\ncommand = [\"date\"]\n[parameters.properties.q]\n\"$ref\" = \"file:///etc/passwd\"", "of other files are not read", 0},
		{"required and missing", "description = \"d\"\ncommand = [\"date\"]\n[parameters]\nrequired = [\"x\"]", `names "x"`, 0},
		{"an unknown parameter", "description = \"d\"\ncommand = [\"echo\", \"{x}\"]" + params, `parameter "x"`, 0},
		{"a parameter within a word", "description = \"d\"\ncommand = [\"sh\", \"-c\", \"echo {q}\"]" + params, "a word of its own", 0},
		{"a parameter for a program", "description = \"d\"\ncommand = [\"{q}\"]" + params, "cannot be a parameter", 0},
		{"a file from elsewhere", "description = \"d\"\ncommand = [\"python3\", \"./../x.py\"]", "no file beside", 0},
		{"two files", "description = \"d\"\ncommand = [\"python3\", \"./a\", \"./b\"]", "one is possible", 0},
		{"a secret without a variable", echo + "[env]\nKEY_env = \"not a name\"", "must name an environment variable", 0},
		{"a server from a model", web(`url = "https://{q}.example/"`), "server in http.url cannot be", 0},
		{"another scheme", web(`url = "file:///etc/passwd"`), "must be an address", 0},
		{"a password", web(`url = "https://a:b@shop.example/"`), "holds a name or a password", 0},
		{"a parameter behind ?", web(`url = "https://shop.example/?q={q}"`), "stand in [http.query]", 0},
		{"an unknown parameter in the path", web(`url = "https://shop.example/{x}"`), `parameter "x"`, 0},
		{"a parameter in a header", web("url = \"https://shop.example/\"\nheaders = { X = \"{q}\" }"), "cannot stand in a header", 0},
		{"a header of the request", web("url = \"https://shop.example/\"\nheaders = { Host = \"x\" }"), "set by the request itself", 0},
		{"a method", web("url = \"https://shop.example/\"\nmethod = \"BREW\""), "there are GET", 0},
		{"a body of a GET", web("url = \"https://shop.example/\"\nsend = \"json\""), "has no body", 0},
		{"no UTF-8", "description = \"\xff\"", "not UTF-8", 0},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			line, err := authored.Parse("echo", []byte(tt.src))
			if (err == nil) != (tt.want == "") || err != nil && !strings.Contains(err.Error(), tt.want) || line != tt.line {
				t.Errorf("line %d: %v", line, err)
			}
		})
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(echo))
	f.Add([]byte("description = \"d\"\n[http]\nurl = \"https://a.example/{q}\"\n[parameters.properties.q]\ntype=\"string\""))
	f.Fuzz(func(t *testing.T, src []byte) {
		line, err := authored.Parse("echo", src)
		if err != nil && (err.Error() == "" || line < 0 || line > strings.Count(string(src), "\n")+1) {
			t.Fatalf("line %d, %v", line, err)
		}
	})
}

func TestWords(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name    string
		command []string
		args    map[string]any
		want    string
		err     string
	}{
		{"text", []string{"echo", "{a}"}, map[string]any{"a": "x; rm -rf / $(id)"}, "echo|x; rm -rf / $(id)", ""},
		{"left out", []string{"echo", "{a}", "end"}, map[string]any{}, "echo|end", ""},
		{"empty", []string{"echo", "{a}"}, map[string]any{"a": ""}, "echo|", ""},
		{"a number", []string{"echo", "{a}"}, map[string]any{"a": json.Number("-3.5")}, "echo|-3.5", ""},
		{"a list", []string{"echo", "{a}"}, map[string]any{"a": []any{"x", true}}, "echo|x|true", ""},
		{"an object", []string{"echo", "{a}"}, map[string]any{"a": map[string]any{"k": "v"}}, `echo|{"k":"v"}`, ""},
		{"an option", []string{"ls", "{a}"}, map[string]any{"a": "--help"}, "", "begins with '-'"},
		{"an option in a list", []string{"ls", "{a}"}, map[string]any{"a": []any{"x", "-l"}}, "", "begins with '-'"},
		{"behind the end of options", []string{"ls", "--", "{a}"}, map[string]any{"a": "--help"}, "ls|--|--help", ""},
		{"a placeholder in a value", []string{"echo", "{a}", "{b}"}, map[string]any{"a": "{b}", "b": "x"}, "echo|{b}|x", ""},
		{"a zero byte", []string{"echo", "{a}"}, map[string]any{"a": "x\x00"}, "", "zero byte"},
		{"too much", []string{"echo", "{a}"}, map[string]any{"a": strings.Repeat("x", 70000)}, "", "more than 65536"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got, err := authored.Words(tt.command, tt.args)
			if strings.Join(got, "|") != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
				t.Errorf("got %q, %v", got, err)
			}
		})
	}
}

func TestCommand(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.write("tools/price.toml", `description = "Prices"
command = ["python3", "./price.py", "{item}"]
timeout_seconds = 7
[env]
SHOP = "berlin"
KEY_env = "SHOP_KEY"
[parameters]
required = ["item"]
[parameters.properties.item]
type = "string"
pattern = "^[a-z]+$"
`)
	f.write("tools/price.py", "print(1)")
	f.write("tools/other.toml", strings.ReplaceAll(echo, "echo", "cat")+"[env]\nX_env = \"UNSET\"\n")
	run := &recorder{result: sandbox.Result{Stdout: "3.50"}}
	r := f.open(run)
	got, err := call(t, r, "main", "price", `{"item":"apple"}`)
	if got != "3.50" || err != nil || len(run.got) != 1 {
		t.Fatalf("%q, %v", got, err)
	}
	c := run.got[0]
	if strings.Join(c.Program, " ") != "python3" || c.Script != "price.py" || strings.Join(c.Args, " ") != "apple" || string(c.Stdin) != `{"item":"apple"}` ||
		c.Env["SHOP"] != "berlin" || c.Env["KEY"] != "canary-4711" || c.Env["HERALD_CALL_ID"] != "call-1" || c.Limits.Time != 7*time.Second || c.Files == nil {
		t.Errorf("ran %+v", c)
	}
	for args, want := range map[string]string{
		`{"item":"A"}`: "do not fit", `{}`: "missing property", `{"item":"a","more":1}`: "additional", `[]`: "do not fit", `{`: "do not fit",
	} {
		if _, err := call(t, r, "main", "price", args); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", args, err)
		}
	}
	if len(run.got) != 1 {
		t.Error("it ran with arguments that do not fit")
	}
	if _, err := call(t, r, "main", "other", `{}`); err == nil || !strings.Contains(err.Error(), "UNSET is not set") {
		t.Errorf("got %v", err)
	}
	run.result = sandbox.Result{Stderr: "no such apple", Code: 4}
	if _, err := call(t, r, "main", "price", `{"item":"apple"}`); err == nil || err.Error() != "the command failed: it ended with exit code 4; stderr: no such apple" {
		t.Errorf("got %v", err)
	}
}

func TestRequest(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	var seen []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, _ := io.ReadAll(q.Body)
		mu.Lock()
		seen = append(seen, q.Method+" "+q.URL.EscapedPath()+"?"+q.URL.RawQuery+" key="+q.Header.Get("X-Key")+" id="+q.Header.Get("Idempotency-Key")+" "+string(body))
		mu.Unlock()
		switch {
		case strings.HasSuffix(q.URL.Path, "/gone"):
			http.Error(w, "no such thing", http.StatusNotFound)
		case strings.HasSuffix(q.URL.Path, "/away"):
			http.Redirect(w, q, "http://169.254.169.254/latest", http.StatusFound)
		case strings.HasSuffix(q.URL.Path, "/picture"):
			_, _ = w.Write([]byte{0xff, 0xd8})
		case strings.HasSuffix(q.URL.Path, "/long"):
			_, _ = w.Write([]byte(strings.Repeat("x", 1<<20+1)))
		case strings.HasSuffix(q.URL.Path, "/nothing"):
			w.WriteHeader(http.StatusNoContent)
		default:
			_, _ = io.WriteString(w, "fine")
		}
	}))
	defer s.Close()
	f := newTree(t)
	props := "[parameters.properties.item]\ntype = \"string\"\n[parameters.properties.tags]\ntype = \"array\"\n[parameters.properties.n]\ntype = \"integer\"\n"
	f.write("tools/get.toml", "description = \"d\"\n"+props+"[http]\nurl = \""+s.URL+"/items/{item}\"\nquery = { lang = \"de\", tag = \"{tags}\", about = \"no {n}\" }\nheaders = { X-Key_env = \"SHOP_KEY\" }\n")
	f.write("tools/post.toml", "description = \"d\"\n"+props+"[http]\nmethod = \"post\"\nurl = \""+s.URL+"/items/{item}\"\n")
	f.write("tools/form.toml", "description = \"d\"\n"+props+"[http]\nmethod = \"POST\"\nsend = \"form\"\nurl = \""+s.URL+"/items\"\n")
	f.write("tools/dead.toml", "description = \"d\"\n[http]\nurl = \"http://127.0.0.1:1/\"\nquery = { key_env = \"SHOP_KEY\" }\n")
	r := f.open(&recorder{})
	tests := []struct{ name, tool, args, want, seen, err string }{
		{"encoded parts", "get", `{"item":"a/../b?c#d&e=f g","tags":["x&y","z"],"n":3}`, "fine", "GET /items/a%2F..%2Fb%3Fc%23d&e=f%20g?about=no+3&lang=de&tag=x%26y&tag=z key=canary-4711 id= ", ""},
		{"left out", "get", `{"item":"a"}`, "fine", "GET /items/a?about=no+&lang=de key=canary-4711 id= ", ""},
		{"up", "get", `{"item":".."}`, "", "", `".." cannot be a part`},
		{"an empty part", "get", `{"item":""}`, "", "", "cannot be a part"},
		{"a part left out", "get", `{}`, "", "", "not left out"},
		{"JSON", "post", `{"item":"a","n":3,"tags":["x"]}`, "fine", `POST /items/a? key= id=call-1 {"n":3,"tags":["x"]}`, ""},
		{"a form", "form", `{"item":"a b","tags":["x","y"]}`, "fine", `POST /items? key= id=call-1 item=a+b&tags=x&tags=y`, ""},
		{"an error", "get", `{"item":"gone"}`, "", "GET", "404 Not Found: no such thing"},
		{"a redirect", "get", `{"item":"away"}`, "", "GET", "is not followed"},
		{"no text", "get", `{"item":"picture"}`, "", "GET", "is no text"},
		{"too long", "get", `{"item":"long"}`, "", "GET", "more than 1024 KiB"},
		{"nothing", "get", `{"item":"nothing"}`, strings.TrimPrefix(s.URL, "http://") + " answered 204 No Content without a text.", "GET", ""},
		{"nobody there", "dead", `{}`, "", "", "could not be asked"},
	}
	for _, tt := range tests {
		mu.Lock()
		seen = nil
		mu.Unlock()
		got, err := call(t, r, "main", tt.tool, tt.args)
		if got != tt.want || (err == nil) != (tt.err == "") || err != nil && !strings.Contains(err.Error(), tt.err) {
			t.Errorf("%s: %q, %v", tt.name, got, err)
		}
		if err != nil && strings.Contains(err.Error(), "canary") {
			t.Errorf("%s: the secret stands in %v", tt.name, err)
		}
		mu.Lock()
		if all := strings.Join(seen, "\n"); tt.seen == "" && all != "" || !strings.HasPrefix(all, tt.seen) || len(tt.seen) > 3 && all != tt.seen {
			t.Errorf("%s: the server saw %q, want %q", tt.name, all, tt.seen)
		}
		mu.Unlock()
	}
}

// The file shows a model neither the secret nor the name of its variable.
func TestNoSecretIsShown(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	f.write("tools/x.toml", "description = \"d\"\n[http]\nurl = \"https://shop.example/\"\nheaders = { X-Key_env = \"SHOP_KEY\" }\n")
	list, err := f.open(&recorder{}).Tools(t.Context(), tool.Scope{Agent: "main"})
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if b, err := json.Marshal(list[0].Spec); err != nil || strings.Contains(string(b), "SHOP_KEY") || strings.Contains(string(b), "canary") {
		t.Errorf("%s, %v", b, err)
	}
}

func TestReadAgain(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	r := f.open(&recorder{})
	desc := func() string {
		for _, i := range r.All() {
			if i.Short == "echo" {
				return i.Description
			}
		}
		return "missing"
	}
	steps := []struct {
		name, want, problem string
		do                  func()
	}{
		{"nothing", "missing", "", func() {}},
		{"new", "Echoes", "", func() { f.write("tools/echo.toml", echo) }},
		{"half written", "Echoes", "the version before it stays in force", func() { f.write("tools/echo.toml", "description = \"New\"\ncomm") }},
		{"mended", "New", "", func() { f.write("tools/echo.toml", strings.Replace(echo, "Echoes", "New", 1)) }},
		{"gone", "missing", "", func() { _ = os.Remove(filepath.Join(f.dir, "tools/echo.toml")) }},
		{"new and broken", "missing", "not valid TOML", func() { f.write("tools/echo.toml", "x") }},
	}
	for _, s := range steps {
		s.do()
		if got := desc(); got != s.want {
			t.Errorf("%s: %q, want %q", s.name, got, s.want)
		}
		if p := fmt.Sprint(r.Problems()); (s.problem == "") != (p == "[]") || !strings.Contains(p, s.problem) {
			t.Errorf("%s: problems %s, want %q", s.name, p, s.problem)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	for _, n := range []string{"current_time", "bad.name", "agent_x", "a--b", "a__b", strings.Repeat("x", 65), "ok-name_2"} {
		f.write("tools/"+n+".toml", echo)
	}
	f.write("tools/shout.TOML", echo)
	f.write("agents/researcher/tools/"+strings.Repeat("y", 60)+".toml", echo)
	f.write("agents/common/tools/no.toml", echo)
	r := f.open(&recorder{})
	if got := ids(t, r, "researcher"); got != "ok-name_2" {
		t.Errorf("got %q", got)
	}
	if p := r.Problems(); len(p) != 8 {
		t.Errorf("%d problems: %v", len(p), p)
	}
}

// Every caller with every selection at every seam: another agent's tool is nowhere.
func TestOwnershipMatrix(t *testing.T) {
	t.Parallel()
	f := newTree(t)
	owners := []string{"", "researcher", "writer", "a.b", "a_b"}
	short := func(o string) string { return "fetch" + strings.NewReplacer(".", "dot", "_", "line").Replace(o) }
	id := func(o string) string {
		if o == "" {
			return short(o)
		}
		return skills.OwnedID(o, short(o))
	}
	for _, o := range owners {
		dir := "tools/"
		if o != "" {
			dir = "agents/" + o + "/tools/"
		}
		f.write(dir+short(o)+".toml", echo)
	}
	f.write("tools/both.toml", echo)
	f.write("agents/researcher/tools/both.toml", echo)
	f.write("agents/writer/tools/both.toml", "broken")
	run := &recorder{result: sandbox.Result{Stdout: "ran"}}
	r := f.open(run)
	selections := map[string]func(o string) tool.Selection{
		"absent":     func(string) tool.Selection { return tool.Selection{} },
		"all":        func(string) tool.Selection { return tool.Selection{All: true} },
		"empty":      func(string) tool.Selection { return tool.Selection{Names: []string{}} },
		"id":         func(o string) tool.Selection { return tool.Selection{Names: []string{id(o)}} },
		"short name": func(o string) tool.Selection { return tool.Selection{Names: []string{short(o)}} },
	}
	for _, caller := range append(owners, "unknown") {
		list, err := r.Tools(t.Context(), tool.Scope{Agent: caller})
		if err != nil {
			t.Fatal(err)
		}
		for _, o := range owners {
			for name, of := range selections {
				sel := of(o)
				if sel.Names != nil {
					sel.Names = r.Resolve(caller, sel.Names)
				}
				may := name != "empty" && (o == "" || o == caller)
				has := false
				for _, tl := range tool.Usable([]tool.Selection{sel}, nil, list) {
					has = has || tl.Spec.Name == id(o) && (o == "" || strings.Contains(id(o), "--"))
				}
				// a.b and a_b are the same once sanitised; their tools have names of their own here.
				if has != may {
					t.Errorf("caller %q, owner %q, selection %s: shown %t", caller, o, name, has)
				}
			}
			before := len(run.got)
			_, err := call(t, r, caller, id(o), `{}`)
			if may := o == "" || o == caller; may != (err == nil) || may != (len(run.got) > before) {
				t.Errorf("caller %q, owner %q: run: %v", caller, o, err)
			}
		}
	}
	// A tool that came into other hands does not run either.
	own, _ := r.Tools(t.Context(), tool.Scope{Agent: "researcher"})
	for _, tl := range own {
		if strings.HasPrefix(tl.Spec.Name, "researcher--") {
			if _, err := tl.Run(t.Context(), tool.Call{Scope: tool.Scope{Agent: "writer"}, Arguments: json.RawMessage(`{}`)}); !errors.Is(err, tool.ErrUnknown) {
				t.Errorf("%s runs for writer: %v", tl.Spec.Name, err)
			}
		}
	}
	if got := fmt.Sprint(r.Unknown("researcher", []string{"both", "fetch", "researcher--both", "writer--both", "current_time", "fetchwriter", "nope"})); got != "[writer--both fetchwriter nope]" {
		t.Errorf("unknown to researcher: %s", got)
	}
	if got := fmt.Sprint(r.Unknown("writer", []string{"both", "writer--both"})); got != "[both writer--both]" {
		t.Errorf("unknown to writer, whose own one is broken: %s", got)
	}
	gone := r.Missing(func(p string) (string, error) { return "", fmt.Errorf("no %s", p) })
	if got := strings.Join(gone["echo"], " "); !strings.HasPrefix(got, "both fetch a_b--fetchadotb ") || len(gone) != 1 {
		t.Errorf("missing: %v", gone)
	}
	// Own first; a broken own one holds its name.
	for agent, want := range map[string]string{"researcher": "researcher--both", "writer": "writer--both", "lead": "both"} {
		if got := strings.Join(r.Resolve(agent, []string{"both", "both", "read_file"}), " "); got != want+" read_file" {
			t.Errorf("%s: %q", agent, got)
		}
	}
}

func TestForReal(t *testing.T) {
	t.Parallel()
	run := sandboxtest.Runner(t, sandbox.Options{})
	f := newTree(t)
	f.write("agents/researcher/tools/count.toml", "description = \"d\"\ncommand = [\"./count.sh\", \"{text}\"]\ntimeout_seconds = 120\n[parameters.properties.text]\ntype = \"string\"\n")
	f.write("agents/researcher/tools/count.sh", "printf '%s|' \"$1\"; cat")
	got, err := call(t, f.open(run), "researcher", "researcher--count", `{"text":"a b; id"}`)
	if got != `a b; id|{"text":"a b; id"}` || err != nil {
		t.Errorf("got %q, %v", got, err)
	}
}
