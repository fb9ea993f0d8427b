package policy

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// fresh is how old what was read may be when a call is decided: a deny that an admin has just set must hold for the next call.
const fresh = 2 * time.Second

// Options are what a Keeper needs. Store, File, Roles, Clock and Log are required.
type Options struct {
	Store store.Store
	// File gives the rules of the configuration file as they are now; it must not block.
	File func() []gate.Rule
	// Roles gives the roles and the groups that they may use, as they are now; it must not block.
	Roles func() gate.Roles
	// Role is the role of a person now, "" for one that is not known; nil means that everybody is a member.
	Role func(ctx context.Context, person string) (string, error)
	// Admin reports whether a person is an admin now; nil means that nobody is.
	Admin func(ctx context.Context, person string) (bool, error)
	// Name is the shown name of a person, for cards; nil means their ids.
	Name func(ctx context.Context, person string) (string, error)
	// SingleOperator lets the one who asked decide what else takes four eyes.
	SingleOperator func() bool
	// Clock measures durations only.
	Clock func() time.Time
	Log   *slog.Logger
}

// Keeper is the gate of an installation. It keeps nothing between two claims.
type Keeper struct{ o Options }

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
	}
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
}

// take understands what was read. What cannot be read closes the gate and is said in the log.
func (d *door) take(as []store.Answer) {
	d.now, d.since, d.named, d.set, d.roles = as[0].Now, d.o.Clock(), false, nil, nil
	stored, _, err := readRules(as[0])
	var errs [2]error
	d.bypasses, errs[0] = readBypasses(as[1])
	d.context, errs[1] = readContext(as[2])
	if err = errors.Join(err, errs[0], errs[1]); err != nil {
		d.o.Log.Warn("the rules could not be read: every call needs a person", "partition", d.p, "error", err)
		return
	}
	d.set = gate.NewSet(d.o.File(), stored.Rules)
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
	for i := range rules {
		rules[i].Deciders = slices.Clone(rules[i].Deciders)
		for j, who := range rules[i].Deciders {
			if p, ok := known[who]; ok {
				rules[i].Deciders[j] = p
			}
		}
	}
	return gate.NewSet(rules), nil
}

// request is what the decision about c depends on.
func (d *door) request(ctx context.Context, c tool.Call) (gate.Request, error) {
	askers := c.Askers
	if len(askers) == 0 && c.Person != "" {
		askers = []string{c.Person}
	}
	q := gate.Request{
		Scoped: c.Turn != "" && c.Session != "", Tool: c.Name, Agent: c.Agent, Source: string(c.Conversation.Workspace.Platform()), Session: c.Session,
		Askers: askers, Now: d.now.Add(d.o.Clock().Sub(d.since)), Unattended: c.Unattended, SingleOperator: d.o.SingleOperator(),
	}
	for _, b := range d.bypasses {
		if b.Tool != c.Name || !b.Live(c.Session, q.Now) {
			continue
		}
		admin, err := d.o.Admin(ctx, b.By)
		if err != nil {
			return q, fmt.Errorf("look up the role of %s: %w", b.By, err)
		}
		b.ByAdmin = admin
		q.Bypasses = append(q.Bypasses, b)
	}
	root := ""
	if rc := d.context; rc != nil {
		q.Reads, q.Writes, root = rc.AllowFSReads, rc.AllowFSWrites, rc.WorkingDirectory
	}
	if p, ok := pathOf(c); ok {
		rel, inside := gate.Canonical(root, p, links(root))
		q.Path, q.HasPath, q.Outside = rel, inside, !inside
	}
	return q, nil
}

// pathOf is the path among the arguments of a call to a tool of files, read the way in which the tool reads it.
func pathOf(c tool.Call) (string, bool) {
	if !gate.IsFile(c.Name) {
		return "", false
	}
	var a struct {
		Path *string `json:"path"`
	}
	if json.Unmarshal(c.Arguments, &a) != nil || a.Path == nil {
		return "", false
	}
	return *a.Path, true
}

// links reads symbolic links below root.
func links(root string) func(string) (string, bool) {
	return func(rel string) (string, bool) {
		if root == "" {
			return "", false
		}
		target, err := os.Readlink(filepath.Join(root, filepath.FromSlash(rel)))
		return filepath.ToSlash(target), err == nil
	}
}

