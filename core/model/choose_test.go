package model_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"herald/core/model"
	"herald/core/model/modeltest"
)

func TestOrder(t *testing.T) {
	t.Parallel()
	type m = model.Configured
	rated := []m{
		{Name: "unrated", Priority: 100},
		{Name: "weak", Strength: model.Low, Priority: 100},
		{Name: "exact", Strength: model.Average, Priority: 100},
		{Name: "strong", Strength: model.VeryHigh, Priority: 100},
	}
	tests := []struct {
		name   string
		models []m
		want   model.Strength
		scope  string
		order  string
	}{
		{"without a demand all are equal and the order of the configuration holds", rated, "", "", "unrated weak exact strong"},
		{"exact, stronger, then weaker and unrated alike", rated, model.Average, "", "exact strong unrated weak"},
		{"any stronger model comes before a weaker one", rated, model.High, "", "strong unrated weak exact"},
		{"the weakest demand prefers stronger to unrated", rated, model.VeryLow, "", "weak exact strong unrated"},
		{"the strongest demand", rated, model.VeryHigh, "", "strong unrated weak exact"},
		{"priority orders a tier", []m{{Name: "b", Strength: model.High, Priority: 100}, {Name: "a", Strength: model.High, Priority: 10}}, model.High, "", "a b"},
		{"priority never crosses tiers", []m{{Name: "strong", Strength: model.VeryHigh, Priority: 1}, {Name: "exact", Strength: model.High, Priority: 900}}, model.High, "", "exact strong"},
		{"weaker and unrated share a tier, priority decides", []m{{Name: "weak", Strength: model.Low, Priority: 100}, {Name: "unrated", Priority: 50}}, model.High, "", "unrated weak"},
		{"scope breaks a tie", []m{{Name: "prose", Scope: "writing", Priority: 100}, {Name: "code", Scope: "reasoning", Priority: 100}}, "", "reasoning", "code prose"},
		{"scope does not overrule priority", []m{{Name: "prose", Priority: 1}, {Name: "code", Scope: "reasoning", Priority: 2}}, "", "reasoning", "prose code"},
		{"without a scope asked for a model's scope is nothing", []m{{Name: "x", Scope: "writing", Priority: 100}, {Name: "y", Priority: 100}}, "", "", "x y"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			var names []string
			for _, c := range model.Order(tt.models, tt.want, tt.scope) {
				names = append(names, c.Name)
			}
			if got := strings.Join(names, " "); got != tt.order {
				t.Errorf("order %q, want %q", got, tt.order)
			}
		})
	}
}

func TestParseStrength(t *testing.T) {
	t.Parallel()
	for _, s := range []string{"", "very_low", "low", "average", "high", "very_high"} {
		if got, err := model.ParseStrength(s); err != nil || string(got) != s {
			t.Errorf("ParseStrength(%q) = %q, %v", s, got, err)
		}
	}
	for _, s := range []string{"medium", "very-high", "High", "veryhigh", " high"} {
		_, err := model.ParseStrength(s)
		if err == nil || !strings.Contains(err.Error(), "very_low, low, average, high, very_high") {
			t.Errorf("ParseStrength(%q): %v", s, err)
		}
	}
}

