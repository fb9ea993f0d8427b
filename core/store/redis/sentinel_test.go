package redis_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/core/store"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
)

// TestSentinel fails over to the replica: the handle follows, and nothing that the replica had is gone.
func TestSentinel(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	master := redistest.Run(t, redistest.Options{})
	host, port, _ := strings.Cut(master.Addr(), ":")
	replica := redistest.Run(t, redistest.Options{Args: []string{"--replicaof", host, port}})
	sentinel := redistest.RunSentinel(t, master)
	s := open(t, redis.Options{URL: sentinel.URL(), Create: true, WaitReplicas: 1})
	commit(t, s, line(conv, "before"))
	eventually(t, "the sentinel knows the replica", func() bool {
		list, err := sentinel.Do(ctx, "sentinel", "replicas", redistest.MasterName)
		return err == nil && strings.Contains(fmt.Sprint(list), "flags slave") && strings.Contains(fmt.Sprint(list), replica.Addr())
	})
	if err := sentinel.Failover(ctx); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the new master takes commits", func() bool {
		_, err := s.Commit(ctx, line(conv, "after"))
		if err != nil && !store.Outage(err) {
			t.Fatal(err)
		}
		return err == nil
	})
	if got := fmt.Sprint(lines(t, s, conv)); got != "[before after]" {
		t.Errorf("the log has %v", got)
	}
	if role, err := replica.Do(ctx, "role"); err != nil || role.([]any)[0] != "master" {
		t.Errorf("the replica is %v, %v: the case did not come up", role, err)
	}
}
