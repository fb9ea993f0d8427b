package policy

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// fresh is how old what was read may be when a call is decided: a deny that an admin has just set must hold for the next call.
const fresh = 2 * time.Second

// Options are what a Keeper needs. Store, File, Roles, Clock and Log are required.
type Options struct {
	Store store.Store
	// File gives the rules of the configuration file as they are now; it must not block. A list that it gave is never changed.
	File func() []gate.Rule
	// Roles gives the roles and the groups that they may use, as they are now; it must not block.
	Roles func() gate.Roles
	// Role is the role of a person now, "" for one that is not known; nil means that everybody is a member.
	Role func(ctx context.Context, person string) (string, error)
	// Admin reports whether a person is an admin now; nil means that nobody is.
	Admin func(ctx context.Context, person string) (bool, error)
	// Folder is the absolute path of the working folder of a call in a run context, which may be nil; its error says why there is none. nil means
	// that there are no folders but those that contexts name.
	Folder func(c tool.Call, rc *gate.RunContext) (string, error)
	// Name is the shown name of a person, for cards; nil means their ids.
	Name func(ctx context.Context, person string) (string, error)
	// SingleOperator lets the one who asked decide what else takes four eyes.
	SingleOperator func() bool
	// Clock measures durations only.
	Clock func() time.Time
	Log   *slog.Logger
}

// Keeper is the gate of an installation. Between two claims it keeps nothing that it decides by.
type Keeper struct {
	o Options
	// rules is the last document of rules and what it means: each claim reads the document, and it seldom changes. last is the set that was made last.
	rules atomic.Pointer[understood]
	last  atomic.Pointer[ordered]
}

// ordered is the set of two lists of rules. It is never changed.
type ordered struct {
	file, stored []gate.Rule
	set          *gate.Set
}

// set is the rules of the file and stored ones in their order. It is made anew when one of the two lists is another one: neither is changed in place.
func (k *Keeper) set(stored []gate.Rule) *gate.Set {
	file := k.o.File()
	if l := k.last.Load(); l != nil && sameList(l.file, file) && sameList(l.stored, stored) {
		return l.set
	}
	set := gate.NewSet(file, stored)
	k.last.Store(&ordered{file, stored, set})
	return set
}

// sameList reports whether a and b are one list in memory.
func sameList(a, b []gate.Rule) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// understood is what the bytes of a document of rules mean. It is never changed.
type understood struct {
	value []byte
	rules []gate.Rule
}

// understand gives the rules that an answer holds. The same bytes are decoded once.
func (k *Keeper) understand(a store.Answer) ([]gate.Rule, error) {
	doc, ok := a.Doc()
	if last := k.rules.Load(); ok && last != nil && bytes.Equal(last.value, doc.Value) {
		return last.rules, nil
	}
	read, _, err := readRules(a)
	if ok && err == nil {
		k.rules.Store(&understood{bytes.Clone(doc.Value), read.Rules})
	}
	return read.Rules, err
}

// New is a keeper with the options o.
func New(o Options) *Keeper {
	if o.Role == nil {
		o.Role = func(context.Context, string) (string, error) { return string(people.Member), nil }
	}
	if o.Admin == nil {
		o.Admin = func(context.Context, string) (bool, error) { return false, nil }
	}
	if o.Name == nil {
		o.Name = func(_ context.Context, person string) (string, error) { return person, nil }
	}
	if o.Folder == nil {
		o.Folder = func(_ tool.Call, rc *gate.RunContext) (string, error) {
			if rc == nil || rc.WorkingDirectory == "" {
				return "", errors.New("there is no working folder here")
			}
			return rc.WorkingDirectory, nil
		}
	}
	if o.SingleOperator == nil {
		o.SingleOperator = func() bool { return false }
	}
	return &Keeper{o: o}
}

// Decide implements [tool.Gate] for a call outside of a claim, at the price of a read.
func (k *Keeper) Decide(ctx context.Context, c tool.Call) (tool.Decision, error) {
	p := conversation.Partition(c.Conversation)
	as, err := k.o.Store.Read(ctx, k.Queries(p)...)
	if err != nil {
		return tool.Decision{}, fmt.Errorf("read the rules: %w", err)
	}
	return k.Open(p, as).Decide(ctx, c)
}

// Queries are what decisions in a conversation are made from. The person's role is not among them; it is asked for where it matters.
func (k *Keeper) Queries(p store.Partition) []store.Query {
	return []store.Query{
		store.Get{Partition: people.System, Key: RulesKey},
		store.Get{Partition: p, Key: conversation.BypassKey},
		store.Get{Partition: p, Key: conversation.ContextKey},
		store.Get{Partition: channelOf(p), Key: conversation.ContextKey},
	}
}

// channelOf is the partition of the channel of a thread: what is bound to the channel holds for the threads that have nothing of their own.
func channelOf(p store.Partition) store.Partition {
	c, ok := conversation.Of(p)
	if !ok || c.Thread == "" {
		return p
	}
	c.Thread = ""
	return conversation.Partition(c)
}

