package redistest

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	goredis "github.com/redis/go-redis/v9"
)

// slots is the number of hash slots of any Redis Cluster.
const slots = 16384

// Cluster is a Redis Cluster of three masters without replicas.
type Cluster struct {
	Nodes []*Server
	ids   []string
	dir   string
}

// RunCluster starts a cluster for a test and stops it at its end.
func RunCluster(t testing.TB, opt Options) *Cluster {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	c, err := StartCluster(context.Background(), opt)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

// StartCluster starts three masters that share the slots evenly, and waits until all of them serve. Close must follow.
func StartCluster(ctx context.Context, opt Options) (*Cluster, error) {
	ctx, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	c := &Cluster{}
	if opt.Dir == "" {
		dir, err := os.MkdirTemp("", "redistest")
		if err != nil {
			return nil, err
		}
		c.dir, opt.Dir = dir, dir
	}
	if err := c.start(ctx, opt); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	return c, nil
}

func (c *Cluster) start(ctx context.Context, opt Options) error {
	base := opt.Dir
	for i := range 3 {
		opt.Dir = filepath.Join(base, fmt.Sprintf("node%d", i))
		if err := os.Mkdir(opt.Dir, 0o755); err != nil {
			return err
		}
		s, err := prepare(opt, true)
		if err != nil {
			return err
		}
		c.Nodes = append(c.Nodes, s)
		if err := s.first(ctx); err != nil {
			return err
		}
	}
	for i, s := range c.Nodes {
		id, err := s.Do(ctx, "cluster", "myid")
		if err != nil {
			return err
		}
		c.ids = append(c.ids, id.(string))
		if _, err := s.Do(ctx, "cluster", "addslotsrange", slots*i/3, slots*(i+1)/3-1); err != nil {
			return err
		}
		if _, err := s.Do(ctx, "cluster", "set-config-epoch", i+1); err != nil {
			return err
		}
	}
	for _, s := range c.Nodes[1:] {
		if _, err := s.Do(ctx, "cluster", "meet", "127.0.0.1", c.Nodes[0].port, c.Nodes[0].busPort); err != nil {
			return err
		}
	}
	return c.Settled(ctx)
}

// Settled waits until every node knows of all slots and serves. Redis has no event for it, so it is asked.
func (c *Cluster) Settled(ctx context.Context) error {
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		state, ok := c.state(ctx)
		if ok {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("the cluster does not settle: %w: %s", ctx.Err(), state)
		}
	}
}

func (c *Cluster) state(ctx context.Context) (string, bool) {
	for _, s := range c.Nodes {
		info, err := s.Do(ctx, "cluster", "info")
		if err != nil {
			return err.Error(), false
		}
		text := info.(string)
		for _, want := range []string{"cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:3"} {
			if !strings.Contains(text, want) {
				return text, false
			}
		}
	}
	return "", true
}

// URL is that of a store on the cluster.
func (c *Cluster) URL() string {
	var addrs []string
	for _, s := range c.Nodes {
		addrs = append(addrs, s.Addr())
	}
	return "redis+cluster://" + strings.Join(addrs, ",")
}

// Owner is the index of the node that holds the slot of key, and the slot.
func (c *Cluster) Owner(ctx context.Context, key string) (node, slot int, err error) {
	client := c.Nodes[0].Client()
	defer client.Close()
	n, err := client.ClusterKeySlot(ctx, key).Result()
	if err != nil {
		return 0, 0, err
	}
	shards, err := client.ClusterShards(ctx).Result()
	if err != nil {
		return 0, 0, err
	}
	for _, shard := range shards {
		for _, r := range shard.Slots {
			if r.Start <= n && n <= r.End && len(shard.Nodes) > 0 {
				return slices.Index(c.ids, shard.Nodes[0].ID), int(n), nil
			}
		}
	}
	return 0, 0, fmt.Errorf("no node holds slot %d", n)
}

// Move is a slot on its way from one node to another.
type Move struct {
	c        *Cluster
	slot     int
	from, to int
}

// BeginMove tells both nodes that the slot of key goes to another node. Its keys stay until Carry.
func (c *Cluster) BeginMove(ctx context.Context, key string) (*Move, error) {
	from, slot, err := c.Owner(ctx, key)
	if err != nil {
		return nil, err
	}
	m := &Move{c: c, slot: slot, from: from, to: (from + 1) % len(c.Nodes)}
	if _, err := c.Nodes[m.to].Do(ctx, "cluster", "setslot", slot, "importing", c.ids[from]); err != nil {
		return nil, err
	}
	_, err = c.Nodes[from].Do(ctx, "cluster", "setslot", slot, "migrating", c.ids[m.to])
	return m, err
}

// Carry moves up to n keys of the slot and tells how many there were.
func (m *Move) Carry(ctx context.Context, n int) (int, error) {
	from, to := m.c.Nodes[m.from], m.c.Nodes[m.to]
	client := from.Client()
	defer client.Close()
	keys, err := client.ClusterGetKeysInSlot(ctx, m.slot, n).Result()
	if err != nil || len(keys) == 0 {
		return 0, err
	}
	args := []any{"migrate", "127.0.0.1", to.port, "", 0, 5000, "keys"}
	for _, k := range keys {
		args = append(args, k)
	}
	return len(keys), client.Do(ctx, args...).Err()
}

// Finish moves what is left and makes the new node the owner.
func (m *Move) Finish(ctx context.Context) error {
	for {
		n, err := m.Carry(ctx, 100)
		if err != nil {
			return err
		}
		if n == 0 {
			break
		}
	}
	// The new owner first: until the others hear of it, the old one would call the slot its own.
	for _, i := range []int{m.to, m.from, 3 - m.to - m.from} {
		if _, err := m.c.Nodes[i].Do(ctx, "cluster", "setslot", m.slot, "node", m.c.ids[m.to]); err != nil {
			return err
		}
	}
	return nil
}

// Client gives a client of the whole cluster. The caller closes it.
func (c *Cluster) Client() *goredis.ClusterClient {
	var addrs []string
	for _, s := range c.Nodes {
		addrs = append(addrs, s.Addr())
	}
	return goredis.NewClusterClient(&goredis.ClusterOptions{Addrs: addrs, Protocol: 2, Password: c.Nodes[0].opt.Password})
}

// Close kills all nodes and removes the folder that StartCluster made.
func (c *Cluster) Close() error {
	var errs []error
	for _, s := range c.Nodes {
		errs = append(errs, s.Close())
	}
	if c.dir != "" {
		errs = append(errs, os.RemoveAll(c.dir))
	}
	return errors.Join(errs...)
}
