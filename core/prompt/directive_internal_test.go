package prompt

import (
	"regexp"
	"strings"
	"testing"
)

// The same as patterns, which say it shorter and take some hundred times as long (see the benchmark).
var (
	directivePattern = regexp.MustCompile(`<!--[ \t]*([A-Z][A-Z0-9_]*)[ \t]*-->`)
	labelPattern     = regexp.MustCompile(`(?m)^[ \t>#*+-]*(?:[^\n.:!?<]{1,60}:\**)?[ \t]*` + directivePattern.String() + `[ \t]*(?:\n|\z)`)
)

func expandByPattern(text string, value func(string) string) string {
	text = labelPattern.ReplaceAllStringFunc(text, func(m string) string {
		if value(directivePattern.FindStringSubmatch(m)[1]) == "" {
			return ""
		}
		return m
	})
	return directivePattern.ReplaceAllStringFunc(text, func(m string) string { return value(directivePattern.FindStringSubmatch(m)[1]) })
}

// FuzzExpand holds the scan by hand to the patterns. The key A has a value that looks like a directive itself, B one of two lines; others have none.
func FuzzExpand(f *testing.F) {
	long := strings.Repeat("ä", 60)
	for _, text := range []string{
		"", "plain", "<!-- A -->", "<!--C-->", "- **Notes:** <!-- C -->\nnext", "- Notes: <!-- C --> \t\nnext", "a <!-- C -->\n", "a: b: <!-- C -->\n", ": <!-- C -->\n",
		"<!-- C --><!-- A -->\n", "x: <!-- A --><!-- C -->\n", "<!-- C -->\n<!-- C -->", "<!--<!-- B -->", "<!-- c -->", "<!-- C_9 -->\n\n", "<!-- 9C -->\n", "<!-- C D -->",
		long + ": <!-- C -->\n", "x" + long + ": <!-- C -->\n", "- " + long + ": <!-- C -->\n", "# <!-- C -->", "a.b: <!-- C -->\n", "\xff: <!-- C -->\r\n", "<!-- C -->\r\n", "<!--\nC -->",
	} {
		f.Add(text)
	}
	values := map[string]string{"A": "<!-- B -->", "B": "one\ntwo"}
	value := func(key string) string { return values[key] }
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := Expand(text, value), expandByPattern(text, value); got != want {
			t.Errorf("%q becomes\n%q, want\n%q", text, got, want)
		}
		var keys []string
		seen := map[string]bool{}
		for _, m := range directivePattern.FindAllStringSubmatch(text, -1) {
			if !seen[m[1]] {
				seen[m[1]] = true
				keys = append(keys, m[1])
			}
		}
		if got := Keys(text); strings.Join(got, " ") != strings.Join(keys, " ") {
			t.Errorf("%q has the keys %q, want %q", text, got, keys)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	text := strings.Repeat("You help people, and say plainly what you did. What you do not know you look up.\n", 80) + "- **Notes:** <!-- C -->\n<!-- B -->\n"
	for name, expand := range map[string]func(string, func(string) string) string{"scan": Expand, "pattern": expandByPattern} {
		b.Run(name, func(b *testing.B) {
			for range b.N {
				expand(text, func(key string) string { return map[string]string{"B": "x"}[key] })
			}
		})
	}
}
