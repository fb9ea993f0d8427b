package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"

	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/store/redis/redistest"
)

// openStore prepares a fresh store and gives the address that the service is told, and what ends it.
func openStore(ctx context.Context, name, dir string) (url string, end func() error, err error) {
	switch name {
	case "memory":
		return "memory:", func() error { return nil }, nil
	case "sqlite":
		return "sqlite:" + filepath.Join(dir, "bench.db"), func() error { return nil }, nil
	case "redis":
		server, err := redistest.Start(ctx, redistest.Options{AOF: "everysec"})
		if err != nil {
			return "", nil, err
		}
		// A service makes no store on an empty Redis by itself; the operator's "store create" does it.
		if err := createStore(ctx, server.URL(), dir); err != nil {
			return "", nil, errors.Join(err, server.Close())
		}
		return server.URL(), server.Close, nil
	}
	return "", nil, fmt.Errorf("there is no store %q", name)
}

func createStore(ctx context.Context, url, dir string) error {
	cfg, err := config.Load(config.Options{Env: []string{"HERALD_DATA_DIR=" + dir, "HERALD_STORE__URL=" + url}, Dir: dir})
	if err != nil {
		return err
	}
	st, err := service.OpenStore(ctx, cfg, true, slog.New(slog.DiscardHandler))
	if err != nil {
		return err
	}
	return st.Close()
}
