package service_test

import (
	"strings"
	"sync"
	"testing"

	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// seen keeps the last request of a model.
type seen struct {
	mu   sync.Mutex
	last model.Request
}

func (s *seen) keep(q *model.Request) (modeltest.Reply, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.last = *q
	return modeltest.Reply{}, false
}

// prompt is the last request's system prompt and what the person's words came with.
func (s *seen) prompt() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := strings.Join(s.last.System, "\n")
	for _, m := range s.last.Messages {
		if m.Role == model.User {
			text += "\n" + m.Text
		}
	}
	return text
}

// An agent that a rule keeps from delegating is shown nobody to delegate to.
func TestTheListOfAgentsFollowsTheRules(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		env  []string
		want bool
	}{
		{"no rule", nil, true},
		{"a rule denies delegation", []string{"HERALD_RULES__1__TOOL=execute_task", "HERALD_RULES__1__ACTION=deny", "HERALD_RULES__1__PRIORITY=0"}, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := &seen{}
			r := start(t, load(t, tt.env...), func(o *service.Options) { o.Models = scripted(s.keep, modeltest.Echo()) })
			r.answer(r.direct("alice", "hello"))
			if got := strings.Contains(s.prompt(), "- **researcher** — "); got != tt.want {
				t.Errorf("the list stands there: %v, want %v", got, tt.want)
			}
		})
	}
}

// main sees the notes of a person in the next conversation with that person alone, and in no other.
func TestMainSeesTheIndexOfNotes(t *testing.T) {
	t.Parallel()
	s := &seen{}
	r := start(t, load(t), func(o *service.Options) { o.Models = scripted(s.keep, obedient) })
	for _, step := range []struct {
		name, user, text string
		want             bool
	}{
		{"before", "alice", "hello", false},
		{"while it is kept", "alice", `RUN remember {"text":"Likes green tea."}`, false},
		{"the next conversation", "alice", "hello again", true},
		{"somebody else", "bob", "hello", false},
	} {
		r.answer(r.direct(step.user, step.text))
		if got := strings.Contains(s.prompt(), ".md — Likes green tea."); got != step.want {
			t.Errorf("%s: the index names the note: %v, want %v\n%s", step.name, got, step.want, s.prompt())
		}
	}
	r.answer(r.ask("hello from alice in a channel"))
	if strings.Contains(s.prompt(), "Likes green tea") || strings.Contains(s.prompt(), `path="user-memory/`) {
		t.Errorf("a channel reads a person's notes:\n%s", s.prompt())
	}
}
