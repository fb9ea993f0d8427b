package authored

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pelletier/go-toml/v2"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// Limits of one file and its calls.
const (
	maxFile        = 256 << 10
	maxDescription = 4096
	maxWords       = 64
	maxPairs       = 64
	defaultTime    = 30 * time.Second
	maxTime        = 300 * time.Second
)

// fault is what is wrong with a file, and in which line.
type fault struct {
	line int
	text string
}

func (f fault) Error() string { return f.text }

func faultf(format string, args ...any) error { return fault{text: fmt.Sprintf(format, args...)} }

// written is a file as it stands.
type written struct {
	Name           string            `toml:"name"`
	Description    string            `toml:"description"`
	Repeatable     bool              `toml:"repeatable"`
	TimeoutSeconds *int64            `toml:"timeout_seconds"`
	Parameters     map[string]any    `toml:"parameters"`
	Command        []string          `toml:"command"`
	Env            map[string]string `toml:"env"`
	HTTP           *writtenHTTP      `toml:"http"`
}

type writtenHTTP struct {
	Method  string            `toml:"method"`
	URL     string            `toml:"url"`
	Query   map[string]string `toml:"query"`
	Headers map[string]string `toml:"headers"`
	Send    string            `toml:"send"`
}

// spec is a file that was understood.
type spec struct {
	description string
	parameters  json.RawMessage
	names       map[string]bool // of the parameters
	schema      *jsonschema.Schema
	repeatable  bool
	timeout     time.Duration
	command     []string
	env         []pair
	http        *request
}

// pair is a name with a value, or with the variable that holds it.
type pair struct{ name, value, variable string }

// request is an HTTP request with its open places.
type request struct {
	method  string
	address *url.URL
	path    []string // the segments with their open places
	query   []pair
	headers []pair
	send    string // "json", "form" or "none"
}

// place is an open place: "{name}".
var place = regexp.MustCompile(`\{([A-Za-z_][A-Za-z0-9_]*)\}`)

// whole reports whether a text is one open place and nothing else.
func whole(s string) (string, bool) {
	m := place.FindStringSubmatch(s)
	if m == nil || m[0] != s {
		return "", false
	}
	return m[1], true
}

// parse reads a file. It does no I/O. Its error is a fault.
func parse(name string, src []byte) (*spec, error) {
	if !utf8.Valid(src) {
		return nil, faultf("the file is not UTF-8; save it in that encoding")
	}
	var w written
	dec := toml.NewDecoder(bytes.NewReader(src)).DisallowUnknownFields()
	if err := dec.Decode(&w); err != nil {
		return nil, tomlFault(err)
	}
	s := &spec{description: strings.TrimSpace(w.Description), repeatable: w.Repeatable, timeout: defaultTime}
	switch {
	case w.Name != "" && w.Name != name:
		return nil, faultf("the tool calls itself %q and its file %q; make both the same, or leave the name out", short(w.Name), name)
	case s.description == "":
		return nil, faultf(`there is no description; add description = "what the tool does and when it is of use"`)
	case utf8.RuneCountInString(s.description) > maxDescription:
		return nil, faultf("the description has %d characters, at most %d", utf8.RuneCountInString(s.description), maxDescription)
	case len(w.Command) == 0 && w.HTTP == nil:
		return nil, faultf(`the tool does nothing; add command = ["program", "{parameter}"], or a table [http] with a url`)
	case len(w.Command) > 0 && w.HTTP != nil:
		return nil, faultf("the tool has a command and a request; make two tools of them")
	case w.HTTP != nil && len(w.Env) > 0:
		return nil, faultf("env is for commands; a request has [http.headers] and [http.query]")
	}
	if t := w.TimeoutSeconds; t != nil {
		if *t < 1 || *t > int64(maxTime/time.Second) {
			return nil, faultf("timeout_seconds is %d; it can be 1 to %d", *t, int64(maxTime/time.Second))
		}
		s.timeout = time.Duration(*t) * time.Second
	}
	if err := s.takeParameters(w.Parameters); err != nil {
		return nil, err
	}
	if w.HTTP != nil {
		return s, s.takeHTTP(w.HTTP)
	}
	return s, s.takeCommand(&w)
}

