package service

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"

	"herald/core/chat"
	"herald/core/handover"
	"herald/core/intake"
	"herald/core/model"
	"herald/core/outbox"
	"herald/core/store"
	"herald/core/worker"
)

// metrics counts what the service does. No label holds an id or a name that people choose, except those of models and tools,
// which the operator chose: the number of series stays bounded.
type metrics struct {
	registry *prometheus.Registry

	events        *prometheus.CounterVec
	turns         *prometheus.CounterVec
	turnSeconds   prometheus.Histogram
	tools         *prometheus.CounterVec
	toolSeconds   *prometheus.HistogramVec
	attempts      *prometheus.CounterVec
	tokens        *prometheus.CounterVec
	modelSeconds  *prometheus.HistogramVec
	firstSeconds  *prometheus.HistogramVec
	deliveries    *prometheus.CounterVec
	deadLetters   *prometheus.CounterVec
	handovers     *prometheus.CounterVec
	storeFailures *prometheus.CounterVec
	platform      *prometheus.CounterVec
}

// seconds are the bounds of durations that people wait for: from a cached answer to a model that reasons for minutes.
var seconds = [...]float64{0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300}

func newMetrics(version string) *metrics {
	m := &metrics{registry: prometheus.NewRegistry()}
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		c := prometheus.NewCounterVec(prometheus.CounterOpts{Namespace: "herald", Name: name, Help: help}, labels)
		m.registry.MustRegister(c)
		return c
	}
	histogram := func(name, help string, labels ...string) *prometheus.HistogramVec {
		h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Namespace: "herald", Name: name, Help: help, Buckets: seconds[:]}, labels)
		m.registry.MustRegister(h)
		return h
	}
	m.events = counter("events_total", "Inbound events by kind, outcome (kept, duplicate, ignored, failed) and reason.", "kind", "outcome", "reason")
	m.turns = counter("turns_total", "Turns that ended, by outcome.", "outcome")
	turn := prometheus.NewHistogram(prometheus.HistogramOpts{Namespace: "herald", Name: "turn_duration_seconds", Help: "Time from the first claim of a turn to its end.", Buckets: seconds[:]})
	m.registry.MustRegister(turn)
	m.turnSeconds = turn
	m.tools = counter("tool_calls_total", "Tool calls that ended, by tool and status.", "tool", "status")
	m.toolSeconds = histogram("tool_call_duration_seconds", "Time that tool calls took.", "tool")
	m.attempts = counter("model_attempts_total", "Calls of models, by model and result (ok, canceled or the kind of failure).", "model", "result")
	m.tokens = counter("model_tokens_total", "Tokens by model and kind (input, cached, output); cached ones are part of the input.", "model", "kind")
	m.modelSeconds = histogram("model_attempt_duration_seconds", "Time that calls of models took.", "model")
	m.firstSeconds = histogram("model_first_text_seconds", "Time to the first visible text.", "model")
	m.deliveries = counter("deliveries_total", "Deliveries by outcome.", "outcome")
	m.handovers = counter("handovers_total", "What one conversation or person owed another, by outcome.", "outcome")
	m.deadLetters = counter("dead_letters_total", "What was set aside for an admin, by what it was and reason.", "what", "reason")
	m.storeFailures = counter("store_failures_total", "Calls of the store that failed for a reason of its own, by kind.", "kind")

	m.platform = counter("platform_events_total", "What a platform's connection met beside messages: connections, redeliveries, and events that were acknowledged and make nothing.", "platform", "what")

	info := prometheus.NewGaugeVec(prometheus.GaugeOpts{Namespace: "herald", Name: "build_info", Help: "Always 1; the version is its label."}, []string{"version"})
	info.WithLabelValues(version).Set(1)
	m.registry.MustRegister(info, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// watchStore exports the counters of a store's handle.
func (m *metrics) watchStore(stats func() store.Stats) {
	for _, c := range []struct {
		name, help string
		value      func(store.Stats) int64
	}{
		{"store_round_trips_total", "Requests to the store that waited for an answer.", func(s store.Stats) int64 { return s.RoundTrips }},
		{"store_idle_round_trips_total", "Renewals of leases and looks for due work, beside the other round trips.", func(s store.Stats) int64 { return s.Idle }},
		{"store_commits_total", "Commits that were applied.", func(s store.Stats) int64 { return s.Commits }},
		{"store_writes_total", "Durable writes.", func(s store.Stats) int64 { return s.Writes }},
		{"store_fsyncs_total", "Flushes to disk, estimated where the store cannot know.", func(s store.Stats) int64 { return s.Fsyncs }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Namespace: "herald", Name: c.name, Help: c.help},
			func() float64 { return float64(c.value(stats())) },
		))
	}
}

