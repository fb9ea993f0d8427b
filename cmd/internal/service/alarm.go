package service

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/bots/slack"
	"herald/core/alarm"
	"herald/core/chat"
)

const (
	// alarmEvery is the pause between two looks for trouble, alarmSettle how long it must last: a connection that is made anew is none.
	alarmEvery  = time.Minute
	alarmSettle = 2 * time.Minute
	// scopesEvery is how often a platform is asked for the rights of its token.
	scopesEvery = time.Hour
	// maxTrouble is how much of a part's own words stands in a message.
	maxTrouble = 600
)

// alarms tells the admins of trouble.
func (s *Service) alarms() *alarm.Watch {
	every, settle := alarmEvery, alarmSettle
	if s.opts.AlarmEvery > 0 {
		every, settle = s.opts.AlarmEvery, 0
	}
	return alarm.New(alarm.Options{
		Store: s.store, Holder: s.holder, NewID: s.opts.NewID, Every: every, Settle: settle, Welcome: s.cfg.Slack.Enabled() && s.cfg.Slack.Introduce, Log: s.log,
		Admins: func() (out []chat.IdentityID) {
			for _, a := range s.now.Load().Admins {
				out = append(out, chat.IdentityID(a))
			}
			return out
		},
		Open: s.openDirect, Look: (&lookout{s: s}).look,
	})
}

// opens reports whether a connection can write to a person first.
func (s *Service) opens() bool {
	return slices.ContainsFunc(s.runs, func(c Connection) bool { _, ok := c.(chat.Opener); return ok })
}

// lookout looks at the parts of a service. It is used by one goroutine.
type lookout struct {
	s *Service
	// scopes is the trouble with rights as it was when it was last asked for.
	scopes *alarm.Trouble
	asked  time.Time
}

// look gives the trouble of now: names and reasons, never a text of a person or a secret.
func (l *lookout) look(ctx context.Context) (out []alarm.Trouble) {
	add := func(kind, format string, args ...any) {
		text := l.s.opts.Secrets.Clean(fmt.Sprintf(format, args...))
		if r := []rune(text); len(r) > maxTrouble {
			text = string(r[:maxTrouble]) + "…"
		}
		out = append(out, alarm.Trouble{Kind: kind, Text: text})
	}
	for _, p := range l.s.ready.platforms {
		if err := p.err(); err != nil {
			add(p.name, "The connection to the platform does not work: %v.", err)
		}
	}
	if err := l.s.router.Ready(); err != nil {
		add("models", "No model can answer: %v. See `herald doctor`.", err)
	}
	if h, err := l.s.store.Health(ctx); err == nil && !h.Durable {
		add("store", "The store could lose what was acknowledged: %s.", strings.Join(h.Warnings, "; "))
	}
	var broken []string
	for _, c := range CheckAgents(l.s.now.Load(), l.s.agents) {
		if c.Status != Good {
			broken = append(broken, c.Text)
		}
	}
	if len(broken) > 0 {
		add("agents", "Agents cannot be used as they are written: %s. See `herald agents check` or `herald doctor`.", strings.Join(broken, "; "))
	}
	if letters, err := l.s.store.DeadLetters(ctx, 1); err == nil && len(letters) > 0 {
		add("dead-letters", "Something could not be done or delivered and was set aside, the newest at %s. An admin finds it among the dead letters.",
			letters[0].At.UTC().Format("2006-01-02 15:04 UTC"))
	}
	if t := l.rights(ctx); t != nil {
		out = append(out, *t)
	}
	return out
}

// scoped is a platform that knows which rights its token lacks.
type scoped interface {
	MissingScopes(ctx context.Context) ([]slack.Scope, error)
}

// rights asks now and then which rights are missing; between two answers the last one holds.
func (l *lookout) rights(ctx context.Context) *alarm.Trouble {
	if !l.asked.IsZero() && time.Since(l.asked) < scopesEvery && l.s.opts.AlarmEvery == 0 {
		return l.scopes
	}
	for _, c := range l.s.runs {
		p, ok := c.(scoped)
		if !ok {
			continue
		}
		missing, err := p.MissingScopes(ctx)
		if err != nil {
			continue // the connection's own trouble tells of it
		}
		l.asked, l.scopes = time.Now(), nil
		var lines []string
		for _, m := range missing {
			lines = append(lines, fmt.Sprintf("`%s` (%s)", m.Name, m.Why))
		}
		if len(lines) > 0 {
			l.scopes = &alarm.Trouble{Kind: "scopes", Text: "The app lacks rights: " + strings.Join(lines, ", ") + ". Add them under OAuth & Permissions, install the app again, and give Herald the new token."}
		}
	}
	return l.scopes
}
