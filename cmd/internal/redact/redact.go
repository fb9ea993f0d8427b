package redact

import (
	"cmp"
	"context"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/url"
	"slices"
	"strings"
	"sync/atomic"
)

// Placeholder stands where a secret stood.
const Placeholder = "[redacted]"

// shortest is the length from which a secret is looked for: a shorter text would be found by chance in ordinary words.
const shortest = 6

// Secrets is a set of secrets that can change while it is in use. The zero value is empty.
type Secrets struct {
	now atomic.Pointer[strings.Replacer]
}

// Set replaces the secrets. They are also found in the forms in which they travel: escaped in a URL and in base64. Empty and
// very short ones are left out.
func (s *Secrets) Set(secrets ...string) {
	var forms []string
	for _, x := range secrets {
		x = strings.TrimSpace(x)
		if len(x) < shortest {
			continue
		}
		forms = append(forms, x, url.QueryEscape(x), url.PathEscape(x), base64.StdEncoding.EncodeToString([]byte(x)))
	}
	slices.Sort(forms)
	forms = slices.Compact(forms)
	// The longest first, so that of a secret that is part of another no rest is left.
	slices.SortStableFunc(forms, func(a, b string) int { return cmp.Compare(len(b), len(a)) })
	pairs := make([]string, 0, 2*len(forms))
	for _, f := range forms {
		pairs = append(pairs, f, Placeholder)
	}
	s.now.Store(strings.NewReplacer(pairs...))
}

// Clean is text without the secrets.
func (s *Secrets) Clean(text string) string {
	r := s.now.Load()
	if r == nil {
		return text
	}
	return r.Replace(text)
}

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
