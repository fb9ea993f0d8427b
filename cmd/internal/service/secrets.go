package service

import (
	"context"
	"errors"

	"herald/core/chat"
	"herald/core/tool"
)

// withoutSecrets is in without the secrets that a person wrote: what is not in the store is in no prompt, transcript or report.
func withoutSecrets(in *chat.Inbound, clean func(string) string) *chat.Inbound {
	if in == nil {
		return nil
	}
	text, value := clean(in.Text), clean(in.Value)
	if text == in.Text && value == in.Value {
		return in
	}
	out := *in
	out.Text, out.Value = text, value
	return &out
}

// discreet are tools whose results, questions and errors hold no secret: a tool can read files, variables and answers of servers.
func discreet(tools []tool.Tool, clean func(string) string) []tool.Tool {
	for i, t := range tools {
		tools[i].Run = func(ctx context.Context, c tool.Call) (tool.Result, error) {
			r, err := t.Run(ctx, c)
			r.Text = clean(r.Text)
			if r.Push != nil {
				p := *r.Push
				p.Prompt = clean(p.Prompt)
				r.Push = &p
			}
			if r.Wait != nil {
				w := *r.Wait
				w.Title, w.Text = clean(w.Title), clean(w.Text)
				r.Wait = &w
			}
			if err == nil {
				return r, nil
			}
			if text := clean(err.Error()); text != err.Error() {
				return r, &discreetError{text, err}
			}
			return r, err
		}
	}
	return tools
}

// discreetError is an error in words without a secret; what it is stays.
type discreetError struct {
	text string
	err  error
}

func (e *discreetError) Error() string        { return e.text }
func (e *discreetError) Is(target error) bool { return errors.Is(e.err, target) }
