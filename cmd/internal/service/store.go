package service

import (
	"context"
	"fmt"
	"log/slog"

	"herald/config"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/store/redis"
	"herald/core/store/sqlite"
)

// OpenStore opens the store that cfg names. create makes one where there is none; without it that is [store.ErrMissing]. The
// caller closes it.
func OpenStore(ctx context.Context, cfg *config.Config, create bool, log *slog.Logger) (store.Store, error) {
	switch cfg.Store.Target.Driver {
	case "memory":
		return memory.New(memory.Options{}), nil
	case "sqlite":
		return sqlite.Open(ctx, sqlite.Options{Path: cfg.Store.Target.Path, Create: create, Sync: cfg.Store.SQLiteSync, Logger: log})
	case "redis":
		return redis.Open(ctx, redis.Options{
			URL: cfg.Store.URL, Password: cfg.Store.Password.Reveal(), SentinelPassword: cfg.Store.SentinelPassword.Reveal(),
			Create: create, WaitReplicas: cfg.Store.WaitReplicas, Logger: log,
		})
	default:
		return nil, fmt.Errorf("the store's driver %q is not part of this build", cfg.Store.Target.Driver)
	}
}

// MayCreate says whether a service makes its store by itself. An embedded store belongs to one process, so a missing file is a
// first start. An empty Redis can as well be one that lost everything or the wrong one: a person says that it is to be used.
func MayCreate(cfg *config.Config) bool { return cfg.Store.Target.Driver != "redis" }

// checkDurable holds a store to the operator's demand, and tells its warnings.
func checkDurable(ctx context.Context, cfg *config.Config, st store.Store, log *slog.Logger) error {
	h, err := st.Health(ctx)
	if err != nil {
		return err
	}
	log.Info("store: "+h.Keeps, "driver", h.Driver)
	for _, w := range h.Warnings {
		log.Warn("store: "+w, "driver", h.Driver)
	}
	if cfg.Store.RequirePersistence && !h.Durable {
		return &notDurableError{h.Warnings}
	}
	return nil
}

// notDurableError: the store keeps less than store.require_persistence demands.
type notDurableError struct{ warnings []string }

func (e *notDurableError) Error() string {
	s := "the store could lose what was acknowledged, and store.require_persistence is set"
	for _, w := range e.warnings {
		s += "; " + w
	}
	return s
}

// Is makes it count as a store that cannot be used.
func (e *notDurableError) Is(target error) bool { return target == store.ErrUnavailable }
