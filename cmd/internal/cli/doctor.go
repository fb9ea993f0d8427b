package cli

import (
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"time"

	"herald/agents"
	"herald/cmd/internal/control"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/model"
	"herald/core/model/openai"
	"herald/core/store"
	"herald/skills"
	"herald/skills/authored"
)

type doctorCmd struct {
	Ask  bool `help:"Make one small call to each model, which costs a few tokens."`
	JSON bool `name:"json" help:"Print the findings as JSON."`
}

// Run checks what it can reach. What a running service holds is asked of the service.
func (d doctorCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	checks := service.Checks{{Name: "configuration", Status: service.Good, Text: orNone(cfg.File)}, service.CheckDataDir(cfg)}
	if rest, running := d.reach(e, cfg); running.Status == service.Bad {
		checks = append(checks, running)
	} else {
		checks = append(append(checks, running), rest...)
	}
	checks = append(checks, service.CheckSlack(e.ctx, cfg)...)
	if err := d.print(e, checks); err != nil {
		return err
	}
	return verdict(checks)
}

func orNone(file string) string {
	if file == "" {
		return "no file; defaults and environment"
	}
	return file
}

// askService is what the running service finds.
func (d doctorCmd) askService(e *env, cfg *config.Config) (service.Checks, error) {
	c := control.NewClient(cfg.Socket)
	defer c.Close()
	route := service.DoctorRoute
	if d.Ask {
		route += "?ask=1"
	}
	var checks service.Checks
	err := c.Get(e.ctx, route, &checks)
	return checks, err
}

// reach finds out how store, models and agents are: from the service that runs, or directly when none does.
func (d doctorCmd) reach(e *env, cfg *config.Config) (service.Checks, service.Check) {
	ask := func() (service.Checks, service.Check) {
		checks, err := d.askService(e, cfg)
		if err != nil {
			return nil, service.Check{Name: "service", Status: service.Bad, Text: err.Error(), Remedy: "run the command as the account of the service, or restart the service"}
		}
		return checks, service.Check{Name: "service", Status: service.Good, Text: "runs; store, models and agents are as it sees them"}
	}
	client := control.NewClient(cfg.Socket)
	defer client.Close()
	conn, err := client.Dial(e.ctx)
	if err == nil {
		_ = conn.Close()
	}
	if !errors.Is(err, control.ErrNotRunning) {
		return ask()
	}
	var checks service.Checks
	running, err := e.whileInUse(cfg, func() (err error) {
		checks, err = d.lookStore(e, cfg)
		return err
	})
	if running {
		return ask()
	}
	if err != nil {
		checks = service.Checks{service.StoreFault(err)}
	}
	return append(checks, d.look(e, cfg)...), service.Check{Name: "service", Status: service.Good, Text: "does not run; looked at directly"}
}

// lookStore opens the store that no service holds.
func (d doctorCmd) lookStore(e *env, cfg *config.Config) (service.Checks, error) {
	st, err := service.OpenStore(e.ctx, cfg, false, slog.New(slog.DiscardHandler))
	if errors.Is(err, store.ErrMissing) && service.MayCreate(cfg) {
		return service.Checks{{Name: "store", Status: service.Good, Text: "does not exist yet and is made at the first start"}}, nil
	}
	if err != nil {
		return nil, err
	}
	checks := service.CheckStore(e.ctx, st, time.Now)
	return checks, st.Close()
}

// look reads what needs no store.
func (d doctorCmd) look(e *env, cfg *config.Config) service.Checks {
	t := openai.NewTransport()
	defer t.CloseIdleConnections()
	checks := d.models(e, cfg, t)
	ag := agents.Open(service.AgentOptions(cfg, quietLog()))
	checks = append(checks, service.CheckAgents(cfg, ag)...)
	return append(checks, service.CheckAuthors(e.ctx, ag, skills.Open(service.SkillOptions(cfg, quietLog())), authored.Open(service.ToolOptions(cfg, quietLog())), service.Runner(cfg))...)
}

func (d doctorCmd) models(e *env, cfg *config.Config, t http.RoundTripper) service.Checks {
	var made []model.Configured
	made, err := service.Models(cfg, t)
	if err != nil {
		return service.Checks{{Name: "models", Status: service.Bad, Text: err.Error(), Remedy: "correct [providers] and [models]"}}
	}
	return service.CheckModels(e.ctx, cfg, made, d.Ask)
}

func (d doctorCmd) print(e *env, checks service.Checks) error {
	if d.JSON {
		enc := json.NewEncoder(e.Out)
		enc.SetIndent("", "  ")
		return enc.Encode(checks)
	}
	var b strings.Builder
	for _, c := range checks {
		fmt.Fprintf(&b, "%-4s  %-13s  %s\n", c.Status, c.Name, c.Text)
		mark := "→ "
		for line := range strings.Lines(c.Remedy) {
			if line = strings.TrimRight(line, "\n"); line != "" {
				fmt.Fprintf(&b, "      %-13s  %s%s\n", "", mark, line)
				mark = "  "
			}
		}
	}
	_, err := fmt.Fprint(e.Out, b.String())
	return err
}

// verdict is the exit of the doctor: the gravest finding first.
func verdict(checks service.Checks) error {
	for _, v := range []struct {
		name string
		code Code
	}{{"store", Store}, {"models", NoModel}, {"agents", Config}, {"skills", Config}, {"tools", Config}, {"slack", Failed}, {"data folder", Failed}, {"service", Failed}} {
		if checks.Failed(v.name) {
			return quietError{v.code}
		}
	}
	return nil
}
