package redis

import (
	"context"
	"fmt"
	"strings"
	"sync"

	goredis "github.com/redis/go-redis/v9"

	"herald/core/store"
)

// Health asks every node whether it answers and how it keeps what it is given, and one bucket for the store's mark.
func (s *Store) Health(ctx context.Context) (store.Health, error) {
	h := store.Health{Driver: "redis", ID: s.id, Format: Format, Durable: true}
	bucket := s.all[int(s.looks.Add(1))%len(s.all)]
	m := &call{bucket: bucket, command: []any{"hget", s.keys.mark[bucket], "store"}, idle: true}
	if err := s.exec(ctx, "check the store's health", m); err != nil {
		return store.Health{}, err
	}
	if id, _ := m.answer.(string); id != s.id {
		return store.Health{}, fmt.Errorf("redis: check the store's health at %s: %w", s.target, s.changed([]int{bucket}, id))
	}
	ctx, cancel := context.WithTimeout(ctx, s.opt.Timeout)
	defer cancel()
	found, err := s.settings(ctx)
	if err != nil {
		return store.Health{}, fmt.Errorf("redis: check the store's health at %s: %w", s.target, trouble(err))
	}
	said := map[string]bool{}
	slowest := syncAlways
	for _, set := range found {
		warnings, durable := set.judge()
		h.Durable = h.Durable && durable
		slowest = min(slowest, set.syncs())
		for _, w := range warnings {
			if !said[w] {
				said[w] = true
				h.Warnings = append(h.Warnings, w)
			}
		}
	}
	s.stats.sync.Store(slowest)
	h.Keeps = keeps(h.Durable, slowest)
	return h, nil
}

// settings are what a server says of how it keeps its data; "" where it does not tell.
type settings struct {
	appendonly, appendfsync, policy, maxmemory, version string
}

// judge turns a server's settings into what the operator must know.
func (set settings) judge() (warnings []string, durable bool) {
	durable = true
	switch set.appendonly {
	case "yes":
	case "no":
		durable = false
		warnings = append(warnings, "REDIS KEEPS NO APPEND-ONLY FILE: acknowledged messages are lost when Redis stops. "+
			"Set 'appendonly yes' in redis.conf, or run 'redis-cli CONFIG SET appendonly yes' and 'redis-cli CONFIG REWRITE'.")
	default:
		durable = false
		warnings = append(warnings, "Redis does not tell whether it keeps an append-only file. Allow Herald's user CONFIG GET or INFO, and see that 'appendonly' is 'yes'.")
	}
	if set.appendonly == "yes" && set.appendfsync == "no" {
		durable = false
		warnings = append(warnings, "Redis leaves it to the operating system when its append-only file is written: up to half a minute of acknowledged "+
			"messages is lost when the machine stops. Set 'appendfsync everysec' or 'always'.")
	}
	if set.policy != "" && set.policy != "noeviction" && set.maxmemory != "0" {
		durable = false
		warnings = append(warnings, fmt.Sprintf("REDIS THROWS DATA AWAY WHEN ITS MEMORY IS FULL (maxmemory-policy %s): messages vanish without a trace. "+
			"Run 'redis-cli CONFIG SET maxmemory-policy noeviction' and put it into redis.conf.", set.policy))
	}
	if set.policy != "" && set.policy != "noeviction" && set.maxmemory == "0" {
		warnings = append(warnings, fmt.Sprintf("Redis has maxmemory-policy %s, which will throw data away as soon as maxmemory is set. "+
			"Set 'maxmemory-policy noeviction'.", set.policy))
	}
	if major, _, _ := strings.Cut(set.version, "."); len(major) == 1 && major < "7" {
		warnings = append(warnings, "Redis "+set.version+" is too old: Herald needs 7.0 or newer.")
	}
	return warnings, durable
}

// keeps says what a commit survives on servers of which the least careful syncs like sync.
func keeps(durable bool, sync int64) string {
	switch {
	case !durable:
		return "what was acknowledged survives a crash of Herald, and may be lost with Redis or its machine"
	case sync == syncEverySecond:
		return "what was acknowledged survives a crash of Herald; a crash of Redis or of its machine may lose the last second " +
			"(up to two on a slow disk) because of appendfsync everysec, 'always' loses nothing"
	default:
		return "what was acknowledged survives a crash of Herald, of Redis and of its machine (appendfsync always)"
	}
}

func (set settings) syncs() int64 {
	switch {
	case set.appendonly != "yes" || set.appendfsync == "no":
		return syncNever
	case set.appendfsync == "always":
		return syncAlways
	default:
		return syncEverySecond
	}
}

// settings asks every master.
func (s *Store) settings(ctx context.Context) ([]settings, error) {
	if s.cluster == nil {
		set, err := ask(ctx, s.single)
		return []settings{set}, err
	}
	var mu sync.Mutex
	var found []settings
	err := s.cluster.ForEachMaster(ctx, func(ctx context.Context, c *goredis.Client) error {
		set, err := ask(ctx, c)
		mu.Lock()
		defer mu.Unlock()
		found = append(found, set)
		return err
	})
	return found, err
}

// askTries is how often a server is asked: a connection that breaks over it says nothing of the server, and must not end a start.
const askTries = 3

// ask reads a server's settings.
func ask(ctx context.Context, c *goredis.Client) (set settings, err error) {
	for range askTries {
		if set, err = askOnce(ctx, c); err == nil || judge(err) != lost || ctx.Err() != nil {
			break
		}
	}
	return set, err
}

// askOnce reads a server's settings in one pipeline: CONFIG where it is allowed, INFO where not.
func askOnce(ctx context.Context, c *goredis.Client) (settings, error) {
	pipe := c.Pipeline()
	config := pipe.ConfigGet(ctx, "appendonly")
	fsync := pipe.ConfigGet(ctx, "appendfsync")
	policy := pipe.ConfigGet(ctx, "maxmemory-policy")
	limit := pipe.ConfigGet(ctx, "maxmemory")
	info := pipe.Info(ctx)
	_, _ = pipe.Exec(ctx) // each command has its own error
	if err := config.Err(); err != nil && judge(err) == lost {
		return settings{}, err
	}
	facts := parseInfo(info.Val())
	set := settings{
		appendonly: config.Val()["appendonly"], appendfsync: fsync.Val()["appendfsync"],
		policy: policy.Val()["maxmemory-policy"], maxmemory: limit.Val()["maxmemory"], version: facts["redis_version"],
	}
	if set.appendonly == "" {
		set.appendonly = map[string]string{"1": "yes", "0": "no"}[facts["aof_enabled"]]
	}
	if set.policy == "" {
		set.policy, set.maxmemory = facts["maxmemory_policy"], facts["maxmemory"]
	}
	return set, nil
}

// parseInfo reads the lines "name:value" of INFO.
func parseInfo(text string) map[string]string {
	facts := map[string]string{}
	for line := range strings.Lines(text) {
		if name, value, ok := strings.Cut(strings.TrimSpace(line), ":"); ok {
			facts[name] = value
		}
	}
	return facts
}
