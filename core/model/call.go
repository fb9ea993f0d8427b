package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"time"
)

// chosen is a model that is chosen at each call.
type chosen struct {
	r     *Router
	name  string
	want  Strength
	scope string
}

// candidate is a model within one call.
type candidate struct {
	Configured
	tries  int
	given  bool      // given up for this call
	notYet time.Time // earliest next try
}

// Generate implements [Model]. Until the first visible text a failure that may pass is answered with the next model, and when
// all were tried, with another round after a pause. From then on a failure is handed on: nobody shall see half an answer twice.
func (m *chosen) Generate(ctx context.Context, q *Request) iter.Seq2[Chunk, error] {
	return func(yield func(Chunk, error) bool) {
		models, err := m.r.candidates(m.name, m.want, m.scope)
		if err != nil {
			yield(Chunk{}, err)
			return
		}
		c := &call{r: m.r, list: make([]*candidate, 0, len(models))}
		size := q.Tokens()
		if q.pictures() {
			// A picture goes to a model that takes it, before strength and priority count.
			slices.SortStableFunc(models, func(a, b Configured) int { return blind(a) - blind(b) })
		}
		for _, configured := range models {
			if limit := configured.ContextTokens; limit > 0 && size > limit {
				c.last = &Error{
					Kind: ContextTooLong, Model: configured.Name,
					Message: fmt.Sprintf("the request has about %d tokens, the model's context_tokens are %d", size, limit),
				}
				continue
			}
			c.list = append(c.list, &candidate{Configured: configured})
		}
		c.run(ctx, q, yield)
	}
}

// call is one call with all its attempts.
type call struct {
	r    *Router
	list []*candidate // in the order of preference
	last *Error
}

func (c *call) run(ctx context.Context, q *Request, yield func(Chunk, error) bool) {
	for {
		next := c.next()
		if next == nil {
			yield(Chunk{}, c.last)
			return
		}
		if wait := next.notYet.Sub(c.r.o.Now()); wait > 0 {
			if err := c.r.o.Sleep(ctx, wait); err != nil {
				yield(Chunk{}, err)
				return
			}
		}
		next.tries++
		failed := c.attempt(ctx, next, q, yield)
		if failed == nil {
			return
		}
		if !c.again(next, failed) {
			yield(Chunk{}, failed)
			return
		}
		c.r.o.Log.WarnContext(ctx, "model failed", "model", next.Name, "kind", failed.Kind, "status", failed.Status, "try", next.tries, "error", failed.Error())
	}
}

// next is the model to try now: the least tried, of these the first that is not down, of several that wait the first that is
// due. nil when all are given up or were tried often enough.
func (c *call) next() *candidate {
	open := slices.DeleteFunc(slices.Clone(c.list), func(x *candidate) bool { return x.given || x.tries >= c.r.o.Retry.Tries })
	if len(open) == 0 {
		return nil
	}
	fewest := slices.MinFunc(open, func(a, b *candidate) int { return a.tries - b.tries }).tries
	open = slices.DeleteFunc(open, func(x *candidate) bool { return x.tries > fewest })
	if fewest > 0 {
		return slices.MinFunc(open, func(a, b *candidate) int { return a.notYet.Compare(b.notYet) })
	}
	for _, x := range open {
		if c.r.mayTry(x.Name) {
			return x
		}
	}
	c.r.o.Log.Warn("no model left that is not down; trying one that is", "model", open[0].Name)
	return open[0]
}

// again decides after a failure before the first visible text whether the call goes on.
func (c *call) again(x *candidate, failed *Error) bool {
	c.last = failed
	if !failed.Retriable() {
		return false
	}
	policy := c.r.o.Retry
	switch {
	case failed.Kind == BadRequest:
		x.given = true // another provider may take it, this one will not
	case failed.RetryAfter > policy.MaxWait:
		x.given = true
		long := *failed
		long.Message = fmt.Sprintf("%s (asks to wait %v, longer than the %v that a call waits)", failed.Message, failed.RetryAfter.Round(time.Second), policy.MaxWait)
		c.last = &long
	default:
		x.notYet = c.r.o.Now().Add(policy.pause(x.tries, failed.RetryAfter, c.r.o.Random()))
	}
	return true
}

// attempt tries one model. It returns nil when the caller has all it will get, and an error when nothing visible was shown
// before it.
func (c *call) attempt(ctx context.Context, x *candidate, q *Request, yield func(Chunk, error) bool) *Error {
	began := c.r.o.Now()
	a := Attempt{Model: x.Name}
	var failure error
	var answered, left bool
	if !x.Images {
		q = q.withoutPictures(x.Name)
	}
	for chunk, err := range x.Model.Generate(ctx, q) {
		if err != nil {
			failure = err
			break
		}
		if chunk.Text != "" && a.FirstText == 0 {
			a.FirstText = max(c.r.o.Now().Sub(began), 1)
		}
		if chunk.Done != nil {
			answered = true
			chunk.Done.Model = x.Name
			a.Usage = chunk.Done.Usage
			a.Took = c.r.o.Now().Sub(began)
			c.r.settle(a, nil) // before the caller acts on the answer, however long that takes
			yield(chunk, nil)
			break
		}
		if !yield(chunk, nil) {
			left = true
			break
		}
	}
	if answered {
		return nil
	}
	a.Took = c.r.o.Now().Sub(began)
	if left || ctx.Err() != nil {
		a.Canceled = true
		c.r.settle(a, nil)
		if left {
			return nil
		}
		yield(Chunk{}, ctx.Err())
		return nil
	}
	failed := asError(x.Name, x.Provider, failure)
	a.Failure = failed.Kind
	c.r.settle(a, failed)
	if a.FirstText > 0 {
		yield(Chunk{}, failed)
		return nil
	}
	return failed
}

// asError gives any failure of a driver the port's form.
func asError(name, provider string, err error) *Error {
	switch e, ok := errors.AsType[*Error](err); {
	case err == nil:
		return &Error{Kind: Unavailable, Model: name, Provider: provider, Message: "the driver ended without an answer"}
	case !ok:
		return &Error{Kind: Unavailable, Model: name, Provider: provider, Message: err.Error(), Err: err}
	default:
		named := *e
		named.Model, named.Provider = cmp.Or(e.Model, name), cmp.Or(e.Provider, provider)
		return &named
	}
}
