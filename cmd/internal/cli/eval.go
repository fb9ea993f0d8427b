package cli

import (
	"errors"
	"fmt"
	"strings"

	"herald/agents"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/model"
	"herald/core/model/openai"
)

type evalCmd struct {
	Agents   []string `arg:"" optional:"" name:"agent" help:"Agents to try, instead of all that have scenarios."`
	Model    string   `placeholder:"NAME" help:"Configured model to use, instead of the one that each agent would get."`
	Scripted bool     `xor:"model" help:"Play the scripts of the scenarios, without a model: tries the checks themselves."`
}

// Run plays the scenarios of agents and says which properties hold.
func (c evalCmd) Run(e *env) error {
	cfg, reg, err := e.agents()
	if err != nil {
		return err
	}
	list, err := c.pick(reg)
	if err != nil {
		return err
	}
	choose := func(agents.Agent, agents.Scenario) model.Model { return nil }
	if !c.Scripted {
		router, done, err := c.router(cfg)
		if err != nil {
			return err
		}
		defer done()
		choose = func(a agents.Agent, _ agents.Scenario) model.Model {
			name := c.Model
			if name == "" {
				name = a.Model
			}
			strength, _ := model.ParseStrength(a.Strength)
			return router.For(name, strength, a.Scope)
		}
	}
	tried, failed := 0, 0
	for _, a := range list {
		scenarios, err := reg.Scenarios(a)
		if err != nil {
			return codeError{Config, err}
		}
		for _, s := range scenarios {
			m := choose(a, s)
			if m == nil {
				m = service.Script(s.Good)
			}
			got, err := service.Evaluate(e.ctx, reg, a, s, m)
			if err != nil {
				return codeError{NoModel, fmt.Errorf("%s/%s: %w", a.ID, s.Name, err)}
			}
			tried++
			word := "ok  "
			if len(got.Missing) > 0 {
				word, failed = "fail", failed+1
			}
			if _, err := fmt.Fprintf(e.Out, "%s  %s/%s  %s\n", word, a.ID, s.Name, strings.TrimSpace(s.About)); err != nil {
				return err
			}
			if len(got.Missing) > 0 && len(got.Strangers) > 0 {
				got.Missing = append(got.Missing, "it called tools that it does not have: "+strings.Join(got.Strangers, ", "))
			}
			for _, m := range got.Missing {
				if _, err := fmt.Fprintf(e.Out, "      → %s\n", m); err != nil {
					return err
				}
			}
		}
	}
	if _, err := fmt.Fprintf(e.Out, "%s, %d failed\n", counted(tried, "scenario"), failed); err != nil {
		return err
	}
	if failed > 0 {
		return quietError{Failed}
	}
	return nil
}

func (c evalCmd) pick(reg *agents.Registry) ([]agents.Agent, error) {
	if len(c.Agents) == 0 {
		return reg.List(), nil
	}
	var out []agents.Agent
	for _, id := range c.Agents {
		a, err := known(reg, id)
		if err != nil {
			return nil, err
		}
		out = append(out, a)
	}
	return out, nil
}

// router chooses among the configured models.
func (c evalCmd) router(cfg *config.Config) (*model.Router, func(), error) {
	t := openai.NewTransport()
	made, err := service.Models(cfg, t)
	switch {
	case err != nil:
		return nil, nil, codeError{Config, err}
	case len(made) == 0:
		return nil, nil, codeError{NoModel, errors.New(cfg.NoModelHint())}
	}
	if _, ok := cfg.Model(c.Model); c.Model != "" && !ok {
		return nil, nil, usageError{fmt.Errorf("no model %q is configured; herald config check lists those that are", c.Model)}
	}
	r := model.NewRouter(model.RouterOptions{Log: quietLog()})
	return r, t.CloseIdleConnections, r.Replace(made)
}