func TestHealth(t *testing.T) {
	t.Parallel()
	fails := failure(model.Unavailable, 503)
	once := model.Retry{Tries: 1}

	t.Run("three failures degrade, five bring down, one success resets", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, once, configured("a", replies(fails, fails, fails, fails, fails, modeltest.Say("up"))))
		want := []model.State{model.Healthy, model.Healthy, model.Degraded, model.Degraded, model.Down, model.Healthy}
		for i, w := range want {
			_, _, _ = generate(t.Context(), b.For("a", "", ""))
			if got := b.state("a"); got != w {
				t.Errorf("after call %d: %s, want %s", i+1, got, w)
			}
		}
		if b.Health()[0].Last != model.Unavailable {
			t.Errorf("the last failure is forgotten: %+v", b.Health()[0])
		}
	})
	t.Run("what speaks against the request does not count", func(t *testing.T) {
		t.Parallel()
		for _, r := range []modeltest.Reply{failure(model.BadRequest, 400), failure(model.BadRequest, 422), failure(model.ContextTooLong, 400), failure(model.ContentFilter, 400)} {
			b := newBench(t, once, configured("a", replies(fails, fails, r)))
			for range 9 {
				_, _, _ = generate(t.Context(), b.For("a", "", ""))
			}
			if h := b.Health()[0]; h.Failures != 2 {
				t.Errorf("%v: %+v", r.Err, h)
			}
		}
	})
	t.Run("wrong keys, empty accounts, limits and unknown models count", func(t *testing.T) {
		t.Parallel()
		for _, r := range []modeltest.Reply{failure(model.Auth, 401), failure(model.Quota, 402), failure(model.RateLimit, 429), failure(model.BadRequest, 404)} {
			b := newBench(t, once, configured("a", replies(r)))
			for range 5 {
				_, _, _ = generate(t.Context(), b.For("a", "", ""))
			}
			if b.state("a") != model.Down || b.Ready() == nil {
				t.Errorf("%v: %+v", r.Err, b.Health())
			}
		}
	})
	t.Run("a model that is down is passed over, kept so over a reload, and tried again later", func(t *testing.T) {
		t.Parallel()
		a := replies(fails, fails, fails, fails, fails, fails, modeltest.Say("a"))
		models := []model.Configured{configured("a", a), configured("b", replies(modeltest.Say("b")))}
		b := newBench(t, once, models...)
		for range 5 {
			_, _, _ = generate(t.Context(), b.For("a", "", ""))
		}
		if err := b.Replace(append(models, configured("new", replies(modeltest.Say("new"))))); err != nil {
			t.Fatal(err)
		}
		step := func(wait time.Duration, want string) {
			t.Helper()
			b.now, b.attempts = b.now.Add(wait), nil
			_, _, _ = generate(t.Context(), b.For("", "", ""))
			if b.tried() != want {
				t.Errorf("tried %q, want %q", b.tried(), want)
			}
		}
		step(0, "b")
		step(29*time.Second, "b")
		step(time.Second, "a b")    // the trial fails and the next waits twice as long
		step(59*time.Second, "b")   //
		step(time.Second, "a")      // and this one succeeds
		step(time.Millisecond, "a") // so it is back in its place
	})
	t.Run("one call at a time tries a model that is down", func(t *testing.T) {
		t.Parallel()
		var b *bench
		meanwhile := ""
		a := modeltest.NewScripted(func(*model.Request) (modeltest.Reply, bool) {
			if b.state("a") == model.Down && meanwhile == "" {
				meanwhile = "none"
				if shown, _, err := generate(t.Context(), b.For("", "", "")); err == nil {
					meanwhile = shown
				}
			}
			return fails, true
		})
		b = newBench(t, once, configured("a", a), configured("b", replies(modeltest.Say("b"))))
		for range 5 {
			_, _, _ = generate(t.Context(), b.For("a", "", ""))
		}
		b.now, b.attempts = b.now.Add(time.Minute), nil
		_, _, _ = generate(t.Context(), b.For("", "", ""))
		if meanwhile != "b" || b.tried() != "b a b" {
			t.Errorf("meanwhile %q answered, tried %q", meanwhile, b.tried())
		}
	})
	t.Run("when all are down the first is tried, and readiness says so", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, once, configured("a", replies(fails)), configured("b", replies(fails)))
		if err := b.Ready(); err != nil {
			t.Fatal(err)
		}
		for range 5 {
			_, _, _ = generate(t.Context(), b.For("", "", ""))
		}
		if err := b.Ready(); err == nil || !strings.Contains(err.Error(), "a (unavailable), b (unavailable)") {
			t.Errorf("readiness %v", err)
		}
		b.attempts = nil
		_, _, _ = generate(t.Context(), b.For("", "", ""))
		if b.tried() != "a b" {
			t.Errorf("tried %q", b.tried())
		}
		if !strings.Contains(b.log.String(), `level=WARN msg="no model left that is not down; trying one that is" model=a`) {
			t.Errorf("no warning in the log:\n%s", b.log.String())
		}
		if p, err := b.Pick("", "", ""); err != nil || p.Name != "a" {
			t.Errorf("pick %+v, %v", p, err)
		}
	})
	t.Run("nothing is ready without a model", func(t *testing.T) {
		t.Parallel()
		b := newBench(t, once)
		if e, ok := errors.AsType[*model.Error](b.Ready()); !ok || e.Kind != model.NotConfigured {
			t.Errorf("readiness %v", b.Ready())
		}
	})
}

func TestPickFollowsHealth(t *testing.T) {
	t.Parallel()
	strong := model.Configured{Name: "strong", Model: replies(failure(model.Unavailable, 500)), Strength: model.High, Priority: 100, ContextTokens: 8}
	weak := model.Configured{Name: "weak", Model: replies(modeltest.Say("x")), Strength: model.Low, Priority: 100, ContextTokens: 4}
	b := newBench(t, model.Retry{Tries: 1}, weak, strong)
	pick := func() string {
		c, err := b.Pick("auto", model.High, "")
		if err != nil {
			t.Fatal(err)
		}
		return c.Name
	}
	if got := pick(); got != "strong" {
		t.Errorf("picked %s", got)
	}
	for range 5 {
		_, _, _ = generate(t.Context(), b.For("strong", "", ""))
	}
	b.now = b.now.Add(time.Hour)
	if got := pick(); got != "weak" {
		t.Errorf("picked %s while strong is down", got)
	}
	if _, _, err := generate(t.Context(), b.For("", model.High, "")); err != nil || b.attempts[len(b.attempts)-2].Model != "strong" {
		t.Errorf("picking used up the trial: tried %s, %v", b.tried(), err)
	}
}

func TestCost(t *testing.T) {
	t.Parallel()
	usage := model.Usage{Input: 1_000_000, Cached: 400_000, Output: 100_000}
	tests := []struct {
		name   string
		prices model.Prices
		usage  model.Usage
		amount float64
		known  bool
	}{
		{"all prices", model.Prices{Input: new(2.0), Cached: new(0.5), Output: new(10.0)}, usage, 1.2 + 0.2 + 1, true},
		{"cached input costs as other input by default", model.Prices{Input: new(2.0), Output: new(10.0)}, usage, 2 + 1, true},
		{"a price of 0 is known", model.Prices{Input: new(0.0), Output: new(0.0)}, usage, 0, true},
		{"no price is not 0", model.Prices{}, usage, 0, false},
		{"half a price is none", model.Prices{Input: new(2.0)}, usage, 0, false},
		{"no usage is not 0", model.Prices{Input: new(2.0), Output: new(10.0)}, model.Usage{}, 0, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t, model.Retry{}, model.Configured{Name: "a", Model: replies(modeltest.Say("x")), Prices: tt.prices})
			amount, known := b.Cost("a", tt.usage)
			if known != tt.known || amount < tt.amount-1e-9 || amount > tt.amount+1e-9 {
				t.Errorf("cost %v, %v, want %v, %v", amount, known, tt.amount, tt.known)
			}
			if _, known := b.Cost("gone", tt.usage); known {
				t.Error("the cost of an unknown model is known")
			}
		})
	}
}
