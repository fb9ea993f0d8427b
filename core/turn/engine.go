package turn

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// Agents finds agents.
type Agents interface {
	// Agent is the agent s.Agent as it is now, for the frame s; the engine fills its text in. Its error is for the operator; the person is told that the
	// agent cannot be used.
	Agent(ctx context.Context, s tool.Scope) (prompt.Agent, error)
}

// Models finds models.
type Models interface {
	// Model is the model for an agent: the one that it names, or a choice by its strength.
	Model(a prompt.Agent) (model.Model, error)
	// Cost is what a usage of the configured model costs; ok is false when it has no price.
	Cost(name string, u model.Usage) (cost float64, ok bool)
}

// Outbox takes over deliveries that a commit of the engine wrote.
type Outbox interface {
	// Express prepares a commit that says d and takes the claim of the conversation's outbox at once: its operations, of which the last one
	// that puts writes d, and guards that hold while nothing else waits to be said and nobody else says it. standing says that d stands in the outbox already.
	// done must be called once after the commit: with the claim that it took, the version that it gave d and the store's time, or with nil.
	// Where one of them does not hold, d is said as usual.
	Express(c chat.Conversation, d *conversation.Delivery, standing bool) (guards []store.Guard, ops []store.Op, done func(c *store.Claim, version int64, now time.Time))
	// Room takes a place in the platform's pace for the first post of a live message; false when there is none at once.
	Room(ctx context.Context, c chat.Conversation) (bool, error)
	// Edit shows the present text of a live message, unless the platform's pace has no room for it now; it never waits for room.
	Edit(ctx context.Context, p *chat.Post, r chat.Receipt) error
}

// Rules is a gate whose rules stand in the store. They are read in the round trip that looks for news, so that they are as fresh as the
// news and cost none of their own.
type Rules interface {
	tool.Gate
	// Queries are what must be read for a conversation.
	Queries(p store.Partition) []store.Query
	// Open is the gate that answers by what was read. It is used by one claim, by several goroutines at once.
	Open(p store.Partition, answers []store.Answer) tool.Gate
}

// Observer is told what happened, for metrics; every field may be nil.
type Observer struct {
	// TurnEnded is called after the commit that ended a turn; how is "answered", "failed", "stopped", "set aside".
	TurnEnded func(how string, d time.Duration)
	// ToolEnded is called for each call that ended.
	ToolEnded func(name, status string, d time.Duration)
}

// Options of an engine. All fields but Files, Observer, Log, Spawn and Admin are required.
type Options struct {
	Store  store.Store
	Agents Agents
	Models Models
	Tools  *tool.Registry
	// Sources give tools beside those of Tools. Of two tools with one name that of Tools counts, then that of the earlier source.
	Sources []tool.Source
	// Gate decides about calls. One that is [Rules] is opened for each claim, with what the load of the conversation read.
	Gate    tool.Gate
	Outbox  Outbox
	Adapter func(chat.Workspace) chat.Adapter
	// Files reads what is attached to messages; nil reads nothing.
	Files Files
	// Admin reports whether a person is an admin now; nil means nobody is.
	Admin func(ctx context.Context, person string) (bool, error)
	// Name is the shown name of a person, for cards; nil means that their ids are shown.
	Name func(ctx context.Context, person string) (string, error)
	// Reach is the accounts to which cards are copied for persons who may decide and do not read the conversation: of who, in workspace w where there is
	// one, without those of without; named are accounts by persons. nil means that cards have no copies.
	Reach func(ctx context.Context, w chat.Workspace, who, without []string, named map[string]string) ([]chat.IdentityID, error)
	// CompactAt is the share of a model's context at which the older part of a history is summarised; 0 means never by itself. ContextTokens is
	// what the context of an agent's model holds, 0 where that is not known; nil means that it never is.
	CompactAt     float64
	ContextTokens func(a prompt.Agent) int
	// Redact takes secrets out of what is summarised; nil means that there are none.
	Redact func(string) string
	// DefaultAgent is who answers where nobody was chosen: "main".
	DefaultAgent string
	NewID        func() string
	// Clock measures durations only.
	Clock func() time.Time
	Zone  *time.Location
	// MaxRounds bounds the model calls of a turn, MaxAttempts how often a turn may crash alone before it is set aside.
	MaxRounds, MaxAttempts int
	// LiveAfter is how long an answer may take before a live message shows it; negative means that there are none.
	LiveAfter time.Duration
	// Format is the newest version of log entries that every process which shares the store reads; nil means the newest of this one.
	Format func() int
	// Spawn runs a function beside the caller; nil means that everything is done in line and no stop is watched for, as a simulation wants it.
	Spawn    func(func())
	Observer Observer
	Log      *slog.Logger
}

// Engine performs turns. It holds no state of a conversation between two of them.
type Engine struct {
	Options
	// prompts are system prompts as sessions were shown them.
	prompts prompt.Stable
	schemas schemas
	// alone is the one place for a turn that was under way in a crash.
	alone chan struct{}
}

// Reasons to break off that are no failure.
var (
	// ErrStopped: a newer stop stands; the commit that would answer or start a tool was refused.
	ErrStopped = errors.New("a stop was committed")
	errLookNow = errors.New("there is something new to look at")
	// errBusyOutbox: another delivery waits, so that this one takes its place behind it.
	errBusyOutbox = errors.New("another delivery waits in the outbox")
)

// New makes an engine.
func New(o Options) *Engine {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	if o.MaxAttempts <= 0 {
		o.MaxAttempts = 5
	}
	if o.Format == nil {
		o.Format = func() int { return session.EventVersion }
	}
	return &Engine{Options: o, alone: make(chan struct{}, 1)}
}
