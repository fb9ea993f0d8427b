package slack

import (
	"encoding/json"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "write the manifests anew")

// sdkMethods are the methods behind the SDK's functions that this package calls.
var sdkMethods = map[string]string{
	"AuthTestContext": identityMethod, "PostMessageContext": postMethod, "PostEphemeralContext": ephemeralMethod, "UpdateMessageContext": updateMethod,
	"StartStreamContext": startMethod, "AppendStreamContext": appendMethod, "StopStreamContext": stopMethod,
}

// source is the package's own code, without its tests.
func source(t *testing.T) []*ast.File {
	t.Helper()
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	var out []*ast.File
	for _, n := range names {
		if strings.HasSuffix(n, "_test.go") || n == "scopes.go" {
			continue
		}
		f, err := parser.ParseFile(gotoken.NewFileSet(), n, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, f)
	}
	return out
}

// called are the methods that the code calls: named by a constant, or behind a function of the SDK.
func called(t *testing.T) []string {
	method := regexp.MustCompile(`^(apps|assistant|auth|bots|chat|conversations|files|reactions|team|users|views)\.[a-zA-Z.]+$`)
	found := map[string]bool{}
	for _, f := range source(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if s, err := strconv.Unquote(n.Value); err == nil && method.MatchString(s) {
					found[s] = true
				}
			case *ast.SelectorExpr:
				if x, ok := n.X.(*ast.SelectorExpr); ok && x.Sel.Name == "api" {
					m, known := sdkMethods[n.Sel.Name]
					if !known {
						t.Errorf("the code calls %s of the SDK; say in sdkMethods which method that is", n.Sel.Name)
					}
					found[m] = true
				}
			}
			return true
		})
	}
	return slices.Sorted(maps.Keys(found))
}

// handled are the events that the code tells apart.
func handled(t *testing.T) []string {
	found := map[string]bool{}
	for _, f := range source(t) {
		ast.Inspect(f, func(n ast.Node) bool {
			sw, ok := n.(*ast.SwitchStmt)
			if !ok {
				return true
			}
			tag, ok := sw.Tag.(*ast.SelectorExpr)
			if x, isIdent := tagIdent(tag); !ok || tag.Sel.Name != "Type" || !isIdent || x != "e" {
				return true
			}
			for _, c := range sw.Body.List {
				for _, e := range c.(*ast.CaseClause).List {
					if lit, ok := e.(*ast.BasicLit); ok {
						name, _ := strconv.Unquote(lit.Value)
						found[name] = true
					}
				}
			}
			return true
		})
	}
	if found["message"] {
		delete(found, "message")
		for _, kind := range []string{"channels", "groups", "im", "mpim"} {
			found["message."+kind] = true
		}
	}
	return slices.Sorted(maps.Keys(found))
}

func tagIdent(s *ast.SelectorExpr) (string, bool) {
	if s == nil {
		return "", false
	}
	x, ok := s.X.(*ast.Ident)
	if !ok {
		return "", false
	}
	return x.Name, true
}

func TestScopesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	methods := slices.Clone(freeMethods)
	for _, s := range BotScopes() {
		if len(s.Methods)+len(s.Events) == 0 && s.Name != "commands" {
			t.Errorf("nothing needs the scope %s", s.Name)
		}
		if s.Why == "" {
			t.Errorf("nobody learns what %s is for", s.Name)
		}
		methods = append(methods, s.Methods...)
	}
	slices.Sort(methods)
	if diff := cmp.Diff(called(t), slices.Compact(methods)); diff != "" {
		t.Errorf("methods that the code calls (-) and that the scopes name (+):\n%s", diff)
	}
	if diff := cmp.Diff(handled(t), BotEvents()); diff != "" {
		t.Errorf("events that the code handles (-) and that the manifest subscribes to (+):\n%s", diff)
	}
}

func manifests() map[string]ManifestOptions {
	return map[string]ManifestOptions{
		"manifest.json":      {Mode: Socket},
		"manifest-http.json": {Mode: HTTP, RequestURL: "https://herald.example.org/slack/events"},
	}
}

