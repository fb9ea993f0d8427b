package model

import (
	"cmp"
	"fmt"
	"strings"
)

// Error says what failed on which model, and what to do about it.
func (e *Error) Error() string {
	var b strings.Builder
	b.WriteString("model")
	if e.Model != "" {
		fmt.Fprintf(&b, " %q", e.Model)
	}
	fmt.Fprintf(&b, ": %s", e.Kind)
	if e.Status != 0 {
		fmt.Fprintf(&b, " (HTTP %d)", e.Status)
	}
	if e.Message != "" {
		fmt.Fprintf(&b, ": %s", e.Message)
	}
	if r := e.remedy(); r != "" {
		fmt.Fprintf(&b, "; %s", r)
	}
	return b.String()
}

// Unwrap is the cause.
func (e *Error) Unwrap() error { return e.Err }

func (e *Error) remedy() string {
	switch e.Kind {
	case Auth:
		return "check the key that providers." + cmp.Or(e.Provider, "NAME") + ".api_key_env or api_key_file names"
	case Quota:
		return "the provider wants payment or a higher limit"
	case NotConfigured:
		return "name a model under [models] and its provider under [providers]"
	case BadRequest:
		return "check the model's name and settings under [models]"
	default:
		return ""
	}
}

// Retriable reports whether another try, on this model or another, can succeed: rate limits, outages, and requests that another
// provider may take. Wrong keys, quota, filters and contexts that are too long are not.
func (e *Error) Retriable() bool {
	switch e.Kind {
	case RateLimit, Unavailable:
		return true
	case BadRequest:
		return e.Status == 400
	default:
		return false
	}
}
