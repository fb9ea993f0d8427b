package model

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Scan takes secrets out of a text that comes in pieces. It is given what was left of the pieces before together with the next one, and
// returns what may be shown and what is left, because it may be the beginning of a secret. At the end nothing is left.
type Scan func(text string, end bool) (shown, left string)

// Redacted is m, whose answers, failures and panics hold no secret that scan knows, wherever the stream cuts one: a provider that echoes
// a key, or a model that was shown one, brings it neither before people nor into a log or a transcript. Calls are cleaned in the strings
// and numbers of their arguments and stay as readable as they were. What is held back of a stream that breaks off is not shown.
func Redacted(m Model, scan Scan) Model { return &redacted{m, scan} }

type redacted struct {
	model Model
	scan  Scan
}

func (m *redacted) clean(s string) string {
	s, _ = m.scan(s, true)
	return s
}

// Generate implements [Model].
func (m *redacted) Generate(ctx context.Context, r *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		defer m.repanic()
		left := ""
		for c, err := range m.model.Generate(ctx, r) {
			if err != nil {
				yield(Chunk{}, m.failure(err))
				return
			}
			var shown string
			shown, left = m.scan(left+c.Text, c.Done != nil)
			if shown != "" && !yield(Chunk{Text: shown}, nil) {
				return
			}
			if c.Done != nil {
				yield(Chunk{Done: m.answer(c.Done)}, nil)
				return
			}
		}
	}
}

// answer is a cleaned copy of a.
func (m *redacted) answer(a *Answer) *Answer {
	out := *a
	out.Text = m.clean(a.Text)
	out.Calls = nil
	for _, c := range a.Calls {
		c.Name, c.Malformed = m.clean(c.Name), m.clean(c.Malformed)
		c.Arguments, c.Extra = cleanJSON(c.Arguments, m.clean), cleanJSON(c.Extra, m.clean)
		out.Calls = append(out.Calls, c)
	}
	return &out
}

// failure is err without secrets in its words; its kind, and what errors.Is finds in it, stay.
func (m *redacted) failure(err error) error {
	e, ok := errors.AsType[*Error](err)
	if !ok {
		return m.cause(err)
	}
	out := *e
	out.Message, out.Err = m.clean(e.Message), m.cause(e.Err)
	return &out
}

// cause is err, or when it holds a secret an error that stands for it.
func (m *redacted) cause(err error) error {
	if err == nil {
		return nil
	}
	text := err.Error()
	if clean := m.clean(text); clean != text {
		return &cleaned{text: clean, err: err}
	}
	return err
}

// cleaned is an error with other words. It is what err is, and cannot be unwrapped to it.
type cleaned struct {
	text string
	err  error
}

func (e *cleaned) Error() string        { return e.text }
func (e *cleaned) Is(target error) bool { return errors.Is(e.err, target) }

// repanic lets a panic go on with its words cleaned: what a panic says is written into a log.
func (m *redacted) repanic() {
	p := recover()
	if p == nil {
		return
	}
	text := fmt.Sprint(p)
	if clean := m.clean(text); clean != text {
		panic(clean)
	}
	panic(p)
}
