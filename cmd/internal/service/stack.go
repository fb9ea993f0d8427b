package service

import (
	"context"
	"fmt"

	"herald/core/prompt"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/stack"
)

// directory is the agents as the engine's own tools look them up.
type directory struct{ agentSource }

// Agent is the agent of a scope, with its type.
func (d directory) Agent(ctx context.Context, of tool.Scope) (prompt.Agent, error) {
	a, err := d.agentSource.Agent(ctx, of)
	if err != nil {
		return a, err
	}
	from, err := d.registry.Agent(ctx, of.Agent)
	a.Type = string(from.Type)
	return a, err
}

// List is all agents.
func (d directory) List(context.Context) []stack.Info {
	var out []stack.Info
	for _, a := range d.registry.List() {
		out = append(out, stack.Info{ID: a.ID, Type: string(a.Type), Description: d.clean(a.Description)})
	}
	return out
}

// stack are the engine's own tools.
func (s *Service) stack(tools *tool.Registry) *stack.Source {
	return stack.New(stack.Options{
		Agents: directory{agentSource{s.agents, s.opts.Secrets.Clean, s.authors}}, Groups: tools.Groups,
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
