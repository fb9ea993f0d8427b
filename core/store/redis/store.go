package redis

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	goredis "github.com/redis/go-redis/v9"
	"github.com/redis/go-redis/v9/maintnotifications"

	"herald/core/store"
)

// Store is a handle on a Herald store in Redis. It is a [store.Store].
type Store struct {
	opt     Options
	target  target
	id      string
	handle  string
	keys    *layout
	scripts *scripts

	// client is single or cluster, whichever is in use.
	client  goredis.UniversalClient
	single  *goredis.Client
	cluster *goredis.ClusterClient
	nodes   sync.Map // *goredis.Client to *node

	// all is every bucket. looks and requests count the looks for work and the claims.
	all             []int
	looks, requests atomic.Int64
	stats           counters

	// life ends when the handle is closed; work is all goroutines of the handle. closing keeps new ones from starting while Close waits.
	life    context.Context
	end     context.CancelFunc
	work    sync.WaitGroup
	closing sync.RWMutex
}

var _ store.Store = (*Store)(nil)

// connect makes a handle that knows no store yet. Nothing is sent.
func connect(opt Options) (*Store, error) {
	t, err := parseURL(opt.URL)
	if err != nil {
		return nil, err
	}
	opt = opt.withDefaults()
	s := &Store{opt: opt, target: t, keys: newLayout(t.prefix), scripts: newScripts()}
	for b := range store.Buckets {
		s.all = append(s.all, b)
	}
	s.life, s.end = context.WithCancel(context.Background())
	patience := opt.Timeout + opt.Timeout/4
	u := &goredis.UniversalOptions{
		Addrs: t.addrs, DB: t.db, MasterName: t.master, IsClusterMode: t.cluster,
		Username: t.user, Password: t.password, SentinelPassword: opt.SentinelPassword,
		Protocol: 2,
		// Repeating is decided here, call by call: go-redis would repeat what must not be.
		MaxRetries: -1, DialerRetries: 1, MaxRedirects: -1,
		// A connection is given up a little after the calls on it.
		DialTimeout: patience, ReadTimeout: patience, WriteTimeout: patience, PoolTimeout: patience,
		PoolSize: poolSize, MaxIdleConns: opt.lanes + 2, PipelinePoolSize: -1, ConnMaxIdleTime: idleTime,
		DisableIdentity:          true,
		MaintNotificationsConfig: &maintnotifications.Config{Mode: maintnotifications.ModeDisabled},
	}
	goredis.SetLogger(quiet{})
	if opt.Password != "" {
		u.Password = opt.Password
	}
	if t.tls {
		u.TLSConfig = tlsConfig(opt.TLS)
	}
	switch {
	case t.cluster:
		s.cluster = goredis.NewClusterClient(u.Cluster())
		s.client = s.cluster
	case t.sentinels:
		s.single = goredis.NewFailoverClient(u.Failover())
		s.client = s.single
	default:
		s.single = goredis.NewClient(u.Simple())
		s.client = s.single
	}
	return s, nil
}

// poolSize is far above the connections in use, which the lanes bound. It is also the number of failed dials after which go-redis tries only once
// a second: an outage of moments must not last longer than it does.
const poolSize = 1000

// idleTime is how long an unused connection is trusted: firewalls forget them without a word.
const idleTime = 5 * time.Minute

// quiet keeps go-redis, whose one logger is the process's, from writing to stderr: what it would say comes back as an error too.
type quiet struct{}

func (quiet) Printf(context.Context, string, ...any) {}

// Now is the store's time.
func (s *Store) Now(ctx context.Context) (time.Time, error) {
	if s.opt.Clock != nil && ctx.Err() == nil && s.life.Err() == nil {
		return instant(s.opt.Clock().UnixMilli()), nil
	}
	c := &call{command: []any{"time"}}
	if err := s.exec(ctx, "ask for the time", c); err != nil {
		return time.Time{}, err
	}
	return timeOf(c.answer)
}

// timeOf reads the answer to TIME.
func timeOf(answer any) (time.Time, error) {
	r := reader{answer: answer}
	r.list(2)
	sec, micro := r.int(), r.int()
	return instant(sec*1000 + micro/1000), r.err
}

// Publish sends a hint to every replica that listens.
func (s *Store) Publish(ctx context.Context, topic, payload string) error {
	c := &call{command: []any{"publish", s.keys.channel(s.id), encodeHint(store.Hint{Topic: topic, Payload: payload})}}
	return s.exec(ctx, "publish a hint on "+topic, c)
}

// Close ends all work of the handle and waits for it. Claims stay as they are. Calls that are under way fail with [store.ErrClosed].
func (s *Store) Close() error {
	s.closing.Lock()
	first := s.life.Err() == nil
	s.end()
	s.closing.Unlock()
	if !first {
		return nil
	}
	err := s.client.Close()
	s.work.Wait()
	if err != nil {
		return fmt.Errorf("redis: close the connections to %s: %w", s.target, err)
	}
	return nil
}

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// millis rounds up, so that no wait and no lease is shorter than was asked for.
func millis(d time.Duration) int64 { return ceil(d, time.Millisecond) }

func micros(d time.Duration) int64 { return ceil(d, time.Microsecond) }

func ceil(d, unit time.Duration) int64 {
	n := int64(d / unit)
	if d%unit > 0 {
		n++
	}
	return n
}
