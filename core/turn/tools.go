package turn

import (
	"context"
	"slices"

	"herald/core/session"
	"herald/core/tool"
)

// scope is for whom the tools of a frame are looked up.
func (r *run) scope(f *session.Frame) tool.Scope {
	s := tool.Scope{
		Agent: f.Agent, Frame: f.ID, Depth: f.Depth, Session: r.state.Session, Conversation: r.conv, Direct: r.direct(), Groups: f.Groups,
		NoNotes: r.cur.NoNotes && r.task == nil,
	}
	if r.task != nil {
		s.Depth, s.Task, s.Askers = s.Depth+len(r.task.Callers), r.task.ID, slices.Clone(r.task.Askers)
	}
	if t := r.state.Turn; t != nil {
		s.Turn, s.Person = t.ID, t.Person()
		for _, cv := range t.Covers {
			if cv.Person != "" && !slices.Contains(s.Askers, cv.Person) {
				s.Askers = append(s.Askers, cv.Person)
			}
		}
	}
	return s
}

// callers are the agents that delegated down to a frame, the session's own first.
func (r *run) callers(f *session.Frame) []*session.Frame {
	var up []*session.Frame
	for f.Parent != "" {
		if f = r.state.Frame(f.Parent); f == nil {
			break
		}
		up = append(up, f)
	}
	if r.task != nil {
		for _, agent := range slices.Backward(r.task.Callers) {
			up = append(up, &session.Frame{ID: "caller/" + agent, Agent: agent})
		}
	}
	slices.Reverse(up)
	return up
}

func agentsOf(fs []*session.Frame) []string {
	var out []string
	for _, f := range fs {
		out = append(out, f.Agent)
	}
	return out
}

// tools is what the agent of a frame can use now, sorted by name: the same for what its model is shown and for what it can run.
func (r *run) tools(ctx context.Context, f *session.Frame) ([]tool.Tool, error) {
	ts, err := r.declared(ctx, f)
	return slices.DeleteFunc(ts, func(t tool.Tool) bool { return r.hides(ctx, f, t.Spec.Name) }), err
}

// hides reports whether a rule hides the tool from the agent of a frame, or from one that delegated down to it.
func (r *run) hides(ctx context.Context, f *session.Frame, name string) bool {
	return tool.HiddenInChain(ctx, r.gate, r.asking(f), agentsOf(r.callers(f)), name)
}

// declared is the tools of a frame before the rules hide any.
func (r *run) declared(ctx context.Context, f *session.Frame) ([]tool.Tool, error) {
	callers := r.callers(f)
	var chain []tool.Selection
	for _, g := range append(slices.Clip(callers), f) {
		a, err := r.agent(ctx, g)
		if err != nil {
			return nil, err
		}
		chain = append(chain, tool.Selection{None: a.NoTools, All: a.AllTools, Names: a.Tools})
	}
	c := r.asking(f)
	all := r.Tools.All()
	for _, src := range r.Sources {
		ts, err := src.Tools(ctx, c.Scope)
		if err != nil {
			if ctx.Err() != nil {
				return nil, context.Cause(ctx)
			}
			r.log.Warn("tools could not be looked up; the agent goes on without them", "agent", f.Agent, "error", err)
			continue
		}
		for _, t := range ts {
			if err := r.schemas.check(&t); err != nil {
				r.log.Warn("a tool cannot be offered", "agent", f.Agent, "error", err)
				continue
			}
			all = append(all, t)
		}
	}
	return tool.Usable(chain, c.Groups, all), nil
}

// bound is the tool of this name if the frame has it; hidden says that it has it and a rule hides it.
func (r *run) bound(ctx context.Context, f *session.Frame, name string) (t tool.Tool, hidden, ok bool) {
	ts, err := r.declared(ctx, f)
	if err != nil {
		r.log.Warn("the tools of an agent could not be looked up", "agent", f.Agent, "error", err)
		return tool.Tool{}, false, false
	}
	i := slices.IndexFunc(ts, func(t tool.Tool) bool { return t.Spec.Name == name })
	if i < 0 {
		return tool.Tool{}, false, false
	}
	hidden = r.hides(ctx, f, name)
	return ts[i], hidden, !hidden
}
