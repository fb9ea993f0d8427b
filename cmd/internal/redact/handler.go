package redact

import (
	"context"
	"fmt"
	"log/slog"
)

// Handler passes records on to next, cleaned.
func (s *Secrets) Handler(next slog.Handler) slog.Handler { return handler{s, next} }

type handler struct {
	secrets *Secrets
	next    slog.Handler
}

func (h handler) Enabled(ctx context.Context, l slog.Level) bool { return h.next.Enabled(ctx, l) }

func (h handler) Handle(ctx context.Context, r slog.Record) error {
	out := slog.NewRecord(r.Time, r.Level, h.secrets.Clean(r.Message), r.PC)
	r.Attrs(func(a slog.Attr) bool {
		out.AddAttrs(h.attr(a))
		return true
	})
	return h.next.Handle(ctx, out)
}

func (h handler) WithAttrs(attrs []slog.Attr) slog.Handler {
	out := make([]slog.Attr, len(attrs))
	for i, a := range attrs {
		out[i] = h.attr(a)
	}
	return handler{h.secrets, h.next.WithAttrs(out)}
}

func (h handler) WithGroup(name string) slog.Handler {
	return handler{h.secrets, h.next.WithGroup(name)}
}

// attr cleans one attribute. Values of unknown types are printed here, so that what the next handler would make of them is
// what was looked through.
func (h handler) attr(a slog.Attr) slog.Attr {
	v := a.Value.Resolve()
	switch v.Kind() {
	case slog.KindString:
		v = slog.StringValue(h.secrets.Clean(v.String()))
	case slog.KindGroup:
		group := v.Group()
		out := make([]slog.Attr, len(group))
		for i, g := range group {
			out[i] = h.attr(g)
		}
		v = slog.GroupValue(out...)
	case slog.KindAny:
		text := fmt.Sprint(v.Any())
		if err, ok := v.Any().(error); ok {
			text = err.Error()
		}
		v = slog.StringValue(h.secrets.Clean(text))
	default: // numbers, times, truths
	}
	return slog.Attr{Key: a.Key, Value: v}
}
