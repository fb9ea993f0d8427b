package config

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// computed are the exported fields that no key sets directly.
var computed = []string{
	"File", "Store.Password", "Store.SentinelPassword", "Store.Target", "Providers.Name", "Providers.APIKey", "Models.Name", "Models.Implied", "Rules.Name", "Groups.Name", "Roles.Name", "Web.SearchKey",
	"Slack.BotToken", "Slack.AppToken", "Slack.SigningSecret",
}

// fieldKeys walks the configuration's type and returns the key of each field.
func fieldKeys(t *testing.T, typ reflect.Type, prefix, fieldPrefix string) []string {
	var keys []string
	for field := range typ.Fields() {
		if !field.IsExported() {
			continue
		}
		tag := field.Tag.Get("key")
		if tag == "" {
			if !slices.Contains(computed, fieldPrefix+field.Name) {
				t.Errorf("field %s%s has no key and is not computed", fieldPrefix, field.Name)
			}
			continue
		}
		switch {
		case field.Type.Kind() == reflect.Struct:
			keys = append(keys, fieldKeys(t, field.Type, prefix+tag+".", fieldPrefix+field.Name+".")...)
		case field.Type.Kind() == reflect.Slice && field.Type.Elem().Kind() == reflect.Struct:
			keys = append(keys, fieldKeys(t, field.Type.Elem(), prefix+tag+".*.", fieldPrefix+field.Name+".")...)
		default:
			keys = append(keys, prefix+tag)
		}
	}
	return keys
}

func TestTableAndFieldsAgree(t *testing.T) {
	t.Parallel()
	fields := fieldKeys(t, reflect.TypeFor[Config](), "", "")
	var rows []string
	for _, s := range settings() {
		rows = append(rows, s.key)
	}
	slices.Sort(fields)
	slices.Sort(rows)
	if diff := cmp.Diff(rows, fields); diff != "" {
		t.Errorf("keys of the table (-) and of the fields (+) differ:\n%s", diff)
	}
}

func TestEachRowIsComplete(t *testing.T) {
	t.Parallel()
	envs := map[string]string{}
	for _, s := range settings() {
		t.Run(s.key, func(t *testing.T) {
			if !strings.HasSuffix(s.doc, ".") {
				t.Errorf("the purpose is no sentence: %q", s.doc)
			}
			if s.optional != (s.def == "") || s.optional != (s.sample != "") {
				t.Errorf("a key has either a default (%q) or a sample (%q)", s.def, s.sample)
			}
			shown := strings.NewReplacer("{xdg_data}", "/data", "{data_dir}", "/data/herald").Replace(s.def + s.sample)
			if _, f := s.decode(shown, true); f != nil {
				t.Errorf("%q breaks the key's own rules: %s", shown, f.text)
			}
			if isNumber := s.kind == whole || s.kind == decimal; isNumber != (s.max > 0) {
				t.Errorf("a number needs bounds, and nothing else has them: %v to %v", s.min, s.max)
			}
			if other, taken := envs[s.envFor("x")]; taken {
				t.Errorf("has the same variable as %s", other)
			}
			envs[s.envFor("x")] = s.key
		})
	}
}

// Every field must take a value of its row's kind, with the unit applied.
func TestEachRowFillsItsField(t *testing.T) {
	t.Parallel()
	values := map[kind]any{
		text: "a", path: "/a", whole: 7, decimal: 1.5, truth: true, list: []string{"a", "b"}, envName: "A", secretFile: "/a",
	}
	for _, s := range settings() {
		t.Run(s.key, func(t *testing.T) {
			t.Parallel()
			root := reflect.ValueOf(&Config{}).Elem()
			switch {
			case strings.HasPrefix(s.key, providersKey):
				root = reflect.ValueOf(&Provider{}).Elem()
			case strings.HasPrefix(s.key, modelsKey+"."):
				root = reflect.ValueOf(&Model{}).Elem()
			case strings.HasPrefix(s.key, rulesKey+"."):
				root = reflect.ValueOf(&Rule{}).Elem()
			case strings.HasPrefix(s.key, rolesKey+"."):
				root = reflect.ValueOf(&Role{}).Elem()
			case strings.HasPrefix(s.key, groupsKey+"."):
				root = reflect.ValueOf(&Group{}).Elem()
			}
			field := fieldAt(root, s)
			assign(field, s, values[s.kind])
			got := reflect.Indirect(field).Interface()
			want := values[s.kind]
			switch s.unit {
			case "milliseconds":
				want = 7 * time.Millisecond
			case "seconds":
				want = 7 * time.Second
			case "minutes":
				want = 7 * time.Minute
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("the field differs (-want +got):\n%s", diff)
			}
		})
	}
}

// A secret must never be a text field: keys that end like secrets are rows of
// the two kinds whose values no problem repeats.
func TestSecretKeysAreNeverRepeated(t *testing.T) {
	t.Parallel()
	for _, s := range settings() {
		if (strings.HasSuffix(s.key, "_env") || s.leaf() != "history_file" && strings.HasSuffix(s.key, "_file")) != s.secret() {
			t.Errorf("%s: secret() is %v", s.key, s.secret())
		}
	}
}

func TestDistance(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, a, b string
		want       int
	}{
		{"equal", "url", "url", 0},
		{"swap of neighbours", "ulr", "url", 1},
		{"insert", "modl", "model", 1},
		{"delete", "modeel", "model", 1},
		{"replace", "modal", "model", 1},
		{"all", "abc", "xyz", 3},
		{"against nothing", "", "url", 3},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := distance(tt.a, tt.b); got != tt.want {
				t.Errorf("distance(%q, %q) = %d, want %d", tt.a, tt.b, got, tt.want)
			}
			if got := distance(tt.b, tt.a); got != tt.want {
				t.Errorf("distance(%q, %q) = %d, want %d", tt.b, tt.a, got, tt.want)
			}
		})
	}
}

func TestNearest(t *testing.T) {
	t.Parallel()
	candidates := []string{"url", "wait_replicas", "max_output_tokens", "base_url", "api_key_env"}
	for word, want := range map[string]string{
		"ulr":           "url",
		"wait-replicas": "wait_replicas",
		"waitreplica":   "wait_replicas",
		"BASE_URL":      "base_url",
		"max_tokens":    "max_output_tokens",
		"colour":        "",
		"x":             "",
		"":              "",
	} {
		if got := nearest(word, candidates); got != want {
			t.Errorf("nearest(%q) = %q, want %q", word, got, want)
		}
	}
}