// watchWorker exports the counters of the worker of one agenda.
func (m *metrics) watchWorker(agenda store.Agenda, stats func() worker.Stats) {
	labels := prometheus.Labels{"agenda": string(agenda)}
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: "herald", Name: "worker_running", Help: "Claims that are worked on now, by agenda.", ConstLabels: labels},
		func() float64 { return float64(stats().Running) },
	))
	for _, c := range []struct {
		name, help string
		value      func(worker.Stats) int64
	}{
		{"worker_claims_total", "Claims that were given, by agenda.", func(s worker.Stats) int64 { return s.Claimed }},
		{"worker_lost_claims_total", "Claims that were taken over or outlived their lease, by agenda.", func(s worker.Stats) int64 { return s.Lost }},
		{"worker_failed_claims_total", "Claims whose handler failed, by agenda.", func(s worker.Stats) int64 { return s.Left }},
	} {
		m.registry.MustRegister(prometheus.NewCounterFunc(
			prometheus.CounterOpts{Namespace: "herald", Name: c.name, Help: c.help, ConstLabels: labels},
			func() float64 { return float64(c.value(stats())) },
		))
	}
}

// watchReady exports readiness, and the health of each model.
func (m *metrics) watchReady(ready func() bool, health func() []model.Health) {
	m.registry.MustRegister(prometheus.NewGaugeFunc(
		prometheus.GaugeOpts{Namespace: "herald", Name: "ready", Help: "1 while the service is ready."},
		func() float64 {
			if ready() {
				return 1
			}
			return 0
		},
	), &modelHealth{health, prometheus.NewDesc("herald_model_state", "1 for the state that each model is in (healthy, degraded, down).", []string{"model", "state"}, nil)})
}

// modelHealth collects the state of the models that are configured now, so that a model that is gone leaves no series.
type modelHealth struct {
	health func() []model.Health
	desc   *prometheus.Desc
}

func (c *modelHealth) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c *modelHealth) Collect(ch chan<- prometheus.Metric) {
	for _, h := range c.health() {
		ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, 1, h.Model, string(h.State))
	}
}

// event counts one inbound event.
func (m *metrics) event(kind chat.Kind, out chat.Outcome, why intake.Reason) {
	if out == "" {
		out = "failed"
	}
	m.events.WithLabelValues(string(kind), string(out), string(why)).Inc()
}

// attempt counts one call of a model.
func (m *metrics) attempt(a model.Attempt) {
	result := "ok"
	switch {
	case a.Canceled:
		result = "canceled"
	case a.Failure != "":
		result = word(string(a.Failure))
	}
	m.attempts.WithLabelValues(a.Model, result).Inc()
	m.modelSeconds.WithLabelValues(a.Model).Observe(a.Took.Seconds())
	if a.FirstText > 0 {
		m.firstSeconds.WithLabelValues(a.Model).Observe(a.FirstText.Seconds())
	}
	m.tokens.WithLabelValues(a.Model, "input").Add(float64(a.Usage.Input))
	m.tokens.WithLabelValues(a.Model, "cached").Add(float64(a.Usage.Cached))
	m.tokens.WithLabelValues(a.Model, "output").Add(float64(a.Usage.Output))
}

// delivery counts what happened to a delivery. A burial is also a dead letter.
func (m *metrics) delivery(e outbox.Event) {
	m.deliveries.WithLabelValues(string(e.Kind)).Inc()
	if e.Kind == outbox.EventBuried {
		m.deadLetters.WithLabelValues("delivery", word(e.Code)).Inc()
	}
}

// handover counts what became of something owed. A burial is also a dead letter.
func (m *metrics) handover(e handover.Event) {
	m.handovers.WithLabelValues(string(e.Kind)).Inc()
	if e.Kind == handover.EventBuried {
		m.deadLetters.WithLabelValues("handover", word(string(e.Reason))).Inc()
	}
}

// turn counts the end of a turn.
func (m *metrics) turn(how string, took time.Duration) {
	m.turns.WithLabelValues(word(how)).Inc()
	if how == "set aside" {
		m.deadLetters.WithLabelValues("turn", "poison").Inc()
	}
	m.turnSeconds.Observe(took.Seconds())
}

// tool counts the end of a tool call.
func (m *metrics) tool(name, status string, took time.Duration) {
	m.tools.WithLabelValues(name, word(status)).Inc()
	m.toolSeconds.WithLabelValues(name).Observe(took.Seconds())
}

// word makes a label's value of a text of a few words.
func word(s string) string {
	b := []byte(s)
	for i, c := range b {
		if c == ' ' || c == '-' {
			b[i] = '_'
		}
	}
	return string(b)
}