// ContextOf is the run context of a conversation: its own, else that of its channel; nil where there is none.
func ContextOf(ctx context.Context, st store.Store, p store.Partition) (*gate.RunContext, error) {
	as, err := st.Read(ctx, store.Get{Partition: p, Key: conversation.ContextKey}, store.Get{Partition: channelOf(p), Key: conversation.ContextKey})
	if err != nil {
		return nil, fmt.Errorf("read the run context of %s: %w", p, err)
	}
	return contextIn(as[0], as[1])
}

// contextIn is the run context that two answers hold: the first that holds one.
func contextIn(own, channel store.Answer) (*gate.RunContext, error) {
	c, err := readContext(own)
	if err != nil || c != nil {
		return c, err
	}
	return readContext(channel)
}

// Open is the gate of one claim on the conversation of partition p, by the answers to [Keeper.Queries].
func (k *Keeper) Open(p store.Partition, answers []store.Answer) tool.Gate {
	d := &door{Keeper: k, p: p}
	d.take(answers)
	return d
}

// door is the gate as it stood at one read.
type door struct {
	*Keeper
	p store.Partition

	mu sync.Mutex
	// now is the store's time of the read, since the local time of it.
	now   time.Time
	since time.Time
	// set is nil where the rules could not be read.
	set      *gate.Set
	bypasses []gate.Bypass
	context  *gate.RunContext
	// named: identities among the deciders stand for their persons.
	named bool
	roles map[string]string
	// accounts are those by which the rules name persons.
	accounts map[string]string
}

// take understands what was read. What cannot be read closes the gate and is said in the log.
func (d *door) take(as []store.Answer) {
	d.now, d.since, d.named, d.set, d.roles = as[0].Now, d.o.Clock(), false, nil, nil
	stored, err := d.understand(as[0])
	var errs [2]error
	d.bypasses, errs[0] = readBypasses(as[1])
	d.context, errs[1] = contextIn(as[2], as[3])
	if err = errors.Join(err, errs[0], errs[1]); err != nil {
		d.o.Log.Warn("the rules could not be read: every call needs a person", "partition", d.p, "error", err)
		return
	}
	d.set = d.Keeper.set(stored)
}

// Decide implements [tool.Gate].
func (d *door) Decide(ctx context.Context, c tool.Call) (tool.Decision, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if err := d.refresh(ctx); err != nil {
		return tool.Decision{}, err
	}
	q, err := d.request(ctx, c)
	if err != nil {
		return tool.Decision{}, err
	}
	groups, err := d.groups(ctx, c)
	if err != nil {
		return tool.Decision{}, err
	}
	var v gate.Verdict
	for i, g := range groups {
		q.Group = g
		if w := d.set.Decide(q); i == 0 || strictness(w.Answer) > strictness(v.Answer) {
			v = w
		}
	}
	return d.decision(ctx, c, q, v)
}

// Bound implements [tool.Binder].
func (d *door) Bound() tool.Binding {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.context == nil {
		return tool.Binding{}
	}
	return tool.Binding{Agent: d.context.Agent, Lines: slices.Clone(d.context.SystemPrompt)}
}

// strictness orders answers: where several persons ask, the strictest holds.
func strictness(a tool.Answer) int {
	return slices.Index([]tool.Answer{tool.Allow, tool.Require, tool.Deny}, a)
}

// Hides implements [tool.Hider]. A role that cannot be read hides nothing; nothing runs by it either.
func (d *door) Hides(ctx context.Context, c tool.Call, name string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	groups, err := d.groups(ctx, c)
	return err == nil && slices.ContainsFunc(groups, func(g string) bool { return d.set.Hides(g, name) })
}

// refresh reads again what is too old, and puts persons in the place of identities.
func (d *door) refresh(ctx context.Context) error {
	if d.o.Clock().Sub(d.since) > fresh {
		as, err := d.o.Store.Read(ctx, d.Queries(d.p)...)
		if err != nil {
			return fmt.Errorf("read the rules again: %w", err)
		}
		d.take(as)
	}
	if d.named || d.set == nil {
		return nil
	}
	set, err := d.persons(ctx, d.set)
	if err != nil {
		return err
	}
	d.set, d.named = set, true
	return nil
}

// persons puts persons in the place of the identities among deciders.
func (d *door) persons(ctx context.Context, s *gate.Set) (*gate.Set, error) {
	rules := s.Rules()
	var ids []string
	for _, r := range rules {
		for _, who := range r.Deciders {
			if strings.Contains(who, ":") && !slices.Contains(ids, who) {
				ids = append(ids, who)
			}
		}
	}
	if len(ids) == 0 {
		return s, nil
	}
	known, err := people.New(d.o.Store).PersonsOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("look up who may decide: %w", err)
	}
	d.accounts = make(map[string]string, len(known))
	for i := range rules {
		rules[i].Deciders = slices.Clone(rules[i].Deciders)
		for j, who := range rules[i].Deciders {
			if p, ok := known[who]; ok {
				d.accounts[p] = who
				rules[i].Deciders[j] = p
			}
		}
	}
	return gate.NewSet(rules), nil
}
