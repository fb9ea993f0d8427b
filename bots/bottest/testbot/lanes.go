package testbot

import (
	"context"
	"sync"

	"herald/core/chat"
)

// job is one event on its way to the receiver.
type job struct {
	id   string
	in   *chat.Inbound
	acks *acks // of the stream on which it came
}

// lanes hands on the events of each conversation in order and of different ones side by side. A conversation has a goroutine only while it has events.
type lanes struct {
	bot  *Bot
	ctx  context.Context //nolint:containedctx // the life of one Run
	wait sync.WaitGroup

	mu     sync.Mutex
	queues map[chat.Conversation]*lane
	ready  []*lane // conversations that wait for a free worker
	active int
}

type lane struct {
	where chat.Conversation
	jobs  []job
	// over: something was dropped; until the lane is empty all that follows is dropped too, so that the platform's redelivery mostly keeps
	// the order. Core does not rest on it.
	over bool
}

func newLanes(ctx context.Context, b *Bot) *lanes {
	return &lanes{bot: b, ctx: ctx, queues: map[chat.Conversation]*lane{}}
}

// add never blocks: a reader that waits for one conversation would hold up all others.
func (l *lanes) add(j job) {
	l.mu.Lock()
	defer l.mu.Unlock()
	q := l.queues[j.in.Conversation]
	if q == nil {
		q = &lane{where: j.in.Conversation}
		l.queues[j.in.Conversation] = q
		q.jobs = append(q.jobs, j)
		if l.active < l.bot.opt.Lanes {
			l.active++
			l.wait.Go(func() { l.work(q) })
		} else {
			l.ready = append(l.ready, q)
		}
		return
	}
	if q.over || len(q.jobs) >= l.bot.opt.Backlog {
		if !q.over {
			l.bot.log.Warn("too many events of one conversation wait; the platform will send the rest again", "conversation", q.where.Key())
		}
		q.over = true
		return
	}
	q.jobs = append(q.jobs, j)
}

// work empties one conversation after the other, as long as there are any.
func (l *lanes) work(q *lane) {
	for q != nil {
		j, ok := l.next(q)
		if !ok {
			q = l.another(q)
			continue
		}
		l.handle(j)
	}
}

func (l *lanes) next(q *lane) (job, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.jobs) == 0 || l.ctx.Err() != nil {
		return job{}, false
	}
	j := q.jobs[0]
	q.jobs[0] = job{}
	q.jobs = q.jobs[1:]
	return j, true
}

// another ends a conversation's lane and gives the next one that waits, or gives the worker up.
func (l *lanes) another(q *lane) *lane {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(q.jobs) > 0 && l.ctx.Err() == nil {
		return q // something came in the meantime
	}
	delete(l.queues, q.where)
	if len(l.ready) > 0 && l.ctx.Err() == nil {
		q = l.ready[0]
		l.ready = l.ready[1:]
		return q
	}
	l.active--
	return nil
}

func (l *lanes) handle(j job) {
	l.bot.observe(BeforeReceive, j.in)
	if _, err := l.bot.opt.Receiver.Receive(l.ctx, j.in); err != nil {
		l.bot.log.Warn("an event was not taken; the platform will send it again", "event", j.id, "err", err)
		return
	}
	l.bot.observe(BeforeAck, j.in)
	if err := j.acks.write(j.id); err != nil {
		return // the stream is gone: the platform sends the event again
	}
	l.bot.observe(AfterAck, j.in)
}

// end waits for what was begun; ctx has ended, so nothing begins any more.
func (l *lanes) end() { l.wait.Wait() }
