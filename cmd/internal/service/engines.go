package service

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"herald/agents"
	"herald/bots/console"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/outbox"
	"herald/core/people"
	"herald/core/replica"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/builtin"
	"herald/core/turn"
	"herald/core/worker"
)

// liveAfter is how long an answer may take before it is shown while it grows: what is complete sooner needs no live message.
const liveAfter = 500 * time.Millisecond

// poll is how often each of the three agendas is looked through where nothing says that there is work: hints wake the workers, this is the
// net below them, and together the three ask the store less than once a second.
const poll = 4 * time.Second

// lastSends is how long deliveries may go on after the last turn has ended: most of them are one call to a platform.
const lastSends = 5 * time.Second

// engines are the parts that work on what is due.
type engines struct {
	turns    *worker.Worker
	outbox   *outbox.Worker
	handover *handover.Worker
	// replicas is this process among those that share the store.
	replicas *replica.Registry
	// beside counts what the engine has started beside its handlers.
	beside sync.WaitGroup
}

// all are the workers.
func (e *engines) all() []*worker.Worker {
	return []*worker.Worker{e.turns, e.outbox.Worker, e.handover.Worker}
}

func (s *Service) openEngines(ctx context.Context) error {
	lease := s.cfg.Turn.Lease
	if s.opts.Lease > 0 {
		lease = s.opts.Lease
	}
	e := &engines{}
	s.engines = e
	if err := s.openOutbox(e, lease); err != nil {
		return err
	}
	if err := s.openHandover(e, lease); err != nil {
		return err
	}
	var err error
	e.replicas, err = replica.New(replica.Options{Store: s.store, Holder: s.holder, Format: session.EventVersion, NewID: s.opts.NewID, Log: s.log})
	if err != nil {
		return err
	}
	tools, err := s.tools()
	if err != nil {
		return err
	}
	keeper, err := s.openGate(ctx, tools)
	if err != nil {
		return err
	}
	engine := turn.New(turn.Options{
		Store: s.store, Agents: s.agentSource(), Models: modelSource{s.router}, Tools: tools, Sources: append([]tool.Source{s.stack(tools)}, s.authorSources()...), Gate: keeper,
		Outbox: &outgoing{
			worker: e.outbox, pacer: s.pacer(), adapter: s.adapter, holder: s.holder, lease: lease,
			fail: func(err error) {
				s.log.Warn("outbox: a delivery taken over from a turn was not finished; it is taken up again", "error", err)
			},
		},
		Adapter: func(w chat.Workspace) chat.Adapter {
			if a, ok := s.adapter(w); ok {
				return a
			}
			return nil
		},
		Files: s.reader(),
		Admin: s.isAdmin, Name: people.New(s.store).Name, Reach: people.New(s.store).Reach, DefaultAgent: agents.Main, NewID: s.opts.NewID, Clock: time.Now, Zone: s.cfg.Location(), MaxRounds: s.cfg.Turn.MaxRounds,
		CompactAt: float64(s.cfg.Turn.CompactPercent) / 100, ContextTokens: s.contextTokens, Redact: s.opts.Secrets.Clean,
		Format: e.replicas.Writes, LiveAfter: liveAfter, Spawn: func(f func()) { e.beside.Go(f) },
		Observer: turn.Observer{TurnEnded: s.metrics.turn, ToolEnded: s.metrics.tool}, Log: s.log,
	})
	e.turns, err = worker.New(worker.Options{
		Store: s.store, Agenda: store.Turns, Holder: s.holder, Handle: engine.Handle, NewID: s.opts.NewID, Random: s.opts.Random,
		Lease: lease, Poll: poll, Concurrency: s.cfg.Workers.Turns, Grace: grace(s.cfg.ShutdownGrace), Log: s.log,
	})
	if err != nil {
		return err
	}
	s.metrics.watchWorker(store.Turns, e.turns.Stats)
	s.metrics.watchWorker(store.Outbox, e.outbox.Stats)
	s.metrics.watchWorker(store.Handover, e.handover.Stats)
	return nil
}

// grace is a worker's way to say how long handlers may go on: there 0 would mean its default.
func grace(d time.Duration) time.Duration {
	if d == 0 {
		return -1
	}
	return d
}

