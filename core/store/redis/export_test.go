package redis

import (
	"context"
	"errors"
)

// WithLanes is o with another number of pipelines under way and of calls in each.
func WithLanes(o Options, lanes, batch int) Options {
	o.lanes, o.batch = lanes, batch
	return o
}

// OpenWithMigrations opens a store with other steps than this release has.
func OpenWithMigrations(ctx context.Context, opt Options, steps map[int]string) (*Store, error) {
	s, err := connect(opt)
	if err != nil {
		return nil, err
	}
	m := map[int]migration{}
	for from, text := range steps {
		m[from] = migration(text)
	}
	if err := s.enter(ctx, m); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Place is how a URL is named in errors and logs.
func Place(raw string) (string, error) {
	t, err := parseURL(raw)
	return t.String(), err
}

// Login is what a URL says of the user.
func Login(raw string) (user, password string) {
	t, _ := parseURL(raw)
	return t.user, t.password
}

// The pure functions between the port and the wire.
var (
	EncodeHint   = encodeHint
	DecodeHint   = decodeHint
	CommitResult = commitResult
	Trouble      = trouble
)
