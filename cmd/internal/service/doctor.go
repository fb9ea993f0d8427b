package service

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"time"

	"herald/agents"
	"herald/config"
	"herald/core/model"
	"herald/core/store"
)

// Status is how a check came out.
type Status string

// The outcomes of a check.
const (
	Good Status = "ok"
	Warn Status = "warn" // it works, and will not for ever or not well
	Bad  Status = "fail"
)

// Check is one line of the doctor.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Text   string `json:"text"`
	// Remedy says what to do; it is never empty unless Status is Good.
	Remedy string `json:"remedy,omitempty"`
}

// Checks are the doctor's lines with the worst of them.
type Checks []Check

// Failed reports whether a check of this name failed.
func (cs Checks) Failed(name string) bool {
	for _, c := range cs {
		if c.Name == name && c.Status == Bad {
			return true
		}
	}
	return false
}

// clockSkew is how far this machine's clock may be from the store's before a person should know: ages of messages and shown
// times go by it.
const clockSkew = 2 * time.Second

// askWait bounds the one call to each model.
const askWait = 60 * time.Second

// CheckStore looks at an open store. now is this machine's clock.
func CheckStore(ctx context.Context, st store.Store, now func() time.Time) Checks {
	h, err := st.Health(ctx)
	if err != nil {
		return Checks{StoreFault(err)}
	}
	out := Checks{{Name: "store", Status: Good, Text: fmt.Sprintf("%s, id %s, format %d; %s", h.Driver, h.ID, h.Format, h.Keeps)}}
	for _, w := range h.Warnings {
		out = append(out, Check{Name: "store", Status: Warn, Text: w, Remedy: "see the line itself; acknowledged messages may be lost until then"})
	}
	if !h.Durable && len(h.Warnings) == 0 {
		out = append(out, Check{Name: "store", Status: Warn, Text: "what it holds ends with the process", Remedy: "set store.url to sqlite:PATH or redis://HOST for anything but a trial"})
	}
	at, err := st.Now(ctx)
	if err != nil {
		return append(out, StoreFault(err))
	}
	c := Check{Name: "clock", Status: Good, Text: "agrees with the store's"}
	if d := now().Sub(at); d.Abs() > clockSkew {
		c.Status, c.Text = Warn, fmt.Sprintf("this machine's clock is %s off the store's", d.Round(time.Second))
		c.Remedy = "keep both machines' clocks right by NTP; work goes on by the store's clock, shown times and ages are wrong"
	}
	return append(out, c)
}

// StoreFault is the line for a store that could not be opened or asked.
func StoreFault(err error) Check {
	remedy := "see the message; then start again"
	for _, r := range []struct {
		kind   error
		remedy string
	}{
		{store.ErrMissing, "run herald store create, or correct store.url"},
		{store.ErrInUse, "stop the other process, or let it do the work: commands ask a running service over its socket"},
		{store.ErrNewer, "install the version of Herald that wrote it, or a newer one"},
		{store.ErrChanged, "look whether the store was emptied or store.url names another one; restore the backup"},
		{store.ErrFull, "make room on the disk, or raise maxmemory"},
		{store.ErrReadOnly, "write to the primary, or give this account the right to write"},
		{store.ErrCorrupt, "restore the backup"},
		{store.ErrUnavailable, "look whether the server runs and store.url is right"},
		{fs.ErrPermission, "give this account the right to read and write there, or set data_dir or store.url to another place"},
	} {
		if errors.Is(err, r.kind) {
			remedy = r.remedy
			break
		}
	}
	return Check{Name: "store", Status: Bad, Text: err.Error(), Remedy: remedy}
}

// CheckModels looks at the configured models. With ask each of them gets one small call, which costs a few tokens.
func CheckModels(ctx context.Context, cfg *config.Config, models []model.Configured, ask bool) Checks {
	if len(models) == 0 {
		return Checks{{Name: "models", Status: Bad, Text: "no model is configured, so nothing can be answered", Remedy: cfg.NoModelHint()}}
	}
	var out Checks
	for _, m := range models {
		c := Check{Name: "models", Status: Good, Text: fmt.Sprintf("%s is configured; herald doctor --ask calls it", m.Name)}
		if ask {
			c = AskModel(ctx, m)
		}
		out = append(out, c)
	}
	return out
}

