package service

import (
	"context"
	"fmt"
	"strings"
	"time"

	"herald/core/conversation"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/stack"
)

// directory is the agents as the engine's own tools look them up.
type directory struct{ agentSource }

// Agent is the agent of a frame without what stands in its prompt of notes and files: the tools do not depend on it, and they are asked for often.
func (d directory) Agent(ctx context.Context, of tool.Scope) (prompt.Agent, error) {
	if err := ctx.Err(); err != nil {
		return prompt.Agent{}, err
	}
	set := d.registry.Now()
	a, err := set.Agent(of.Agent)
	if err != nil {
		return prompt.Agent{}, err
	}
	return d.describe(set, a), nil
}

// List is all agents.
func (d directory) List(context.Context) []stack.Info {
	var out []stack.Info
	for _, a := range d.registry.List() {
		out = append(out, stack.Info{ID: a.ID, Type: string(a.Type), Description: d.clean(a.Description), Instructions: d.clean(a.Instructions)})
	}
	return out
}

// stack are the engine's own tools.
func (s *Service) stack(tools *tool.Registry) *stack.Source {
	return stack.New(stack.Options{
		Agents: directory{s.agentSource()}, Groups: tools.Groups, Async: true,
		Lists: map[string]func(context.Context, tool.Scope) (string, error){"tasks": s.listTasks, "skills": s.listSkills},
		Resolve: func(a prompt.Agent) error {
			if a.Model == "" {
				return nil // a choice by strength always finds one, or says at the call that none is configured
			}
			if _, err := s.router.Pick(a.Model, "", a.Scope); err != nil {
				return fmt.Errorf("the agent %q cannot work with the model %q: %w", a.ID, a.Model, err)
			}
			return nil
		},
	})
}

// contextTokens is what the context of an agent's model holds, 0 where there is no model.
func (s *Service) contextTokens(a prompt.Agent) int {
	strength, err := model.ParseStrength(a.Strength)
	if err != nil {
		return 0
	}
	c, err := s.router.Pick(a.Model, strength, a.Scope)
	if err != nil {
		return 0
	}
	return c.ContextTokens
}

// listSkills lists the skills that an agent may use.
func (s *Service) listSkills(ctx context.Context, of tool.Scope) (string, error) {
	if s.authors == nil {
		return "", nil
	}
	sel, err := s.authors.use.Selector(ctx, of.Agent)
	if err != nil {
		return "", err
	}
	var lines []string
	for _, k := range s.authors.skills.List(of.Agent, sel) {
		lines = append(lines, "- **"+k.ID+"** — "+strings.Join(strings.Fields(k.Description), " "))
	}
	return s.opts.Secrets.Clean(strings.Join(lines, "\n")), nil
}

// recentTasks is how long a task that failed is listed.
const recentTasks = 30 * time.Minute

// listTasks lists the tasks of a conversation that run beside it, and those that failed lately.
func (s *Service) listTasks(ctx context.Context, of tool.Scope) (string, error) {
	as, err := s.store.Read(ctx, store.List{Partition: conversation.Partition(of.Conversation), Collection: conversation.Tasks})
	if err != nil {
		return "", fmt.Errorf("read the tasks of this conversation: %w", err)
	}
	var lines []string
	for _, doc := range as[0].Docs {
		var t conversation.TaskDoc
		if err := conversation.Decode(doc, &t); err != nil {
			return "", err
		}
		switch {
		case t.State == conversation.TaskRunning:
			lines = append(lines, fmt.Sprintf("- %s, %s, by %s: running since %s", t.ID, t.Title, t.Agent, t.At.UTC().Format("15:04 MST")))
		case t.Status != session.Done && as[0].Now.Sub(t.EndedAt) < recentTasks:
			lines = append(lines, fmt.Sprintf("- %s, %s, by %s: %s at %s", t.ID, t.Title, t.Agent, t.Status, t.EndedAt.UTC().Format("15:04 MST")))
		}
	}
	return strings.Join(lines, "\n"), nil
}

// grouped puts tools into the groups that must be activated before an agent of the default set sees them.
func grouped(tools []tool.Tool) []tool.Tool {
	for i := range tools {
		switch n := tools[i].Spec.Name; {
		case gate.IsFile(n), n == "execute_cmd", n == "show_file_to_user":
			tools[i].Group = "files"
		case n == "web_fetch", n == "web_search":
			tools[i].Group = "web"
		case n == "memory_search":
			tools[i].Group = "memory"
		}
	}
	return tools
}
