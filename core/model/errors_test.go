package model_test

import (
	"errors"
	"io"
	"testing"

	"herald/core/model"
)

func TestErrorSaysWhatToDo(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name      string
		err       model.Error
		text      string
		retriable bool
	}{
		{
			"all of it",
			model.Error{Kind: model.Auth, Model: "fast", Status: 401, Message: "no such key"},
			`model "fast": auth (HTTP 401): no such key; check the key that providers.NAME.api_key_env or api_key_file names`, false,
		},
		{
			"with its provider",
			model.Error{Kind: model.Auth, Model: "fast", Provider: "cloud", Status: 401},
			`model "fast": auth (HTTP 401); check the key that providers.cloud.api_key_env or api_key_file names`, false,
		},
		{"no model", model.Error{Kind: model.NotConfigured}, "model: not configured; name a model under [models] and its provider under [providers]", false},
		{"an outage", model.Error{Kind: model.Unavailable, Model: "fast"}, `model "fast": unavailable`, true},
		{"a rate limit", model.Error{Kind: model.RateLimit, Status: 429}, "model: rate limit (HTTP 429)", true},
		{"a refused request", model.Error{Kind: model.BadRequest, Status: 400}, "model: bad request (HTTP 400); check the model's name and settings under [models]", true},
		{"a request refused before it was sent", model.Error{Kind: model.BadRequest}, "model: bad request; check the model's name and settings under [models]", false},
		{"no credit", model.Error{Kind: model.Quota}, "model: quota; the provider wants payment or a higher limit", false},
		{"too long", model.Error{Kind: model.ContextTooLong, Status: 400}, "model: context too long (HTTP 400)", false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := tt.err.Error(); got != tt.text {
				t.Errorf("text %q\nwant %q", got, tt.text)
			}
			if got := tt.err.Retriable(); got != tt.retriable {
				t.Errorf("retriable %v", got)
			}
		})
	}
	if err := error(&model.Error{Kind: model.Unavailable, Err: io.ErrUnexpectedEOF}); !errors.Is(err, io.ErrUnexpectedEOF) {
		t.Error("the cause is lost")
	}
}