// groups are the groups of all who ask, each once. The role is read only where it can make a difference.
func (d *door) groups(ctx context.Context, c tool.Call) ([]string, error) {
	roles := d.o.Roles()
	if common, ok := roles.Common(); ok && (d.context == nil || d.context.SecurityGroup == "") {
		return []string{common}, nil
	}
	askers := c.Askers
	if len(askers) == 0 {
		askers = []string{c.Person}
	}
	var out []string
	for _, person := range askers {
		role, ok := d.roles[person]
		if !ok {
			var err error
			if role, err = d.o.Role(ctx, person); err != nil {
				return nil, fmt.Errorf("look up the role of %s: %w", person, err)
			}
			if d.roles == nil {
				d.roles = make(map[string]string)
			}
			d.roles[person] = role
		}
		if g := gate.GroupFor(d.context, role, roles); !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out, nil
}

// decision is the verdict with what the engine must know of it: who may decide, and whether an approval still counts.
func (d *door) decision(ctx context.Context, c tool.Call, q gate.Request, v gate.Verdict) (tool.Decision, error) {
	out := tool.Decision{Answer: v.Answer, Rule: d.why(ctx, v)}
	switch {
	case v.Answer == tool.Deny && v.By == gate.ByUnattended:
		out.Refusal = session.ByNobody
	case v.Answer == tool.Require && c.Approved != "":
		return d.approved(ctx, c, q, v, out)
	case v.Answer == tool.Require && v.Rule != nil:
		r := v.Rule
		out.Expires = time.Duration(r.ExpiresS) * time.Second
		out.Deciders = slices.Clone(r.Deciders)
		for i, who := range out.Deciders {
			if who == gate.Asker && len(q.Askers) > 0 {
				out.Deciders[i] = q.Askers[0]
			}
		}
		if r.FourEyes && !q.SingleOperator {
			out.Barred = q.Askers
		}
		if r.FourEyes && q.SingleOperator {
			out.Rule += "; the one who asked may decide, because this installation has a single operator"
		}
		out.Who = d.who(ctx, r, q)
	}
	return out, nil
}

// approved judges an approval by the rules and the rights of now.
func (d *door) approved(ctx context.Context, c tool.Call, q gate.Request, v gate.Verdict, out tool.Decision) (tool.Decision, error) {
	if v.By == gate.ByUnreadable {
		out.Answer, out.Refusal = tool.Deny, session.ByUnreadable
		return out, nil
	}
	admin, err := d.o.Admin(ctx, c.Approved)
	if err != nil {
		return tool.Decision{}, fmt.Errorf("look up the role of %s: %w", c.Approved, err)
	}
	name, _ := d.o.Name(ctx, c.Approved)
	if !gate.MayDecide(v.Rule, q.Askers, c.Approved, admin, q.SingleOperator) {
		out.Answer, out.Refusal, out.Rule = tool.Deny, session.ByLapse, fmt.Sprintf("%s approved it and may not decide any more; %s", name, out.Rule)
		return out, nil
	}
	out.Answer, out.Rule = tool.Allow, fmt.Sprintf("%s approved it; %s", name, out.Rule)
	return out, nil
}

// why says what made a verdict, for people and for the log.
func (d *door) why(ctx context.Context, v gate.Verdict) string {
	rule := ""
	if r := v.Rule; r != nil {
		rule = "rule " + r.ID
		if r.Note != "" {
			rule += " (" + r.Note + ")"
		}
	}
	switch v.By {
	case gate.ByRule:
		return rule
	case gate.ByBypass:
		name, _ := d.o.Name(ctx, v.Bypass.By)
		until := "this session"
		if !v.Bypass.Until.IsZero() {
			until = v.Bypass.Until.UTC().Format("15:04 MST")
		}
		return strings.TrimSuffix(fmt.Sprintf("%s let this tool through until %s; %s", name, until, rule), "; ")
	case gate.ByNothing:
		return "no rule speaks of this call"
	case gate.ByContext:
		return "the run context lets this path through"
	case gate.ByUnattended:
		return strings.TrimSuffix("nobody is there to decide; "+rule, "; ")
	default:
		return string(v.By)
	}
}

// who names the deciders for the card.
func (d *door) who(ctx context.Context, r *gate.Rule, q gate.Request) string {
	var names []string
	for _, who := range r.Deciders {
		switch who {
		case gate.Admins:
			names = append(names, "an admin")
		case gate.Asker:
			names = append(names, "the person who asked")
		default:
			name, _ := d.o.Name(ctx, who)
			names = append(names, name)
		}
	}
	out := strings.Join(names, " or ")
	if r.FourEyes && !q.SingleOperator {
		out += ", but not who asked"
	}
	return out
}
