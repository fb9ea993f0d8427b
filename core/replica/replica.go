package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"herald/core/store"
)

// Partition is where the processes are noted.
const Partition store.Partition = "system"

const index = "replicas"

const (
	// Every is how often a process says that it lives, Gone after how long without a word it counts as gone: a process that was away
	// for longer has lost all its claims, so that it writes nothing before it has read anew.
	Every = 20 * time.Second
	Gone  = 2 * time.Minute
)

// Options of a registry. Store, Holder, Format and NewID are required.
type Options struct {
	Store  store.Store
	Holder string
	// Format is the newest format that this process reads and writes; at least 1.
	Format int
	NewID  func() string
	Log    *slog.Logger
}

// Registry is this process among the others.
type Registry struct {
	o      Options
	writes atomic.Int64
}

// New makes a registry; nothing is written before [Registry.Join].
func New(o Options) (*Registry, error) {
	if o.Store == nil || o.Holder == "" || o.Format < 1 || o.NewID == nil || strings.Contains(o.Holder, "|") {
		return nil, fmt.Errorf("make a registry of replicas: it needs a store, a holder without '|', a format and a source of ids: %w", store.ErrInvalid)
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	r := &Registry{o: o}
	r.writes.Store(1)
	return r, nil
}

// Writes is the newest format that every process known to live understands, as of the last look: what may be written. Before the first
// look it is 1, which every release reads.
func (r *Registry) Writes() int { return int(r.writes.Load()) }

// Join notes this process and looks at the others.
func (r *Registry) Join(ctx context.Context) error {
	_, err := r.o.Store.Commit(ctx, store.Commit{
		ID: "replica.join/" + r.o.NewID(), Partition: Partition,
		Ops: []store.Op{store.ScoreNow{Index: index, Member: r.member()}, store.TrimOlder{Index: index, Age: Gone}},
	})
	if err != nil {
		return fmt.Errorf("note this process among the replicas: %w", err)
	}
	as, err := r.o.Store.Read(ctx, store.Scores{Partition: Partition, Index: index, Min: 0, Max: math.MaxFloat64})
	if err != nil {
		return fmt.Errorf("look at the other replicas: %w", err)
	}
	lowest := r.o.Format
	for _, s := range as[0].Scored {
		_, f, _ := strings.Cut(s.Member, "|")
		n, err := strconv.Atoi(f)
		if err != nil || n < 1 {
			return fmt.Errorf("the member %q of the index of replicas: %w", s.Member, store.ErrCorrupt)
		}
		lowest = min(lowest, n)
	}
	if old := r.writes.Swap(int64(lowest)); old != int64(lowest) {
		r.o.Log.Info("the format that is written changed with the replicas that live", "format", lowest, "before", old, "newest", r.o.Format)
	}
	return nil
}

func (r *Registry) member() string { return r.o.Holder + "|" + strconv.Itoa(r.o.Format) }

// Run joins at once and again and again until ctx ends, and leaves. A store that is away costs a line in the log: the format stays as it was.
func (r *Registry) Run(ctx context.Context) error {
	t := time.NewTicker(Every)
	defer t.Stop()
	r.rejoin(ctx)
	for {
		select {
		case <-ctx.Done():
			leave, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
			defer cancel()
			_, err := r.o.Store.Commit(leave, store.Commit{
				ID: "replica.leave/" + r.o.NewID(), Partition: Partition, Ops: []store.Op{store.Unscore{Index: index, Member: r.member()}},
			})
			if err != nil && !errors.Is(err, store.ErrClosed) {
				r.o.Log.Info("this process could not be taken off the replicas; it counts as gone after a while", "after", Gone, "error", err)
			}
			return nil
		case <-t.C:
			r.rejoin(ctx)
		}
	}
}

func (r *Registry) rejoin(ctx context.Context) {
	if err := r.Join(ctx); err != nil && ctx.Err() == nil {
		r.o.Log.Warn("this process could not be noted among the replicas", "error", err)
	}
}
