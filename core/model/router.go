package model

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"time"
)

// RouterOptions are what a [Router] works with. All have defaults.
type RouterOptions struct {
	Retry Retry
	// Now, Sleep and Random (in [0,1)) are the clock and the dice; those of the machine when nil.
	Now    func() time.Time
	Sleep  func(ctx context.Context, d time.Duration) error
	Random func() float64
	// Log is told of fallbacks and of models that are down; nothing is logged when nil.
	Log *slog.Logger
	// Observe is called after each attempt, from the calling goroutine: the hook for metrics.
	Observe func(Attempt)
}

// Attempt is one try of one model.
type Attempt struct {
	Model string
	// Failure is why it failed; empty when it did not. Canceled says that the caller ended it.
	Failure  Kind
	Canceled bool
	// Usage is what the provider said it cost; zero when it failed or did not say.
	Usage Usage
	// Took is its whole duration, FirstText that to the first visible text (0 when there was none).
	Took, FirstText time.Duration
}

// Router chooses among the configured models and calls them with retry and fallback. It may be used by many.
type Router struct {
	o RouterOptions

	mu     sync.Mutex
	models []Configured
	health map[string]*health
}

// NewRouter is a router without models; see [Router.Replace].
func NewRouter(o RouterOptions) *Router {
	o.Retry = o.Retry.withDefaults()
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	if o.Random == nil {
		o.Random = rand.Float64
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.Observe == nil {
		o.Observe = func(Attempt) {}
	}
	return &Router{o: o, health: map[string]*health{}}
}

// Replace sets the configured models, in the order of the configuration. The health of those that stay is kept. Calls that are
// under way go on with the models that they began with. An empty or doubled name, or a reserved one, is an error that changes nothing.
func (r *Router) Replace(models []Configured) error {
	seen := map[string]bool{}
	for _, c := range models {
		switch {
		case c.Name == "" || c.Name == Auto:
			return fmt.Errorf("model name %q is reserved; choose another under [models]", c.Name)
		case seen[c.Name]:
			return fmt.Errorf("model %q is configured twice", c.Name)
		case c.Model == nil:
			return fmt.Errorf("model %q has no driver", c.Name)
		}
		seen[c.Name] = true
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.models = slices.Clone(models)
	kept := make(map[string]*health, len(models))
	for _, c := range models {
		kept[c.Name] = r.health[c.Name]
		if kept[c.Name] == nil {
			kept[c.Name] = &health{}
		}
	}
	r.health = kept
	return nil
}

// For is the model of this name, or, for "" and [Auto], the choice by strength and scope. The choice is made anew at each call,
// so the result stays good over a change of the configuration. A name that is none fails at the call with [NotConfigured].
func (r *Router) For(name string, want Strength, scope string) Model {
	return &chosen{r: r, name: name, want: want, scope: scope}
}

// Pick is the model that For would try first now. It begins no trial of a model that is down.
func (r *Router) Pick(name string, want Strength, scope string) (Configured, error) {
	models, err := r.candidates(name, want, scope)
	if err != nil {
		return Configured{}, err
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, c := range models {
		if h := r.health[c.Name]; h == nil || h.state() != Down {
			return c, nil
		}
	}
	return models[0], nil
}

// Models are the configured models in their order.
func (r *Router) Models() []Configured {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.models)
}

// Health is the health of each configured model, in their order.
func (r *Router) Health() []Health {
	r.mu.Lock()
	defer r.mu.Unlock()
	out := make([]Health, 0, len(r.models))
	for _, c := range r.models {
		h := r.health[c.Name]
		out = append(out, Health{Model: c.Name, State: h.state(), Failures: h.failures, Last: h.last, LastAt: h.lastAt})
	}
	return out
}

// Ready is nil while a model can be expected to answer. Else it says why none can: none is configured, or all are down.
func (r *Router) Ready() error {
	all := r.Health()
	if len(all) == 0 {
		return noModels()
	}
	worst := make([]string, 0, len(all))
	for _, h := range all {
		if h.State != Down {
			return nil
		}
		worst = append(worst, fmt.Sprintf("%s (%s)", h.Model, h.Last))
	}
	return &Error{Kind: Unavailable, Message: "no model answers: " + strings.Join(worst, ", ")}
}

// Cost is what a usage of the named model costs. It is not known for a model without prices or that is no longer configured.
func (r *Router) Cost(name string, u Usage) (amount float64, known bool) {
	for _, c := range r.Models() {
		if c.Name == name {
			return c.Prices.Cost(u)
		}
	}
	return 0, false
}

// candidates are the models that may serve, the best first; at least one.
func (r *Router) candidates(name string, want Strength, scope string) ([]Configured, error) {
	models := r.Models()
	switch {
	case len(models) == 0:
		return nil, noModels()
	case name == "" || name == Auto:
		return Order(models, want, scope), nil
	}
	names := make([]string, 0, len(models))
	for _, c := range models {
		if c.Name == name {
			return []Configured{c}, nil
		}
		names = append(names, c.Name)
	}
	return nil, &Error{Kind: NotConfigured, Model: name, Message: "no model has this name; configured are " + strings.Join(names, ", ")}
}

func noModels() *Error { return &Error{Kind: NotConfigured, Message: "no model is configured"} }

func (r *Router) mayTry(name string) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.health[name]
	return h == nil || h.try(r.o.Now())
}

func (r *Router) settle(a Attempt, err *Error) {
	r.o.Observe(a)
	r.mu.Lock()
	defer r.mu.Unlock()
	h := r.health[a.Model]
	switch {
	case h == nil || a.Canceled:
	case err == nil:
		h.succeed()
	case speaksAgainst(err):
		h.fail(err.Kind, r.o.Now())
	}
}