// AskModel makes one small real call.
func AskModel(ctx context.Context, m model.Configured) Check {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	start := time.Now()
	req := &model.Request{
		Messages:        []model.Message{{Role: model.User, Text: "Answer with the single word: ok"}},
		MaxOutputTokens: 64, NewCallID: func() string { return "call_1" },
	}
	for chunk, err := range m.Model.Generate(ctx, req) {
		if err != nil {
			remedy := "correct [providers] and [models], or let the provider know"
			if e, ok := errors.AsType[*model.Error](err); ok && e.Kind == model.Unavailable {
				remedy = "look whether the provider's server runs and providers.NAME.base_url is its address"
			}
			return Check{Name: "models", Status: Bad, Text: err.Error(), Remedy: remedy}
		}
		if chunk.Done != nil {
			return Check{Name: "models", Status: Good, Text: fmt.Sprintf("%s answered in %s", m.Name, time.Since(start).Round(time.Millisecond))}
		}
	}
	return Check{Name: "models", Status: Bad, Text: m.Name + " gave no answer", Remedy: "try it again; if it stays so, the endpoint is not compatible"}
}

// CheckAgents looks at the agents' folder.
func CheckAgents(cfg *config.Config, reg *agents.Registry) Checks {
	var out Checks
	for _, p := range reg.Problems() {
		c := Check{Name: "agents", Status: Bad, Text: p.String(), Remedy: "correct it; the folder is read again by itself"}
		if p.Kept || p.Bare {
			c.Status = Warn
		}
		out = append(out, c)
	}
	list := reg.List()
	for _, a := range list {
		if _, ok := cfg.Model(a.Model); a.Model != "" && !ok {
			out = append(out, Check{
				Name: "agents", Status: Bad, Text: fmt.Sprintf("%s: agent %q wants the model %q, which is not configured", a.Source, a.ID, a.Model),
				Remedy: fmt.Sprintf("add [models.%s], or change the agent", a.Model),
			})
		}
		if text, remedy := Unthinking(cfg, a); text != "" {
			out = append(out, Check{Name: "agents", Status: Warn, Text: a.Source + ": " + text, Remedy: remedy})
		}
	}
	if len(out) == 0 {
		out = append(out, Check{Name: "agents", Status: Good, Text: fmt.Sprintf("%d found", len(list))})
	}
	return out
}

// Unthinking says why what an agent's file says of thinking changes nothing, and what to do; "" where it reaches a model.
func Unthinking(cfg *config.Config, a agents.Agent) (text, remedy string) {
	m, named := cfg.Model(a.Model)
	switch {
	case a.Thinking == nil, named && m.Thinking, a.Model != "" && !named:
		return "", ""
	case named:
		return fmt.Sprintf("agent %q: thinking changes nothing, for its model %q takes no such setting", a.ID, a.Model),
			fmt.Sprintf("set models.%s.thinking = true where the model takes reasoning_effort, or take thinking out of the agent", a.Model)
	case slices.ContainsFunc(cfg.Models, func(m config.Model) bool { return m.Thinking }):
		return "", ""
	default:
		return fmt.Sprintf("agent %q: thinking changes nothing, for no configured model takes such a setting", a.ID),
			"set models.NAME.thinking = true for a model that takes reasoning_effort, or take thinking out of the agent"
	}
}

// CheckDataDir looks whether the service can keep its own files.
func CheckDataDir(cfg *config.Config) Check {
	dir := cfg.DataDir
	bad := func(err error) Check {
		return Check{
			Name: "data folder", Status: Bad, Text: fmt.Sprintf("%s cannot be used: %s", dir, err),
			Remedy: "give this account the right to read, write and enter it, or set data_dir to another folder",
		}
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return Check{Name: "data folder", Status: Good, Text: dir + " does not exist yet and is made at the first start"}
	}
	if err != nil {
		return bad(err)
	}
	if !info.IsDir() {
		return bad(errors.New("it is no folder"))
	}
	f, err := os.CreateTemp(dir, ".doctor-*")
	if err != nil {
		return bad(err)
	}
	name := f.Name()
	if err := errors.Join(f.Close(), os.Remove(name)); err != nil {
		return bad(err)
	}
	if info.Mode().Perm()&0o007 != 0 {
		return Check{
			Name: "data folder", Status: Warn, Text: fmt.Sprintf("%s can be read by every account of this machine (mode %04o)", dir, info.Mode().Perm()),
			Remedy: "chmod o-rwx " + filepath.Clean(dir),
		}
	}
	return Check{Name: "data folder", Status: Good, Text: dir}
}
