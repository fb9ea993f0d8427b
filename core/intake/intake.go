package intake

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/memory"
	"herald/core/people"
	"herald/core/store"
)

// ErrMalformed is returned for an event that is none: nil, or an interaction that cannot be understood. A malformed event that is no
// interaction ends as a row instead, for its platform would send it for ever.
var ErrMalformed = chat.ErrMalformed

// tries bounds how often an entry that lost a race is decided anew.
const tries = 10

// Options are what an Intake needs. Store and NewID are required.
type Options struct {
	Store store.Store
	// People defaults to one over Store, Commands to [command.Default].
	People   *people.People
	Commands *command.Table
	// Chats are the ids of the agents that a person can name, as they are now; nil means none. It must not block.
	Chats func() []string
	// Policy gives the settings of a workspace as they are now; nil means the defaults. It must not block.
	Policy func(chat.Workspace) Policy
	// NewID makes ids that nobody else makes.
	NewID func() string
	// Log gets a line for each event that makes an entry or fails, never with its text; nil logs nothing.
	Log *slog.Logger
	// Count is called once for each event; the outcome is empty for one that failed. nil counts nothing. It must not block.
	Count func(kind chat.Kind, outcome chat.Outcome, why Reason)
	// InteractionWait bounds an interaction; 0 means [InteractionWait].
	InteractionWait time.Duration
}

// Intake takes events in. It is safe for concurrent use and holds no state of its own.
type Intake struct {
	store    store.Store
	people   *people.People
	commands *command.Table
	chats    func() []string
	policy   func(chat.Workspace) Policy
	newID    func() string
	log      *slog.Logger
	count    func(chat.Kind, chat.Outcome, Reason)
	wait     time.Duration
}

var _ chat.Receiver = (*Intake)(nil)

// New is an Intake with the options o. It fails when a required one is missing.
func New(o Options) (*Intake, error) {
	if o.Store == nil || o.NewID == nil {
		return nil, errors.New("make an intake: it needs a store and a source of ids; set Options.Store and Options.NewID")
	}
	i := &Intake{
		store: o.Store, people: o.People, commands: o.Commands, chats: o.Chats, policy: o.Policy,
		newID: o.NewID, log: o.Log, count: o.Count, wait: o.InteractionWait,
	}
	if i.people == nil {
		i.people = people.New(o.Store)
	}
	if i.commands == nil {
		i.commands = command.Default()
	}
	if i.chats == nil {
		i.chats = func() []string { return nil }
	}
	if i.policy == nil {
		i.policy = func(chat.Workspace) Policy { return Policy{} }
	}
	if i.log == nil {
		i.log = slog.New(slog.DiscardHandler)
	}
	if i.count == nil {
		i.count = func(chat.Kind, chat.Outcome, Reason) {}
	}
	fill(&i.wait, InteractionWait)
	return i, nil
}

// Receive takes one event in; see [chat.Receiver]. Errors are the store's, [ErrMalformed], and those of documents that a newer version of
// Herald wrote. [Sentence] makes of an error what a person may read.
func (i *Intake) Receive(ctx context.Context, in *chat.Inbound) (chat.Outcome, error) {
	if in == nil {
		return "", fmt.Errorf("take an event in: there is none: %w", ErrMalformed)
	}
	if in.Kind.Interaction() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, i.wait)
		defer cancel()
	}
	out, why, err := i.take(ctx, in)
	if err != nil {
		err = fmt.Errorf("take in %s %q: %w", short(string(in.Kind)), short(in.MessageID), err)
	}
	i.report(ctx, in, out, why, err)
	return out, err
}

// event is an event on its way in.
type event struct {
	in   *chat.Inbound
	key  string // its dedupe key
	part store.Partition
	verdict
	policy Policy
	lookup people.Lookup
	known  people.Known
	// who is the sender once they are settled.
	who people.Person
	// now is the store's time of the read.
	now time.Time
	// untouched: there are no notes that an agent could read; see [conversation.Message.NoNotes].
	untouched bool
	// extra holds the answers to the queries that the event's kind asked for.
	extra []store.Answer
	// agent is the one that the message asks for by name, shown the notice that shows it where it was typed out of sight.
	agent string
	shown *conversation.Delivery
}

func (i *Intake) take(ctx context.Context, in *chat.Inbound) (chat.Outcome, Reason, error) {
	if in.Sender.Self {
		return chat.Ignored, Own, nil
	}
	if what, place := problem(in); what != "" {
		return i.malformed(ctx, in, what, place)
	}
	in = aimed(tidy(in))
	e := &event{in: in, key: in.DedupeKey(), part: conversation.Partition(in.Conversation), policy: i.policy(in.Conversation.Workspace).complete()}
	e.verdict = judge(in, e.policy, i.commands)
	if e.ignore != "" {
		return chat.Ignored, e.ignore, nil
	}
	if err := i.read(ctx, e); err != nil {
		return "", Failed, err
	}
	// An interaction never comes again, and its time can be that of the card that was clicked.
	if !in.Kind.Interaction() && !in.SentAt.IsZero() && e.now.Sub(in.SentAt) > conversation.DedupeAge {
		return i.bury(ctx, e, TooOld, fmt.Sprintf("it was sent at %s, more than %v ago", in.SentAt.UTC().Format(time.RFC3339), conversation.DedupeAge))
	}
	if e.guarded {
		if silent, err := i.loops(ctx, e); err != nil || silent {
			return outcome(chat.Ignored, BotLoop, err)
		}
	}
	if e.skips() {
		return chat.Ignored, Unknown, nil
	}
	// The footprint comes before the words: a crash between the two leaves a note about nothing, the other way would leave words that
	// no review, export or erasure finds.
	var err error
	if e.who, err = i.people.Settle(ctx, e.lookup, e.known, e.key); err != nil {
		return "", Failed, err
	}
	return i.enter(ctx, e)
}

