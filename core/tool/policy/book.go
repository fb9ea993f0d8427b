package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool/gate"
)

const (
	// MaxRules bounds the rules of the run time: all of them are read for each turn.
	MaxRules = 300
	// tries bounds how often a change that lost a race is decided anew.
	tries = 10
	// auditTail is how far back a repeated event looks for its row.
	auditTail = 200
	// events is the index of the events that changed the rules, by time.
	events = "gate-events"
	// runMark begins the ids of rules that are made at run time: behind those of the file, before Herald's own.
	runMark = "run-"
)

// Errors of changes.
var (
	// ErrFile: the rule stands in the configuration file, which is changed by its editor alone.
	ErrFile = errors.New("the rule stands in the configuration file")
	// ErrNoRule: there is no such rule.
	ErrNoRule = errors.New("there is no such rule")
	// ErrFull: there are as many rules as may be.
	ErrFull = errors.New("there are too many rules")
)

// Audit is the log in the partition system of changes to the rules.
const Audit = conversation.Audit

// Change is an entry of that log; its kind is "rule_add", "rule_remove" or "rule_seed".
type Change struct {
	V int `json:"v"`
	// By is the person, "" for the service itself; Event the message or invocation that asked for it.
	By    string      `json:"by,omitempty"`
	Event string      `json:"event"`
	Rules []gate.Rule `json:"rules"`
}

// Book keeps the rules of the run time. It is safe for concurrent use over all replicas.
type Book struct {
	store store.Store
	file  func() []gate.Rule
}

// NewBook is a book in st beside the rules of the configuration file as they are now.
func NewBook(st store.Store, file func() []gate.Rule) *Book { return &Book{store: st, file: file} }

// Actor is who changes a rule, by which event; the same event changes once, however often it is repeated within a day.
type Actor struct{ Person, Event string }

// List is all rules as one list in the order in which they are read: those of the file and those of the store.
func (b *Book) List(ctx context.Context) ([]gate.Rule, error) {
	as, err := b.store.Read(ctx, store.Get{Partition: people.System, Key: RulesKey})
	if err != nil {
		return nil, fmt.Errorf("list the rules: %w", err)
	}
	doc, _, err := readRules(as[0])
	if err != nil {
		return nil, err
	}
	return gate.NewSet(b.file(), doc.Rules).Rules(), nil
}

// Add makes r a rule; its id is given here. Errors are [gate.ErrInvalid], also for a second default action that contradicts the first,
// [ErrFull] and the store's.
func (b *Book) Add(ctx context.Context, who Actor, r gate.Rule) (gate.Rule, error) {
	rules, err := b.change(ctx, who, "rule_add", func(doc *rulesDoc) ([]gate.Rule, error) {
		r.ID = fmt.Sprintf("%s%06d", runMark, doc.Next)
		if err := r.Check(); err != nil {
			return nil, err
		}
		if o, ok := gate.Contradicts(&r, append(b.file(), doc.Rules...)); ok {
			return nil, fmt.Errorf("group %s has the default action %s by rule %s already; remove that one first: %w", r.GroupName(), o.Action, o.ID, gate.ErrInvalid)
		}
		if len(doc.Rules) >= MaxRules {
			return nil, fmt.Errorf("%d rules stand already; remove one first: %w", len(doc.Rules), ErrFull)
		}
		doc.Next++
		doc.Rules = append(doc.Rules, r)
		return []gate.Rule{r}, nil
	})
	return one(rules), err
}

func one(rules []gate.Rule) gate.Rule {
	if len(rules) == 0 {
		return gate.Rule{}
	}
	return rules[0]
}

// Remove removes the rule of this id and gives it back. Errors are [ErrFile], [ErrNoRule] and the store's.
func (b *Book) Remove(ctx context.Context, who Actor, id string) (gate.Rule, error) {
	if strings.HasPrefix(id, gate.FileMark) && slices.ContainsFunc(b.file(), func(r gate.Rule) bool { return r.ID == id }) {
		return gate.Rule{}, fmt.Errorf("remove rule %s: %w; edit the file", id, ErrFile)
	}
	rules, err := b.change(ctx, who, "rule_remove", func(doc *rulesDoc) ([]gate.Rule, error) {
		i := slices.IndexFunc(doc.Rules, func(r gate.Rule) bool { return r.ID == id })
		if i < 0 {
			return nil, fmt.Errorf("remove rule %s: %w", id, ErrNoRule)
		}
		gone := doc.Rules[i]
		doc.Rules = slices.Delete(doc.Rules, i, i+1)
		return []gate.Rule{gone}, nil
	})
	return one(rules), err
}

