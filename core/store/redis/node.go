package redis

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"herald/core/store"
)

// call is one command on its way. The fields below answer are set when ready is closed.
type call struct {
	ctx    context.Context
	bucket int
	// script and args (what follows the store's id and the clock), or a plain command.
	script  *script
	args    []any
	command []any
	// whole sends the text of the script in place of its digest.
	whole bool
	// replicas is the number of replicas that must have what was written.
	replicas int
	// idle marks renewals and looks for work, which are counted apart. poll marks a claim, which is one when it finds nothing.
	idle, poll bool
	// repeat, when set, changes args for being sent again after the answer was lost.
	repeat func(*call)

	ready  chan struct{}
	answer any
	err    error
	// ok is set by the caller's goroutine when the answer is good. After an error from exec, nothing else of a call may be looked at: its
	// node may still be writing it.
	ok bool
}

// answered is the answer when it is good, else nil.
func (c *call) answered() any {
	if !c.ok {
		return nil
	}
	return c.answer
}

// node sends the calls for one server. Calls that arrive while its lanes are busy go out together in the next pipeline.
type node struct {
	s      *Store
	client *goredis.Client

	mu    sync.Mutex
	queue []*call
	busy  int
}

// send puts calls into the queue in one piece. Their ready channels tell when they are answered.
func (n *node) send(calls ...*call) {
	n.s.closing.RLock()
	defer n.s.closing.RUnlock()
	if n.s.life.Err() != nil {
		for _, c := range calls {
			c.err = store.ErrClosed
			close(c.ready)
		}
		return
	}
	n.mu.Lock()
	n.queue = append(n.queue, calls...)
	start := n.busy < n.s.opt.lanes
	if start {
		n.busy++
	}
	n.mu.Unlock()
	if start {
		n.s.work.Go(n.drain)
	}
}

// drain empties the queue and ends; so an idle node has no goroutine.
func (n *node) drain() {
	for {
		n.mu.Lock()
		if len(n.queue) == 0 {
			n.busy--
			n.queue = nil
			n.mu.Unlock()
			return
		}
		k := min(len(n.queue), n.s.opt.batch)
		batch := n.queue[:k:k]
		n.queue = n.queue[k:]
		n.mu.Unlock()
		n.flush(batch)
	}
}

// flush sends one pipeline and hands out the answers.
func (n *node) flush(batch []*call) {
	pipe := n.client.Pipeline()
	cmds := make([]*goredis.Cmd, len(batch))
	replicas, idle, sent, writes := 0, true, 0, false
	for i, c := range batch {
		// Whoever has stopped waiting would not learn that his call was done.
		if c.ctx.Err() != nil {
			continue
		}
		cmds[i] = goredis.NewCmd(n.s.life, n.s.arguments(c)...)
		_ = pipe.Process(n.s.life, cmds[i])
		replicas = max(replicas, c.replicas)
		writes = writes || c.script != nil && c.script.writes
		sent++
	}
	var wait *goredis.IntCmd
	if replicas > 0 {
		wait = goredis.NewIntCmd(n.s.life, "wait", replicas, n.s.replicaTimeout().Milliseconds())
		_ = pipe.Process(n.s.life, wait)
	}
	var failed error
	if sent > 0 {
		_, failed = pipe.Exec(n.s.life)
	}
	for i, c := range batch {
		if cmds[i] == nil {
			c.err = c.ctx.Err()
		} else {
			c.answer, c.err = cmds[i].Result()
			if c.err == nil && c.answer == nil {
				// A connection that Redis refused (a password, a role) is told by the pipeline alone.
				c.err = cmp.Or(failed, errNoAnswer)
			}
			if c.err == nil && c.replicas > 0 {
				c.err = enough(wait, c.replicas)
			}
			idle = idle && (c.idle || c.poll && empty(c.answer))
		}
	}
	if sent > 0 {
		n.s.stats.count(idle, writes)
	}
	for _, c := range batch {
		close(c.ready)
	}
}

// errNoAnswer is a reply that go-redis left out without a reason.
var errNoAnswer = errors.New("the connection gave no answer")

// enough tells whether the replicas that a commit asked for have it.
func enough(wait *goredis.IntCmd, want int) error {
	got, err := wait.Result()
	if err != nil {
		return err
	}
	if int(got) < want {
		return fmt.Errorf("%d of the %d replicas that store.wait_replicas asks for have the commit; bring replicas back or lower it: %w",
			got, want, store.ErrUnavailable)
	}
	return nil
}

// empty tells of a claim's answer that it gave nothing.
func empty(answer any) bool {
	list, ok := answer.([]any)
	return ok && len(list) <= 1
}

// arguments writes a call as a command.
func (s *Store) arguments(c *call) []any {
	if c.script == nil {
		return c.command
	}
	args := make([]any, 0, len(c.args)+7)
	if c.whole {
		args = append(args, "eval", c.script.text)
	} else {
		args = append(args, "evalsha", c.script.digest)
	}
	args = append(args, 2, s.keys.mark[c.bucket], s.keys.none[c.bucket], s.id, s.clock())
	return append(args, c.args...)
}

// clock is the time that scripts are given: "" lets them use the server's.
func (s *Store) clock() any {
	if s.opt.Clock == nil {
		return ""
	}
	return s.opt.Clock().UnixMilli() * int64(time.Millisecond/time.Microsecond)
}

// replicaTimeout is how long a pipeline waits for replicas: so much less than a call may take that the shortfall is told, and not a time-out, also
// when the first try met a server without the script.
func (s *Store) replicaTimeout() time.Duration { return s.opt.Timeout / 3 }
