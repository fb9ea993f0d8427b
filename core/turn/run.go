package turn

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// run is the handling of one claim.
type run struct {
	*Engine
	claim store.Claim
	p     store.Partition
	// conv is the conversation that the turn is for: of a task the one that began it.
	conv chat.Conversation
	// task is what the task was begun with whose partition this is, nil for others.
	task *conversation.TaskStart
	ad   chat.Adapter
	caps chat.Capabilities
	log  *slog.Logger

	// mu guards what follows while decisions are performed side by side.
	mu      sync.Mutex
	cur     conversation.Current
	version int64 // of the document of cur
	state   session.State
	hist    *session.History
	lastSeq int64 // of the log, with what is pending
	// pending are events that the state holds and the log does not yet; ops and guards go with them.
	pending []session.Event
	ops     []store.Op
	guards  []store.Guard
	// last are guards of the next step alone, whose failure is errBusyOutbox.
	last []store.Guard
	// unsaid reports that pending holds more than messages: something that must not be lost to another model call.
	unsaid bool

	head     conversation.Head
	headVer  int64
	inbox    []conversation.Message
	controls []conversation.Control
	waits    map[string]waitDoc
	// attached is what was read of the files of messages, by their ids.
	attached map[string]attached
	// suspect is what stands of earlier crashes, suspected whether anything does.
	suspect   conversation.Suspect
	suspected bool
	// partial is what a model had said when it was broken off.
	partial string
	// broken is an estimate of what the model calls of a turn took that were broken off, by the turn's id.
	broken map[string]model.Usage
	// progress is what was last shown of the agents at work, at progressAt by the local clock; quiet that it is not shown any more.
	progress   string
	progressAt time.Time
	quiet      bool
	// live is the delivery of the answer while it is written, nil before.
	live *conversation.Delivery

	// at is the store's time of the last answer or commit, since the local time of it.
	at    time.Time
	since time.Time

	// seen is the version of the newest stop that was applied; work is the context of what is performed, broken off by a newer one.
	seen atomic.Int64
	work struct {
		sync.Mutex
		ctx    context.Context
		cancel context.CancelCauseFunc
	}
	agents map[string]prompt.Agent
	// gate is the engine's, as it was opened with the last news.
	gate tool.Gate
	// poke tells of news while the claim is held; nil when nobody watches. unattend ends the watch.
	poke     <-chan struct{}
	unattend func()

	fresh  bool // the inbox was read and nothing was awaited since
	reopen *conversation.Control
	busy   map[string]bool
	// compact are the frames whose history must be summarised before their next model call, compacted those for which that was tried.
	compact, compacted map[string]bool
	// asked are commands to summarise the history that came while no turn was under way.
	asked   []conversation.Control
	again   map[string]bool
	results chan *outcome
	commits int
}

type waitDoc struct {
	conversation.WaitDoc
	version int64
}

// now is the store's time, estimated from its last answer.
func (r *run) now() time.Time {
	return r.at.Add(r.Clock().Sub(r.since)).Truncate(time.Millisecond)
}

func (r *run) told(at time.Time) {
	if !at.IsZero() {
		r.at, r.since = at, r.Clock()
	}
}

// agent is the agent of a frame as it was when the claim first asked: one turn sees one version.
func (r *run) agent(ctx context.Context, f *session.Frame) (prompt.Agent, error) {
	key := f.ID + "/" + f.Agent
	if a, ok := r.agents[key]; ok {
		return a, nil
	}
	a, err := r.Agents.Agent(ctx, r.scope(f))
	if err != nil {
		return a, fmt.Errorf("agent %q: %w", f.Agent, err)
	}
	if f.Client != "" {
		a.Model = f.Client
	}
	if r.task != nil && f.ID == r.state.Root().ID && r.task.Client != "" {
		a.Model = r.task.Client
	}
	if r.agents == nil {
		r.agents = make(map[string]prompt.Agent, 1)
	}
	r.agents[key] = a
	return a, nil
}

// rework begins a new context for what is performed, after the one before was broken off.
func (r *run) rework(ctx context.Context) {
	r.work.Lock()
	defer r.work.Unlock()
	if r.work.cancel != nil {
		r.work.cancel(nil)
	}
	r.work.ctx, r.work.cancel = context.WithCancelCause(ctx)
}

// working is the context of what is performed.
func (r *run) working() context.Context {
	r.work.Lock()
	defer r.work.Unlock()
	return r.work.ctx
}

