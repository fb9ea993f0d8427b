package memory

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/core/store"
)

// Verb is what a line of the log says was done.
type Verb string

// The verbs.
const (
	Added      Verb = "ADD"
	Updated    Verb = "UPDATE"
	Superseded Verb = "SUPERSEDE"
	Claimed    Verb = "CLAIM"
	Conflict   Verb = "CONFLICT"
	Linted     Verb = "LINT"
)

// Verbs are all of them.
func Verbs() []Verb { return []Verb{Added, Updated, Superseded, Claimed, Conflict, Linted} }

// Change is one line of the log: date | VERB | who | path | why.
type Change struct {
	At   time.Time
	Verb Verb
	// Who is a person's shown name, Path the note's, Why a few words.
	Who, Path, Why string
}

// String is the line.
func (c Change) String() string {
	return strings.Join([]string{c.At.UTC().Format(time.DateOnly), string(c.Verb), cell(c.Who), cell(c.Path), cell(c.Why)}, " | ")
}

// cell keeps a value from looking like two, or like the next line.
func cell(s string) string {
	s = strings.Join(strings.Fields(strings.ReplaceAll(s, "|", "/")), " ")
	if s == "" {
		return "-"
	}
	return s
}

// ParseChange reads a line of the log. The error says what a line looks like.
func ParseChange(line string) (Change, error) {
	parts := strings.Split(strings.TrimSpace(line), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	wrong := func(what string) (Change, error) {
		return Change{}, fmt.Errorf("%s; a line of %s is: date | VERB | who | path | why, with a verb of %s", what, Log, verbList())
	}
	if len(parts) != 5 {
		return wrong(fmt.Sprintf("the line has %d parts", len(parts)))
	}
	at, err := time.Parse(time.DateOnly, parts[0])
	if err != nil {
		return wrong(fmt.Sprintf("%q is no date like 2026-03-31", parts[0]))
	}
	if !slices.Contains(Verbs(), Verb(parts[1])) {
		return wrong(fmt.Sprintf("%q is no verb", parts[1]))
	}
	for i, name := range []string{2: "who", 3: "path"} {
		if name != "" && parts[i] == "" {
			return wrong("it does not say " + name)
		}
	}
	return Change{At: at, Verb: Verb(parts[1]), Who: parts[2], Path: parts[3], Why: parts[4]}, nil
}

func verbList() string {
	var out []string
	for _, v := range Verbs() {
		out = append(out, string(v))
	}
	return strings.Join(out, ", ")
}

// entry is a line as the log keeps it; its time is the log's own.
type entry struct {
	V    int    `json:"v"`
	Verb Verb   `json:"verb"`
	By   string `json:"by"` // the person's id
	Who  string `json:"who"`
	Path string `json:"path"`
	Why  string `json:"why,omitempty"`
}

// render is the log as a file; a blanked line keeps its place.
func render(entries []store.Entry) string {
	var b strings.Builder
	for _, en := range entries {
		var e entry
		if en.Data == nil || json.Unmarshal(en.Data, &e) != nil {
			fmt.Fprintf(&b, "%s | %s | - | - | (removed)\n", en.At.UTC().Format(time.DateOnly), en.Kind)
			continue
		}
		b.WriteString(Change{At: en.At, Verb: e.Verb, Who: e.Who, Path: e.Path, Why: e.Why}.String() + "\n")
	}
	return b.String()
}