func TestManifestsAreUpToDate(t *testing.T) {
	t.Parallel()
	for name, o := range manifests() {
		path := filepath.Join("..", "..", "deploy", "slack", name)
		got, err := Manifest(o)
		if err != nil {
			t.Fatal(err)
		}
		if *update {
			if err := os.WriteFile(path, got, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), string(got)); diff != "" {
			t.Errorf("%s differs; write it anew with -update:\n%s", path, diff)
		}
	}
	for name, o := range map[string]ManifestOptions{"long name": {Name: strings.Repeat("x", 36)}, "http without an address": {Mode: HTTP}, "http without TLS": {Mode: HTTP, RequestURL: "http://x"}} {
		if _, err := Manifest(o); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestManifestFitsTheSchema checks the manifests against Slack's published schema. HERALD_SLACK_SCHEMA names it where it does not lie beside the project.
func TestManifestFitsTheSchema(t *testing.T) {
	t.Parallel()
	path := os.Getenv("HERALD_SLACK_SCHEMA")
	if path == "" {
		path = filepath.Join("..", "..", "..", "shared", "data", "slack-manifest.schema.json")
	}
	raw, err := os.ReadFile(path)
	if err != nil {
		if os.Getenv("CI") != "" {
			t.Fatalf("the schema is needed here: %v; name it in HERALD_SLACK_SCHEMA", err)
		}
		t.Logf("not checked against the schema, which is not at hand: %v", err)
		return
	}
	var root map[string]any
	if err := json.Unmarshal(raw, &root); err != nil {
		t.Fatal(err)
	}
	for name, o := range manifests() {
		text, err := Manifest(o)
		if err != nil {
			t.Fatal(err)
		}
		var m map[string]any
		if err := json.Unmarshal(text, &m); err != nil {
			t.Fatal(err)
		}
		for _, fault := range fits(root, root, m, "") {
			t.Errorf("%s: %s", name, fault)
		}
		// The check itself must be able to fail.
		m["surprise"] = true
		m["display_information"].(map[string]any)["name"] = ""
		if got := fits(root, root, m, ""); len(got) != 2 {
			t.Errorf("%s with two mistakes has the faults %q", name, got)
		}
	}
}

// fits checks a value against the part of JSON Schema that Slack's uses.
func fits(root, schema map[string]any, v any, at string) (faults []string) {
	if ref, ok := schema["$ref"].(string); ok {
		defs, _ := root["definitions"].(map[string]any)
		target, ok := defs[strings.TrimPrefix(ref, "#/definitions/")].(map[string]any)
		if !ok {
			return []string{at + ": the schema refers to " + ref + ", which is not there"}
		}
		return fits(root, target, v, at)
	}
	bound := func(key string, n int, above bool) {
		if limit, ok := schema[key].(float64); ok && (above && n > int(limit) || !above && n < int(limit)) {
			faults = append(faults, fmt.Sprintf("%s: %d breaks %s %v", at, n, key, limit))
		}
	}
	wrong := func(want string) []string { return []string{fmt.Sprintf("%s: %v is no %s", at, v, want)} }
	switch schema["type"] {
	case "object":
		o, ok := v.(map[string]any)
		if !ok {
			return wrong("object")
		}
		props, _ := schema["properties"].(map[string]any)
		for _, r := range list[string](encoded(schema["required"])) {
			if _, ok := o[r]; !ok {
				faults = append(faults, at+": lacks "+r)
			}
		}
		for k, each := range o {
			p, known := props[k].(map[string]any)
			switch {
			case known:
				faults = append(faults, fits(root, p, each, at+"/"+k)...)
			case schema["additionalProperties"] == false:
				faults = append(faults, at+": does not know "+k)
			}
		}
	case "array":
		l, ok := v.([]any)
		if !ok {
			return wrong("array")
		}
		bound("maxItems", len(l), true)
		bound("minItems", len(l), false)
		items, _ := schema["items"].(map[string]any)
		for i, each := range l {
			faults = append(faults, fits(root, items, each, fmt.Sprint(at, "/", i))...)
		}
	case "string":
		s, ok := v.(string)
		if !ok {
			return wrong("string")
		}
		bound("maxLength", utf8.RuneCountInString(s), true)
		bound("minLength", utf8.RuneCountInString(s), false)
		if p, ok := schema["pattern"].(string); ok && !regexp.MustCompile(p).MatchString(s) {
			faults = append(faults, at+": does not match "+p)
		}
	case "boolean":
		if _, ok := v.(bool); !ok {
			return wrong("boolean")
		}
	case "integer":
		if _, ok := v.(float64); !ok {
			return wrong("integer")
		}
	}
	return faults
}

func encoded(v any) json.RawMessage {
	raw, _ := json.Marshal(v)
	return raw
}

// TestGuideNamesEachScope: whoever installs the app learns what each right is for.
func TestGuideNamesEachScope(t *testing.T) {
	t.Parallel()
	raw, err := os.ReadFile(filepath.Join("..", "..", "docs", "slack.md"))
	if err != nil {
		t.Fatal(err)
	}
	guide := string(raw)
	for _, s := range BotScopes() {
		if !strings.Contains(guide, "| `"+s.Name+"` | "+s.Why+" |") {
			t.Errorf("docs/slack.md lacks the row of %s: %s", s.Name, s.Why)
		}
	}
	if n := strings.Count(guide, ":history` |") + strings.Count(guide, ":read` |") + strings.Count(guide, ":write` |"); n != len(BotScopes())-1 {
		t.Errorf("docs/slack.md has %d rows of scopes beside commands, the manifest %d", n, len(BotScopes())-1)
	}
}