// Seed puts in Herald's own rules that were never put in before, so that what an admin removed or put in their place stays. Nothing is
// written when all are known. event must be one that nobody else uses.
func (b *Book) Seed(ctx context.Context, event string, seeds []gate.Rule) error {
	_, err := b.change(ctx, Actor{Event: event}, "rule_seed", func(doc *rulesDoc) ([]gate.Rule, error) {
		var fresh []gate.Rule
		for _, r := range seeds {
			if !slices.Contains(doc.Seeded, r.ID) {
				fresh = append(fresh, r)
				doc.Seeded = append(doc.Seeded, r.ID)
			}
		}
		doc.Rules = append(doc.Rules, fresh...)
		return fresh, nil
	})
	return err
}

// change reads the document, changes it and writes it guarded by what was read, with its row in the audit log and the event that asked for
// it: an event that has made its change makes none again and gives the same answer. f gives the rules that the row speaks of; none means
// that there is nothing to write.
func (b *Book) change(ctx context.Context, who Actor, kind string, f func(*rulesDoc) ([]gate.Rule, error)) ([]gate.Rule, error) {
	for try := range tries {
		as, err := b.store.Read(ctx,
			store.Get{Partition: people.System, Key: RulesKey},
			store.ScoreOf{Partition: people.System, Index: events, Member: who.Event},
			store.Tail{Partition: people.System, Log: Audit, N: auditTail})
		if err != nil {
			return nil, fmt.Errorf("change the rules: %w", err)
		}
		if len(as[1].Scored) > 0 {
			return made(as[2].Entries, who.Event), nil
		}
		doc, version, err := readRules(as[0])
		if err != nil {
			return nil, err
		}
		rules, err := f(&doc)
		if err != nil || len(rules) == 0 {
			return nil, err
		}
		doc.V = Version
		_, err = b.store.Commit(ctx, store.Commit{
			ID: conversation.ID("policy.change/", kind, who.Event, fmt.Sprint(try, version)), Partition: people.System,
			Guards: []store.Guard{store.At{Key: RulesKey, Version: version}},
			Ops: []store.Op{
				store.Put{Key: RulesKey, Value: encode(doc)},
				store.ScoreNow{Index: events, Member: who.Event},
				store.TrimOlder{Index: events, Age: conversation.DedupeAge},
				store.Append{Log: Audit, ID: who.Event, Kind: kind, Data: encode(Change{V: Version, By: who.Person, Event: who.Event, Rules: rules})},
			},
		})
		switch {
		case err == nil:
			return rules, nil
		case !errors.Is(err, store.ErrConflict):
			return nil, fmt.Errorf("change the rules: %w", err)
		}
	}
	return nil, fmt.Errorf("change the rules: %d others in a row were faster; try again: %w", tries, store.ErrConflict)
}

// made are the rules that an event changed, as its row says.
func made(rows []store.Entry, event string) []gate.Rule {
	for _, row := range slices.Backward(rows) {
		var c Change
		if row.ID == event && json.Unmarshal(row.Data, &c) == nil {
			return c.Rules
		}
	}
	return nil
}

// Bind chooses c as the run context of a conversation, as far as a person of the role may: what they may not choose stays as it is, as the folder
// of a project does. nil removes the context. Errors are [gate.ErrForbidden] and the store's.
func Bind(ctx context.Context, st store.Store, p store.Partition, who Actor, role string, roles gate.Roles, c *gate.RunContext) error {
	c, err := gate.ValidateForRole(c, role, roles)
	if err != nil {
		return fmt.Errorf("bind a run context to %s: %w", p, err)
	}
	if c != nil {
		stands, err := ContextOf(ctx, st, p)
		if err != nil {
			return err
		}
		if stands != nil && len(c.SystemPrompt)+len(c.AllowFSReads)+len(c.AllowFSWrites) == 0 && c.WorkingDirectory == "" && c.Agent == "" {
			kept := *stands
			kept.SecurityGroup = c.SecurityGroup
			c = &kept
		}
	}
	_, err = st.Commit(ctx, store.Commit{ID: conversation.ID("policy.bind/", who.Event), Partition: p, Ops: BindOps(who, c)})
	if err != nil {
		return fmt.Errorf("bind a run context to %s: %w", p, err)
	}
	return nil
}

// BindOps make c the run context of a conversation with a row in its audit log; nil removes it. Whoever commits them has checked that the
// person may choose c.
func BindOps(who Actor, c *gate.RunContext) []store.Op {
	op := store.Op(store.Delete{Key: conversation.ContextKey})
	if c != nil {
		op = store.Put{Key: conversation.ContextKey, Value: encode(contextDoc{V: Version, Context: *c})}
	}
	return []store.Op{op, store.Append{Log: Audit, ID: who.Event, Kind: "run_context", Data: encode(struct {
		V       int              `json:"v"`
		By      string           `json:"by"`
		Context *gate.RunContext `json:"context"`
	}{Version, who.Person, c})}}
}