// tomlFault is what the parser says, with the line.
func tomlFault(err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) && len(strict.Errors) > 0 {
		e := strict.Errors[0]
		line, _ := e.Position()
		return fault{line, fmt.Sprintf("there is no setting %q; there are: name, description, repeatable, timeout_seconds, parameters, command, env, http", short(strings.Join(e.Key(), ".")))}
	}
	var dec *toml.DecodeError
	if errors.As(err, &dec) {
		line, _ := dec.Position()
		return fault{line, "the file is not valid TOML: " + strings.TrimPrefix(short(dec.Error()), "toml: ")}
	}
	return faultf("the file is not valid TOML: %s", short(strings.TrimPrefix(err.Error(), "toml: ")))
}

// takeParameters checks the JSON Schema of the parameters.
func (s *spec) takeParameters(p map[string]any) error {
	p = maps.Clone(p)
	if p == nil {
		p = map[string]any{}
	}
	if _, ok := p["type"]; !ok {
		p["type"] = "object"
	}
	if p["type"] != "object" {
		return faultf(`parameters is a JSON Schema of type "object", with a table [parameters.properties.NAME] for each parameter`)
	}
	if _, ok := p["properties"]; !ok {
		p["properties"] = map[string]any{}
	}
	if _, ok := p["additionalProperties"]; !ok {
		p["additionalProperties"] = false
	}
	props, ok := p["properties"].(map[string]any)
	if !ok {
		return faultf("parameters.properties is no table")
	}
	s.names = map[string]bool{}
	for n, v := range props {
		if _, ok := v.(map[string]any); !ok {
			return faultf(`parameters.properties.%s is no table; write [parameters.properties.%s] and below it type = "string"`, short(n), short(n))
		}
		s.names[n] = true
	}
	raw, err := json.Marshal(p)
	if err != nil {
		return faultf("parameters is no JSON Schema: %s", short(err.Error()))
	}
	s.parameters = raw
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return faultf("parameters is no JSON Schema: %s", short(err.Error()))
	}
	c := jsonschema.NewCompiler()
	c.UseLoader(nothing{})
	if err = c.AddResource("parameters.json", doc); err == nil {
		s.schema, err = c.Compile("parameters.json")
	}
	if err != nil {
		return faultf("parameters is no JSON Schema: %s", short(strings.Join(strings.Fields(err.Error()), " ")))
	}
	if req, ok := p["required"].([]any); ok {
		for _, r := range req {
			if n, ok := r.(string); ok && !s.names[n] {
				return faultf("parameters.required names %q, which is not among the properties", short(n))
			}
		}
	}
	return nil
}

// nothing loads no schema from elsewhere.
type nothing struct{}

// Load implements [jsonschema.URLLoader].
func (nothing) Load(string) (any, error) {
	return nil, errors.New("schemas of other files are not read; write it out")
}

// known reports the first open place of a text that is a parameter, and fails for one that is none.
func (s *spec) known(text string) error {
	for _, m := range place.FindAllStringSubmatch(text, -1) {
		if !s.names[m[1]] {
			return faultf("%q names the parameter %q, which is not among parameters.properties", short(text), m[1])
		}
	}
	return nil
}

// open reports whether a text has an open place for a parameter.
func (s *spec) open(text string) bool {
	return slices.ContainsFunc(place.FindAllStringSubmatch(text, -1), func(m []string) bool { return s.names[m[1]] })
}

