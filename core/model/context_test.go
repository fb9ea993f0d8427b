package model_test

import (
	"errors"
	"strings"
	"testing"

	"herald/core/model"
	"herald/core/model/modeltest"
)

func TestTokens(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		r    model.Request
		want int
	}{
		{"nothing", model.Request{}, 0},
		{"letters", model.Request{System: []string{strings.Repeat("a", 400)}}, 100},
		{"wide characters", model.Request{Messages: []model.Message{{Text: strings.Repeat("語", 50)}}}, 50},
		{"a call and a tool", model.Request{
			Messages: []model.Message{{Calls: []model.Call{{Name: "abcd", Arguments: []byte(`{"a":12}`)}}}},
			Tools:    []model.ToolSpec{{Name: "abcd", Description: "abcd", Parameters: []byte(`{"a":12}`)}},
		}, 7},
	} {
		if got := tc.r.Tokens(); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}

// A request goes to a model whose context can hold it, and when there is none it is not sent at all.
func TestContextTokensChoose(t *testing.T) {
	t.Parallel()
	small, large := modeltest.NewScripted(modeltest.Echo()), modeltest.NewScripted(modeltest.Echo())
	r := model.NewRouter(model.RouterOptions{})
	if err := r.Replace([]model.Configured{
		{Name: "small", Model: small, ContextTokens: 100, Priority: 1},
		{Name: "large", Model: large, ContextTokens: 1000, Priority: 2},
	}); err != nil {
		t.Fatal(err)
	}
	ask := func(letters int) (*model.Answer, error) {
		q := &model.Request{Messages: []model.Message{{Role: model.User, Text: strings.Repeat("a", letters)}}, NewCallID: func() string { return "1" }}
		for c, err := range r.For("", "", "").Generate(t.Context(), q) {
			if err != nil || c.Done != nil {
				return c.Done, err
			}
		}
		return nil, nil
	}
	for _, tc := range []struct {
		letters      int
		small, large int
		fails        bool
	}{{40, 1, 0, false}, {2000, 1, 1, false}, {40_000, 1, 1, true}} {
		_, err := ask(tc.letters)
		e, _ := errors.AsType[*model.Error](err)
		if (err != nil) != tc.fails || tc.fails && (e == nil || e.Kind != model.ContextTooLong) {
			t.Errorf("%d letters: %v", tc.letters, err)
		}
		if small.Calls() != tc.small || large.Calls() != tc.large {
			t.Errorf("%d letters: %d and %d calls, want %d and %d", tc.letters, small.Calls(), large.Calls(), tc.small, tc.large)
		}
	}
}
