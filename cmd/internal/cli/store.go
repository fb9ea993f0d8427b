package cli

import (
	"errors"
	"fmt"
	"log/slog"

	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/store"
)

type storeCmd struct {
	Create storeCreateCmd `cmd:"" help:"Make the configured store. An empty Redis is used only after this was said once."`
}

type storeCreateCmd struct{}

// Run makes the store, or says that it is there.
func (storeCreateCmd) Run(e *env) error {
	cfg, err := e.load()
	if err != nil {
		return err
	}
	if cfg.Store.Target.Driver == "memory" {
		return usagef("a store in memory begins with each process; there is nothing to make. Set store.url to sqlite:PATH or redis://HOST")
	}
	var made bool
	var h store.Health
	running, err := e.whileInUse(cfg, func() (err error) {
		made, h, err = createStore(e, cfg)
		return err
	})
	if running {
		// The service holds an embedded store: that it does is the answer.
		_, err = fmt.Fprintln(e.Out, "The store is there already; the running service uses it")
		return err
	}
	if err != nil {
		return err
	}
	word := "is there already"
	if made {
		word = "was made"
	}
	fmt.Fprintf(e.Out, "The store %s: %s, id %s, format %d; %s\n", word, h.Driver, h.ID, h.Format, h.Keeps)
	for _, w := range h.Warnings {
		fmt.Fprintf(e.Err, "herald: warning: %s\n", w)
	}
	return nil
}

// createStore opens the store of cfg, and makes it where there is none.
func createStore(e *env, cfg *config.Config) (made bool, h store.Health, err error) {
	log := slog.New(slog.DiscardHandler)
	st, err := service.OpenStore(e.ctx, cfg, false, log)
	if errors.Is(err, store.ErrMissing) {
		made = true
		st, err = service.OpenStore(e.ctx, cfg, true, log)
	}
	if err != nil {
		return false, h, err
	}
	h, err = st.Health(e.ctx)
	return made, h, errors.Join(err, st.Close())
}