func (s *spec) takeCommand(w *written) error {
	if len(w.Command) > maxWords {
		return faultf("the command has %d words, at most %d", len(w.Command), maxWords)
	}
	scripts := 0
	for i, word := range w.Command {
		n, ok := whole(word)
		switch {
		case strings.ContainsRune(word, 0):
			return faultf("word %d of the command holds a zero byte", i+1)
		case ok && i == 0:
			return faultf("the program of a command cannot be a parameter")
		case ok && !s.names[n]:
			return faultf("the command names the parameter %q, which is not among parameters.properties", n)
		case !ok && s.open(word):
			return faultf("%q: a parameter is a word of its own, so that no value can become something else; write it as \"{%s}\" alone", short(word), place.FindStringSubmatch(word)[1])
		case strings.HasPrefix(word, "./"):
			if scripts++; scripts > 1 {
				return faultf("the command names two files beside its own; one is possible")
			}
			if rel := word[2:]; rel == "" || strings.Contains("/"+rel+"/", "/../") || strings.Contains(rel, "//") {
				return faultf("%q is no file beside the tool's own", short(word))
			}
		}
	}
	s.command = w.Command
	var err error
	s.env, err = pairs("env", w.Env, regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`))
	return err
}

// pairs takes a table of names and values. A name that ends with _env has the name of a variable instead of a value.
func pairs(table string, m map[string]string, form *regexp.Regexp) ([]pair, error) {
	if len(m) > maxPairs {
		return nil, faultf("%s has %d entries, at most %d", table, len(m), maxPairs)
	}
	var out []pair
	for _, k := range slices.Sorted(maps.Keys(m)) {
		p := pair{name: k, value: m[k]}
		if base, ok := strings.CutSuffix(k, "_env"); ok {
			p = pair{name: base, variable: m[k]}
			if !variable.MatchString(p.variable) {
				return nil, faultf("%s.%s must name an environment variable, such as SHOP_TOKEN, which holds the value", table, short(k))
			}
		}
		if !form.MatchString(p.name) || strings.ContainsAny(p.value, "\x00\r\n") {
			return nil, faultf("%s.%s: the name or the value holds a character that it cannot have", table, short(k))
		}
		out = append(out, p)
	}
	return out, nil
}

var (
	variable   = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`)
	headerName = regexp.MustCompile("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")
	openServer = regexp.MustCompile(`^[a-zA-Z]+://[^/]*\{`)
	queryName  = regexp.MustCompile(`^[^\x00-\x1f]+$`)
)

func (s *spec) takeHTTP(w *writtenHTTP) error {
	r := &request{method: strings.ToUpper(w.Method), send: w.Send}
	if r.method == "" {
		r.method = http.MethodGet
	}
	body := false
	switch r.method {
	case http.MethodGet, http.MethodHead:
	case http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete:
		body = r.method != http.MethodDelete
	default:
		return faultf("http.method is %q; there are GET, HEAD, POST, PUT, PATCH and DELETE", short(w.Method))
	}
	switch {
	case r.send == "" && body:
		r.send = "json"
	case r.send == "":
		r.send = "none"
	case r.send != "json" && r.send != "form" && r.send != "none":
		return faultf(`http.send is %q; there are "json", "form" and "none"`, short(r.send))
	case r.send != "none" && (r.method == http.MethodGet || r.method == http.MethodHead):
		return faultf("a %s request has no body; leave http.send out, and name the parameters in http.url or [http.query]", r.method)
	}
	if openServer.MatchString(w.URL) {
		return faultf("the server in http.url cannot be a parameter")
	}
	addr, err := url.Parse(w.URL)
	if err != nil || addr.Scheme != "http" && addr.Scheme != "https" || addr.Host == "" {
		return faultf("http.url must be an address such as https://shop.example/items/{item}")
	}
	switch {
	case addr.User != nil:
		return faultf("http.url holds a name or a password; put secrets into [http.headers] as NAME_env")
	case place.MatchString(addr.RawQuery):
		return faultf("parameters behind \"?\" stand in [http.query]: a line such as q = \"{words}\"")
	case addr.Fragment != "":
		return faultf("http.url has a part behind \"#\", which is never sent; leave it out")
	}
	if err := s.known(addr.Path); err != nil {
		return err
	}
	r.path = strings.Split(addr.Path, "/")
	r.address = addr
	if r.query, err = pairs("http.query", w.Query, queryName); err != nil {
		return err
	}
	for _, q := range r.query {
		if err := s.known(q.value); err != nil {
			return err
		}
	}
	if r.headers, err = pairs("http.headers", w.Headers, headerName); err != nil {
		return err
	}
	for _, h := range r.headers {
		switch strings.ToLower(h.name) {
		case "host", "content-length", "transfer-encoding", "connection":
			return faultf("http.headers.%s is set by the request itself; leave it out", h.name)
		}
		if s.open(h.value) {
			return faultf("http.headers.%s: a parameter cannot stand in a header; put it into http.url, [http.query] or the body", h.name)
		}
	}
	s.http = r
	return nil
}

// short keeps a foreign text printable and brief.
func short(s string) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == utf8.RuneError {
			return '?'
		}
		return r
	}, s)
	if utf8.RuneCountInString(s) > 160 {
		return string([]rune(s)[:160]) + "…"
	}
	return s
}
