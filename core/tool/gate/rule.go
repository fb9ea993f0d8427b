package gate

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"herald/core/tool"
)

// Groups and priorities that every installation knows.
const (
	// DefaultGroup is the group of calls without another, and the fallback of all groups.
	DefaultGroup = "default"
	// DefaultPriority is a rule's place in the order unless it says otherwise; lower ones are read first.
	DefaultPriority = 100
	// LastPriority is that of a group's default action.
	LastPriority = 999_999
)

// FileMark begins the ids of rules of the configuration file.
const FileMark = "file-"

// FileID is the id of the n-th rule of the configuration file, counted from 1, so that they are read in the file's order.
func FileID(n int) string { return fmt.Sprintf("%s%05d", FileMark, n) }

// The words that stand among a rule's deciders beside persons and identities.
const (
	// Asker is the person whose message the turn answers.
	Asker = "asker"
	// Admins are all who are admins when they decide.
	Admins = "admin"
)

// MaxExpires bounds how long a card may wait for its decision.
const MaxExpires = 30 * 24 * time.Hour

// Rule is one line of a permission group.
type Rule struct {
	// ID names the rule in logs and orders rules of one priority: bytewise, so "f…" of the file come before "r…" of the run time and "s…"
	// of the seed.
	ID string `json:"id"`
	// Group is the permission group; "" means [DefaultGroup].
	Group string `json:"group,omitempty"`
	// Agent and Source narrow the rule to an agent and to a platform or kind of work; "" fits all.
	Agent  string `json:"agent,omitempty"`
	Source string `json:"source,omitempty"`
	// Tool is a pattern for the tool's name, Path one for the path among its arguments; a rule with a path never fits a call without one.
	Tool string `json:"tool"`
	Path string `json:"path,omitempty"`
	// Action is what the rule says of the calls that it fits.
	Action tool.Answer `json:"action"`
	Note   string      `json:"note,omitempty"`
	// Priority orders the rules, lowest first. It is stored as it stands: whoever makes a rule sets [DefaultPriority].
	Priority int `json:"priority"`
	// Deciders may decide a require: persons, identities, [Asker], [Admins]. Empty means the asker.
	Deciders []string `json:"deciders,omitempty"`
	// FourEyes: whoever asked may not decide.
	FourEyes bool `json:"four_eyes,omitempty"`
	// ExpiresS is how long a card waits, in seconds; 0 means a day.
	ExpiresS int `json:"expires_s,omitempty"`
}

// ErrInvalid marks a rule that cannot be one.
var ErrInvalid = errors.New("the rule is not valid")

// GroupName is the rule's group.
func (r *Rule) GroupName() string {
	if r.Group == "" {
		return DefaultGroup
	}
	return r.Group
}

// CatchAll reports whether the rule fits every call: it is its group's default action.
func (r *Rule) CatchAll() bool {
	return r.Tool == everything && r.Agent == "" && r.Source == "" && r.Path == ""
}

// Check says what is wrong with the rule: an error that is [ErrInvalid], with the remedy.
func (r *Rule) Check() error {
	invalid := func(format string, a ...any) error {
		return fmt.Errorf("rule %s: %w: %s", r.ID, ErrInvalid, fmt.Sprintf(format, a...))
	}
	if r.ID == "" {
		return invalid("it has no id")
	}
	if r.Group != "" && !ValidGroup(r.Group) {
		return invalid("%q is no group; write up to 64 letters, digits, '-' and '_'", r.Group)
	}
	for _, err := range []error{checkTool(r.Tool), checkPath(r.Path)} {
		if err != nil {
			return invalid("%v", err)
		}
	}
	switch r.Action {
	case tool.Allow, tool.Deny:
		if len(r.Deciders) > 0 || r.FourEyes || r.ExpiresS != 0 {
			return invalid("deciders, four_eyes and expiry say how a require is decided, and its action is %s", r.Action)
		}
	case tool.Require:
	default:
		return invalid("the action %q is none of allow, require, deny", r.Action)
	}
	switch {
	case r.FourEyes && !slices.ContainsFunc(r.Deciders, func(d string) bool { return d != Asker }):
		return invalid("with four_eyes somebody besides the one who asked must be named in deciders")
	case slices.Contains(r.Deciders, ""):
		return invalid("one of its deciders has no name")
	case r.ExpiresS < 0 || time.Duration(r.ExpiresS)*time.Second > MaxExpires:
		return invalid("a card waits for up to 30 days")
	}
	return nil
}

// ValidGroup reports whether n can name a group.
func ValidGroup(n string) bool {
	return n != "" && len(n) <= 64 && !strings.ContainsFunc(n, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	})
}

// Decode reads a rule from JSON. A key that is not known is an error: what it says could be what limits the rule.
func Decode(data []byte) (Rule, error) {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	r := Rule{Priority: DefaultPriority}
	if err := d.Decode(&r); err != nil {
		return Rule{}, fmt.Errorf("read a rule: %w: %v", ErrInvalid, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return Rule{}, fmt.Errorf("read a rule: %w: something stands behind it", ErrInvalid)
	}
	return r, r.Check()
}

// Contradicts finds the default action of r's group among rules that says something else than r, which is one too. Of two such rules one
// would never be met, and nobody could tell from the list which.
func Contradicts(r *Rule, rules []Rule) (Rule, bool) {
	if !r.CatchAll() || Seeded(r) {
		return Rule{}, false
	}
	i := slices.IndexFunc(rules, func(o Rule) bool {
		return o.ID != r.ID && !Seeded(&o) && o.CatchAll() && o.GroupName() == r.GroupName() && o.Action != r.Action
	})
	if i < 0 {
		return Rule{}, false
	}
	return rules[i], true
}

// CheckAll says what is wrong with rules that are to stand together.
func CheckAll(rules []Rule) error {
	ids := make(map[string]bool, len(rules))
	for i := range rules {
		r := &rules[i]
		if err := r.Check(); err != nil {
			return err
		}
		if ids[r.ID] {
			return fmt.Errorf("rule %s: %w: another rule has this id", r.ID, ErrInvalid)
		}
		ids[r.ID] = true
		if o, ok := Contradicts(r, rules); ok {
			return fmt.Errorf("rule %s: %w: group %s has the default action %s by rule %s already; remove one of them", r.ID, ErrInvalid, r.GroupName(), o.Action, o.ID)
		}
	}
	return nil
}
