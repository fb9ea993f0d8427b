package cli

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"herald/config"
	"herald/core/model"
	"herald/core/store"
)

func TestCodeOf(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name string
		err  error
		want Code
	}{
		{"done", nil, Done},
		{"anything", errors.New("x"), Failed},
		{"usage", fmt.Errorf("x: %w", usagef("no")), Usage},
		{"configuration", fmt.Errorf("x: %w", config.Problems{{Text: "no"}}), Config},
		{"store away", fmt.Errorf("x: %w", store.ErrUnavailable), Store},
		{"store in use", store.ErrInUse, Store},
		{"newer store", store.ErrNewer, Store},
		{"no store", store.ErrMissing, Store},
		{"a defect of ours is no fault of the store", store.ErrInvalid, Failed},
		{"model", fmt.Errorf("x: %w", &model.Error{Kind: model.Auth}), NoModel},
		{"said already", quietError{NoModel}, NoModel},
		{"known where it was made", codeError{Config, store.ErrInUse}, Config},
		{"joined", errors.Join(errors.New("x"), store.ErrFull), Store},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if got := codeOf(tt.err); got != tt.want {
				t.Errorf("got %d, want %d", got, tt.want)
			}
		})
	}
}

// Every code has its words, and the help lists all of them.
func TestExitHelp(t *testing.T) {
	t.Parallel()
	help := exitHelp()
	for c := range codeEnds {
		if meanings[c] == "" || !strings.Contains(help, fmt.Sprintf("%d  %s", c, meanings[c])) {
			t.Errorf("code %d is not listed", c)
		}
	}
}