func (s *Service) openOutbox(e *engines, lease time.Duration) error {
	var err error
	e.outbox, err = outbox.NewWorker(outbox.Options{
		Store: s.store, Pacer: s.pacer(), Rules: rules(s.cfg.Outbox), NewID: s.opts.NewID, Random: s.opts.Random, Log: s.log, Report: s.metrics.delivery,
		Adapter: func(c chat.Conversation) (chat.Adapter, bool) { return s.adapter(c.Workspace) },
	}, worker.Options{Holder: s.holder, Lease: lease, Poll: poll, Grace: grace(min(s.cfg.ShutdownGrace, lastSends))})
	return err
}

func (s *Service) openHandover(e *engines, lease time.Duration) error {
	var err error
	e.handover, err = handover.NewWorker(handover.Options{
		Store: s.store, NewID: s.opts.NewID, Random: s.opts.Random, Log: s.log, Report: s.metrics.handover,
		Takers: map[string]handover.Taker{
			handover.MessageKind: handover.Messages{Store: s.store, Inbox: s.cfg.Intake.InboxLimit}, conversation.SayKind: handover.Sayings{Store: s.store},
			conversation.CopyKind: s.copies(), conversation.CopyEndKind: s.copies(),
			conversation.TaskKind: handover.Tasks{Store: s.store}, conversation.TaskResultKind: handover.Tasks{Store: s.store},
		},
	}, worker.Options{Holder: s.holder, Lease: lease, Poll: poll, Grace: grace(min(s.cfg.ShutdownGrace, lastSends))})
	return err
}

// pacer is one for all: it remembers what the platforms demanded.
func (s *Service) pacer() *outbox.Pacer {
	if s.paces == nil {
		p := paces(s.cfg.Outbox)
		s.paces = outbox.NewPacer(s.store, func(c chat.Conversation) outbox.Paces {
			if c.Workspace == console.Workspace {
				return outbox.Paces{} // nobody limits the terminal, and a person waits there
			}
			return p
		})
	}
	return s.paces
}

// tools are the built-in tools and those of the options.
func (s *Service) tools() (*tool.Registry, error) {
	all := slices.Concat([]tool.Tool{builtin.CurrentTime(s.cfg.Location(), time.Now)}, s.desk().Tools(), s.fileTools(), s.webTools())
	return tool.NewRegistry(discreet(grouped(append(all, s.opts.Tools...)), s.opts.Secrets.Clean)...)
}

// isAdmin reports whether one of a person's identities is an admin's now.
func (s *Service) isAdmin(ctx context.Context, person string) (bool, error) {
	answers, err := s.store.Read(
		ctx,
		store.Get{Partition: people.System, Key: people.AdminsKey},
		store.Get{Partition: people.PersonPartition(person), Key: people.PersonKey},
	)
	if err != nil {
		return false, err
	}
	var admins people.Admins
	var rec people.Record
	for i, into := range []any{&admins, &rec} {
		doc, ok := answers[i].Doc()
		if !ok {
			return false, nil
		}
		if err := json.Unmarshal(doc.Value, into); err != nil {
			return false, fmt.Errorf("document %s/%s: %w", doc.Key.Collection, doc.Key.Name, err)
		}
	}
	return slices.ContainsFunc(rec.Identities, func(id chat.IdentityID) bool { return admins.RoleOf(id).Covers(people.Admin) }), nil
}

// recordOf finds the record of the last turn, if it answered a message.
func recordOf(ctx context.Context, st store.Store, c chat.Conversation, message string) (*conversation.TurnRecord, error) {
	p := conversation.Partition(c)
	answers, err := st.Read(ctx, store.Get{Partition: p, Key: conversation.CurrentKey})
	if err != nil {
		return nil, err
	}
	var cur conversation.Current
	if doc, ok := answers[0].Doc(); ok {
		if err := conversation.Decode(doc, &cur); err != nil {
			return nil, err
		}
	}
	// The newest: a script asks about the answer that it has just read.
	if answers, err = st.Read(ctx, store.Get{Partition: p, Key: conversation.TurnKey(cur.LastTurn)}); err != nil {
		return nil, err
	}
	if doc, ok := answers[0].Doc(); ok {
		var rec conversation.TurnRecord
		if err := conversation.Decode(doc, &rec); err != nil {
			return nil, err
		}
		if slices.ContainsFunc(rec.Covers, func(c session.Cover) bool { return c.MessageID == message }) {
			return &rec, nil
		}
	}
	return nil, fmt.Errorf("message %q is not one that the last turn answered", message)
}
