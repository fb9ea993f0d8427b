package cli

import (
	"errors"
	"log/slog"

	"herald/agents"
	"herald/cmd/internal/service"
	"herald/config"
)

type configCheckCmd struct{}

// Run checks all that can be checked without reaching out: the configuration and the agents' folder.
func (configCheckCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	reg := agents.Open(service.AgentOptions(cfg, slog.New(slog.DiscardHandler)))
	var ids []string
	for _, a := range reg.List() {
		ids = append(ids, a.ID)
	}
	if err := errors.Join(agentProblems(cfg, reg)...); err != nil {
		return codeError{Config, err}
	}
	return cfg.Summary(e.Out, ids...)
}

type configExplainCmd struct{}

// Run prints every setting.
func (configExplainCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	return cfg.Explain(e.Out)
}

// agentProblems is what is wrong with the agents as this configuration sees them.
func agentProblems(cfg *config.Config, reg *agents.Registry) []error {
	var out []error
	for _, c := range service.CheckAgents(cfg, reg) {
		if c.Status != service.Good {
			out = append(out, errors.New(c.Text+"; "+c.Remedy))
		}
	}
	return out
}