// enter makes the entry that e is to become.
func (i *Intake) enter(ctx context.Context, e *event) (chat.Outcome, Reason, error) {
	switch {
	case e.notice != "":
		return i.say(ctx, e, e.reason, e.notice, false)
	case e.command.Is:
		return i.runCommand(ctx, e)
	}
	switch e.in.Kind {
	case chat.Edit, chat.Delete:
		return i.change(ctx, e)
	case chat.Click:
		return i.click(ctx, e)
	default:
		if err := i.greet(ctx, e); err != nil {
			return "", Failed, err
		}
		return i.queue(ctx, e)
	}
}

// read asks in one round trip for the sender and for what the event's kind needs.
func (i *Intake) read(ctx context.Context, e *event) error {
	e.lookup = people.Lookup{Sender: e.in.Sender, Where: e.part, Role: e.command.Is || e.in.Kind == chat.Click}
	queries := e.lookup.Queries()
	mine := len(queries)
	queries = append(queries, e.queries()...)
	theirs := len(queries)
	queries = append(queries, e.noteQueries()...)
	answers, err := i.store.Read(ctx, queries...)
	if err != nil {
		return err
	}
	e.extra = answers[mine:theirs]
	e.untouched = theirs < len(answers)
	for _, a := range answers[theirs:] {
		e.untouched = e.untouched && memory.IsUntouched(a)
	}
	if e.known, err = e.lookup.Understand(answers[:mine]); err != nil {
		return err
	}
	e.now = e.known.Now
	return nil
}

// queries are what the event's kind asks for beside its sender.
func (e *event) queries() []store.Query {
	switch {
	case e.guarded:
		return e.loopQueries()
	case e.command.Is && e.command.Spec != nil && e.command.Spec.Run == nil:
		return []store.Query{store.Get{Partition: e.part, Key: conversation.HeadKey}}
	case e.notice != "":
		return nil
	case e.in.Kind == chat.Edit, e.in.Kind == chat.Delete:
		return []store.Query{store.ScoreOf{Partition: e.part, Index: conversation.Dedupe, Member: target(e.in)}}
	case e.in.Kind == chat.Click:
		return e.clickQueries()
	case e.meets():
		return []store.Query{store.Get{Partition: home(e.in.Conversation), Key: greetedKey}}
	}
	return nil
}

// noteQueries ask whether there are notes that an agent could read where a message came: then the turn need not look.
func (e *event) noteQueries() []store.Query {
	if e.in.Kind != chat.Message || e.command.Is {
		return nil
	}
	return []store.Query{
		memory.Untouched(memory.OfWorkspace(e.in.Conversation.Workspace)), memory.Untouched(memory.OfChannel(e.in.Conversation)), memory.Untouched(memory.Of(people.PersonOf(e.in.Sender.Identity))),
	}
}

// skips reports whether e is an edit or a deletion of a message that was not taken in and will not be: other people's talk. One that
// arrives before its message must be kept for it.
func (e *event) skips() bool {
	if e.in.Kind != chat.Edit && e.in.Kind != chat.Delete {
		return false
	}
	return !e.in.Addressed && !e.in.Direct && !e.in.Mentioned && len(e.extra[0].Scored) == 0
}

// outcome is the result of an event unless there was an error.
func outcome(out chat.Outcome, why Reason, err error) (chat.Outcome, Reason, error) {
	if err != nil {
		return "", Failed, err
	}
	return out, why, nil
}

// report logs and counts what became of an event.
func (i *Intake) report(ctx context.Context, in *chat.Inbound, out chat.Outcome, why Reason, err error) {
	i.count(in.Kind, out, why)
	level := slog.LevelInfo
	switch {
	case err != nil:
		level = slog.LevelWarn
	case out == chat.Ignored:
		level = slog.LevelDebug
	}
	if !i.log.Enabled(ctx, level) {
		return
	}
	attrs := []slog.Attr{
		slog.String("kind", short(string(in.Kind))),
		slog.String("conversation", short(in.Conversation.Key())),
		slog.String("message", short(in.MessageID)),
		slog.String("outcome", string(out)),
		slog.String("reason", string(why)),
	}
	if err != nil {
		attrs = append(attrs, slog.String("error", err.Error()))
	}
	i.log.LogAttrs(ctx, level, "inbound event", attrs...)
}
