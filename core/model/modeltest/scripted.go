package modeltest

import (
	"context"
	"encoding/json"
	"iter"
	"sync/atomic"
	"time"

	"herald/core/model"
)

// Scripted is a model in the process that answers by rules, the first that matches; without a match it echoes. It is
// deterministic, starts no goroutine and may be used by many. Configure it before the first call.
type Scripted struct {
	// Name is the configured model's name in its answers; "scripted" when empty.
	Name  string
	Rules []Rule
	// Lenient answers also a history that a strict provider would refuse; it is counted all the same.
	Lenient bool
	// Sleep waits for the delays of replies; without it they are waited for on the clock.
	Sleep func(ctx context.Context, d time.Duration) error

	calls, violations atomic.Int64
}

// NewScripted is a strict scripted model with these rules.
func NewScripted(rules ...Rule) *Scripted { return &Scripted{Rules: rules} }

// Calls is the number of requests so far.
func (s *Scripted) Calls() int { return int(s.calls.Load()) }

// Violations is the number of requests with a history that a strict provider would refuse.
func (s *Scripted) Violations() int { return int(s.violations.Load()) }

// Generate implements [model.Model].
func (s *Scripted) Generate(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		s.calls.Add(1)
		if err := ctx.Err(); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		if err := Validate(r); err != nil {
			s.violations.Add(1)
			if !s.Lenient {
				yield(model.Chunk{}, &model.Error{Kind: model.BadRequest, Model: s.name(), Status: 400, Message: err.Error()})
				return
			}
		}
		s.play(ctx, r, decide(s.Rules, r), yield)
	}
}

func (s *Scripted) play(ctx context.Context, r *model.Request, reply Reply, yield func(model.Chunk, error) bool) {
	parts := pieces(reply.Text, reply.Chunks)
	for i, p := range parts {
		if reply.Err != nil && i >= reply.BreakAfter {
			break
		}
		if err := s.wait(ctx, &reply, i); err != nil {
			yield(model.Chunk{}, err)
			return
		}
		if !yield(model.Chunk{Text: p}, nil) {
			return
		}
	}
	if len(parts) == 0 {
		if err := s.wait(ctx, &reply, 0); err != nil {
			yield(model.Chunk{}, err)
			return
		}
	}
	if reply.Err != nil {
		yield(model.Chunk{}, reply.Err)
		return
	}
	yield(model.Chunk{Done: s.answer(r, &reply)}, nil)
}

func (s *Scripted) answer(r *model.Request, reply *Reply) *model.Answer {
	a := &model.Answer{Text: reply.Text, Finish: reply.finish(), Usage: reply.Usage, Model: s.name()}
	if a.Usage == (model.Usage{}) && !reply.NoUsage {
		a.Usage = estimate(r, reply)
	}
	for _, c := range reply.Calls {
		call := model.Call{ID: r.NewCallID(), Name: c.Name, Arguments: json.RawMessage("{}")}
		switch {
		case c.Arguments == "":
		case isObject([]byte(c.Arguments)):
			call.Arguments = json.RawMessage(c.Arguments)
		default:
			call.Malformed = "the arguments are no JSON object"
		}
		if a.Finish == model.FinishLength && call.Malformed == "" {
			call.Malformed = "the answer was cut at the output limit"
		}
		a.Calls = append(a.Calls, call)
	}
	return a
}

func (s *Scripted) wait(ctx context.Context, reply *Reply, piece int) error {
	d := reply.Delay
	if piece == 0 {
		d = reply.FirstDelay
	}
	if d <= 0 {
		return ctx.Err()
	}
	if s.Sleep != nil {
		return s.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-t.C:
		return nil
	}
}

func (s *Scripted) name() string {
	if s.Name == "" {
		return "scripted"
	}
	return s.Name
}
