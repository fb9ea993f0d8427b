package cli

import (
	"errors"
	"fmt"
	"log/slog"

	"herald/agents"
	"herald/config"
)

type configCheckCmd struct{}

// Run checks all that can be checked without reaching out: the configuration and the agents' folder.
func (configCheckCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	reg := agents.Open(agentOptions(cfg, slog.New(slog.DiscardHandler)))
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

// agentOptions are how a configuration's agents are found.
func agentOptions(cfg *config.Config, log *slog.Logger) agents.Options {
	return agents.Options{Dir: cfg.Agents.Dir, MayBeMissing: cfg.Source("agents.dir").Kind == config.FromDefault, Log: log}
}

// agentProblems is what is wrong with the agents as this configuration sees them.
func agentProblems(cfg *config.Config, reg *agents.Registry) []error {
	var out []error
	for _, p := range reg.Problems() {
		out = append(out, errors.New(p.String()))
	}
	for _, a := range reg.List() {
		if _, ok := cfg.Model(a.Model); a.Model != "" && !ok {
			out = append(out, fmt.Errorf("%s: agent %q wants the model %q, which is not configured; add [models.%s] or change the agent", a.Source, a.ID, a.Model, a.Model))
		}
	}
	return out
}
