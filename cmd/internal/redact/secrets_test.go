package redact_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"herald/cmd/internal/redact"
)

// However a text is cut into pieces, what is shown of it is what is made of the whole.
func TestScanIsClean(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var s redact.Secrets
		s.Set("abcabcd", "bcabcdbc", "abcabcdxy", "cdcdcd")
		pieces := rapid.SliceOf(rapid.StringMatching(`[abcdxy]{0,9}`)).Draw(t, "pieces")
		whole := strings.Join(pieces, "")
		shown, left := "", ""
		for i, p := range pieces {
			var more string
			more, left = s.Scan(left+p, i == len(pieces)-1)
			shown += more
		}
		if want := s.Clean(whole); shown != want || left != "" {
			t.Fatalf("%q in pieces %q: shown %q, left %q; want %q", whole, pieces, shown, left, want)
		}
	})
}

func TestScanHoldsBackNoMoreThanItMust(t *testing.T) {
	t.Parallel()
	var s redact.Secrets
	s.Set("sk-secret", "sk-secret-longer")
	for _, tc := range []struct{ text, shown, left string }{
		{"plain text", "plain text", ""},
		{"the sk-sec", "the ", "sk-sec"},
		{"the sk-secret", "the ", "sk-secret"}, // the longer one may follow
		{"the sk-secret.", "the " + redact.Placeholder + ".", ""},
		{"sk-sk-secret-longer s", "sk-" + redact.Placeholder + " ", "s"},
	} {
		shown, left := s.Scan(tc.text, false)
		if shown != tc.shown || left != tc.left {
			t.Errorf("Scan(%q) = %q, %q; want %q, %q", tc.text, shown, left, tc.shown, tc.left)
		}
	}
}

// A secret is found in the quotes of Go and of JSON.
func TestCleanQuoted(t *testing.T) {
	t.Parallel()
	const key = `pa"ss\w<ord`
	var s redact.Secrets
	s.Set(key)
	encoded, err := json.Marshal(map[string]string{"k": key})
	if err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{string(encoded), fmt.Sprintf("%q", key), `{"k":"pa\"ss\\w<ord"}`} {
		if got := s.Clean(text); !strings.Contains(got, redact.Placeholder) || strings.Contains(got, "ord") {
			t.Errorf("Clean(%s) = %s", text, got)
		}
	}
}

func BenchmarkClean(b *testing.B) {
	var s redact.Secrets
	s.Set("sk-proj-0123456789abcdefghijklmnopqrstuvwxyz", "redis-password")
	text := strings.Repeat("The quick brown fox jumps over the lazy dog. ", 200)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if s.Clean(text) != text {
			b.Fatal("changed")
		}
	}
}