// interrupt breaks off what is performed.
func (r *run) interrupt(cause error) {
	r.work.Lock()
	defer r.work.Unlock()
	if r.work.cancel != nil {
		r.work.cancel(cause)
	}
}

// stage puts events into the state and the history, to be committed with the next step.
func (r *run) stage(es ...session.Event) {
	for _, e := range es {
		r.lastSeq++
		e.Seq = r.lastSeq
		r.state.Apply(e)
		r.hist.Add(e)
		r.pending = append(r.pending, e)
	}
}

// guardHead asks that no stop is newer than the ones that were seen.
const guardHead = true

// step commits what is pending, then events and ops. With head it is refused with ErrStopped when there is a newer stop; the
// events are then dropped and what was pending stays pending. The caller holds mu.
func (r *run) step(ctx context.Context, site string, head bool, events []session.Event, ops ...store.Op) (store.Result, error) {
	next := r.state.Clone()
	seq := r.lastSeq
	for i := range events {
		seq++
		events[i].Seq = seq
		next.Apply(events[i])
	}
	cur := r.cur
	cur.V, cur.State, cur.Holder = conversation.Version, next, r.claim.Holder
	r.commits++
	c := store.Commit{
		ID:        fmt.Sprintf("%s/%s.%d.%d", site, r.claim.Holder, r.claim.Token, r.commits),
		Partition: r.p, Claim: &r.claim,
		Guards: append([]store.Guard{store.At{Key: conversation.CurrentKey, Version: r.version}}, r.guards...),
		Ops:    []store.Op{store.Put{Key: conversation.CurrentKey, Value: conversation.Encode(cur)}},
	}
	headGuard, lastGuard := -1, -1
	if head {
		headGuard = len(c.Guards)
		c.Guards = append(c.Guards, store.At{Key: conversation.HeadKey, Version: r.headVer})
	}
	if len(r.last) > 0 {
		lastGuard = len(c.Guards)
		c.Guards = append(c.Guards, r.last...)
	}
	for _, es := range [2][]session.Event{r.pending, events} {
		for _, e := range es {
			data, err := session.Encode(e, r.Format())
			if err != nil {
				return store.Result{}, fmt.Errorf("encode %s of %s: %w", e.Kind, r.p, err)
			}
			c.Ops = append(c.Ops, store.Append{Log: conversation.Log, ID: e.ID, Kind: string(e.Kind), Data: data})
		}
	}
	c.Ops = append(append(c.Ops, r.ops...), ops...)
	res, err := r.commit(ctx, c)
	if err != nil {
		if conflict, ok := errors.AsType[*store.ConflictError](err); ok {
			switch {
			case conflict.Guard == headGuard:
				return res, ErrStopped
			case lastGuard >= 0 && conflict.Guard >= lastGuard:
				return res, errBusyOutbox
			case conflict.Guard == 0:
				// Only the holder writes this document: the store went back in time, or the claim did.
				return res, fmt.Errorf("commit %s of %s: the session changed under the claim: %w", site, r.p, store.ErrFenced)
			default:
				return res, fmt.Errorf("commit %s of %s: %w", site, r.p, errLookNow)
			}
		}
		return res, err
	}
	r.told(res.Now)
	r.version, r.cur, r.state, r.lastSeq = res.Versions[0], cur, next, seq
	for _, e := range events {
		e.At = res.Now
		r.hist.Add(e)
	}
	r.pending, r.ops, r.guards, r.unsaid = nil, nil, nil, false
	return res, nil
}

// commit repeats a commit whose answer was lost, under the same id, until the claim is lost.
func (r *run) commit(ctx context.Context, c store.Commit) (store.Result, error) {
	for wait := 20 * time.Millisecond; ; wait = min(2*wait, time.Second) {
		res, err := r.Store.Commit(ctx, c)
		if err == nil || !errors.Is(err, store.ErrUnavailable) {
			return res, err
		}
		if r.Spawn == nil { // nothing passes the time in a simulation: one repeat stands for all
			return r.Store.Commit(ctx, c)
		}
		r.log.Warn("the store did not answer; the commit is repeated", "commit", c.ID, "error", err)
		t := time.NewTimer(wait)
		select {
		case <-ctx.Done():
			t.Stop()
			return res, err
		case <-t.C:
		}
	}
}

// release is the operation that ends the claim; the turns that stay in the inbox make it due again at once.
func (r *run) release(again bool, at time.Time) store.Op {
	return store.Release{Claim: r.claim, Again: again, At: at}
}
