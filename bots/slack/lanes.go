package slack

import (
	"context"
	"log/slog"
	"sync"

	"herald/core/chat"
)

// job is one event on its way to the receiver.
type job struct {
	where chat.Conversation
	// do hands it on and acknowledges it.
	do func(ctx context.Context)
	// drop leaves it unacknowledged.
	drop func()
}

// lanes hands on the events of each conversation in order and of different ones side by side. A conversation has a goroutine only while it has
// events. It outlives a connection: what is under way when one breaks is finished, in order, before what Slack sends again.
type lanes struct {
	most, backlog int
	log           *slog.Logger
	wait          sync.WaitGroup

	mu     sync.Mutex
	ctx    context.Context //nolint:containedctx // the life of one Run
	queues map[chat.Conversation]*lane
	ready  []*lane // conversations that wait for a free worker
	active int
	over   bool // Run has ended
}

type lane struct {
	where chat.Conversation
	jobs  []job
	// over: something was dropped; until the lane is empty all that follows is dropped too, so that what Slack sends again mostly keeps the
	// order. Core does not rest on it.
	over bool
}

func newLanes(most, backlog int, log *slog.Logger) *lanes {
	return &lanes{most: most, backlog: backlog, log: log, queues: map[chat.Conversation]*lane{}}
}

// begin lets jobs run until ctx ends.
func (l *lanes) begin(ctx context.Context) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ctx = ctx
}

// add never blocks: a reader that waits for one conversation would hold up all others.
func (l *lanes) add(j job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil || l.ctx.Err() != nil || l.over {
		j.drop()
		return
	}
	q := l.queues[j.where]
	if q == nil {
		q = &lane{where: j.where, jobs: []job{j}}
		l.queues[j.where] = q
		if l.active < l.most {
			l.active++
			l.wait.Go(func() { l.work(q) })
		} else {
			l.ready = append(l.ready, q)
		}
		return
	}
	if q.over || len(q.jobs) >= l.backlog {
		if !q.over {
			l.log.Warn("too many events of one conversation wait; Slack will send the rest again", "conversation", q.where.Key())
		}
		q.over = true
		j.drop()
		return
	}
	q.jobs = append(q.jobs, j)
}

// work empties one conversation after the other, as long as there are any.
func (l *lanes) work(q *lane) {
	for q != nil {
		j, ctx, ok := l.next(q)
		if !ok {
			q = l.another(q)
			continue
		}
		j.do(ctx)
	}
}

func (l *lanes) next(q *lane) (job, context.Context, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.jobs) == 0 || l.ctx.Err() != nil {
		return job{}, nil, false
	}
	j := q.jobs[0]
	q.jobs[0] = job{}
	q.jobs = q.jobs[1:]
	return j, l.ctx, true
}

// another ends a conversation's lane and gives the next one that waits, or gives the worker up.
func (l *lanes) another(q *lane) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	over := l.ctx.Err() != nil
	if len(q.jobs) > 0 && !over {
		return q // something came in the meantime
	}
	for _, j := range q.jobs {
		j.drop()
	}
	delete(l.queues, q.where)
	if len(l.ready) > 0 {
		q = l.ready[0]
		l.ready = l.ready[1:]
		return q
	}
	l.active--
	return nil
}

// spawn runs f beside the lanes; false when they have ended.
func (l *lanes) spawn(f func(ctx context.Context)) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ctx == nil || l.ctx.Err() != nil || l.over {
		return false
	}
	ctx := l.ctx
	l.wait.Go(func() { f(ctx) })
	return true
}

// end waits for what was begun; nothing begins any more.
func (l *lanes) end() {
	l.mu.Lock()
	l.over = true
	l.mu.Unlock()
	l.wait.Wait()
}
