package turn

import (
	"context"
	"fmt"
	"strings"

	"herald/core/session"
)

// progressRunes is how much of a task's text people are shown while an agent works on it.
const progressRunes = 80

// showProgress shows in the turn's live message which agents work on what: one message, which the answer replaces. It costs the platform no more
// than the updates of an answer, and is left out where those are.
func (r *run) showProgress(ctx context.Context) {
	r.mu.Lock()
	text := progressText(&r.state, r.hist)
	now := r.Clock()
	show := r.task == nil && !r.quiet && r.caps.Edits && r.LiveAfter >= 0 && text != "" && text != r.progress &&
		(r.progressAt.IsZero() || now.Sub(r.progressAt) >= r.caps.EditEvery)
	if show {
		r.progress, r.progressAt = text, now
	}
	r.mu.Unlock()
	if !show {
		return
	}
	w := r.liveWriter(true)
	w.text.WriteString(text)
	if err := w.show(ctx); err != nil {
		r.mu.Lock()
		r.quiet = true
		r.mu.Unlock()
		if ctx.Err() == nil {
			r.log.Info("what agents work on is not shown from here on", "error", err)
		}
	}
}

// progressText lists the agents that were given a task, in the order in which they were.
func progressText(s *session.State, h *session.History) string {
	var lines []string
	for _, f := range s.Frames {
		if f.Parent == "" {
			continue
		}
		task := []rune(strings.Join(strings.Fields(h.Task(f.ID)), " "))
		if len(task) > progressRunes {
			task = append(task[:progressRunes-1:progressRunes-1], '…')
		}
		lines = append(lines, fmt.Sprintf("%s- %s works on: %s", strings.Repeat("  ", f.Depth-1), code(f.Agent), code(string(task))))
	}
	return strings.Join(lines, "\n")
}
