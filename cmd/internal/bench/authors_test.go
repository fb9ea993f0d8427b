package main

import (
	"strings"
	"testing"
)

// The pass with agents and skills shows that they are there: the request grows by what the prompt lists of them.
func TestAuthors(t *testing.T) {
	t.Parallel()
	bare, err := withAuthors(t.Context(), authorsPlan{Messages: 10}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	full, err := withAuthors(t.Context(), authorsPlan{Agents: 20, Skills: 40, Messages: 10}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if len(full.first) != 10 || full.tokens < bare.tokens+20*5 {
		t.Errorf("%d messages, requests of %d and %d tokens", len(full.first), bare.tokens, full.tokens)
	}
	var out strings.Builder
	if err := measureAuthors(t.Context(), authorsPlan{}, t.TempDir(), &out); err != nil || out.Len() > 0 {
		t.Errorf("without messages it measures nothing: %v, %q", err, out.String())
	}
}
