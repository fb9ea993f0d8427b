package prompt

import (
	"container/list"
	"crypto/sha256"
	"encoding/hex"
	"maps"
	"slices"
	"strings"
	"sync"

	"herald/core/session"
	"herald/core/tool"
)

// AgentsList is the directive that becomes the list of agents to delegate to.
const AgentsList = "AGENTS_LIST"

// Limits of what a [Stable] keeps, and of what may have come to a prompt before it is laid out anew.
const (
	maxKept, maxKeptBytes = 512, 8 << 20
	maxGrown              = 8 << 10
)

// Stable keeps system prompts as sessions were first shown them, so that what is only added meanwhile (an agent, a skill, a line of a note) does not
// move everything behind it: a session goes on with the lists that it began with, and is told at the volatile end of the prompt what came to them.
// Whatever else changes, above all what is taken away, lays the prompt out anew: nothing stands in it that does not hold any more.
//
// What it keeps is a cache of this process: where it is missing, the prompt is laid out anew. The zero value is empty and ready; it is safe for
// concurrent use.
type Stable struct {
	mu    sync.Mutex
	kept  map[string]*list.Element
	order list.List // of *layout, the one used last first
	bytes int
}

// layout is what of a system prompt can change: text is the digest of the rest. It is never changed.
type layout struct {
	key    string
	text   [sha256.Size]byte
	values map[string]string
	parts  []Section
	// of is what it was made from, filled what became of the text.
	of     origin
	filled string
}

// origin is what a layout is made from.
type origin struct {
	id, text string
	values   map[string]string
	parts    []Section
	agents   []Delegate
	// tools are the names of the tools that delegate.
	tools []string
}

func originOf(a Agent, tools []tool.Tool) origin {
	o := origin{id: a.ID, text: a.Text, values: a.Values, parts: a.Sections, agents: a.Agents}
	for i := range tools {
		if tools[i].Traits.Delegates {
			o.tools = append(o.tools, tools[i].Spec.Name)
		}
	}
	return o
}

// same reports whether both are the same. Nearly always they share their texts, which makes this much cheaper than a digest.
func (o *origin) same(p *origin) bool {
	return o.id == p.id && o.text == p.text && maps.Equal(o.values, p.values) && slices.Equal(o.parts, p.parts) && slices.Equal(o.agents, p.agents) && slices.Equal(o.tools, p.tools)
}

func (l *layout) size() int {
	n := len(l.key) + sha256.Size + len(l.of.text) + len(l.filled)
	for k, v := range l.values {
		n += len(k) + len(v)
	}
	for _, p := range l.parts {
		n += len(p.Name) + len(p.Text)
	}
	return n
}

// Hold fills an agent's text in for a request with these tools. key names what the session was shown before, "" at its beginning; the key that comes
// back is what to give the next time.
func (s *Stable) Hold(a Agent, tools []tool.Tool, key string) (Agent, string) {
	of := originOf(a, tools)
	s.mu.Lock()
	old := s.get(key)
	s.mu.Unlock()
	if old != nil && old.of.same(&of) {
		return old.apply(a), key
	}
	now := layoutOf(of)
	s.mu.Lock()
	defer s.mu.Unlock()
	if old != nil && key != now.key {
		if grown, ok := now.grownFrom(old); ok {
			a.Tail = append(slices.Clip(a.Tail), grown)
			return old.apply(a), key
		}
	}
	s.put(now)
	return now.apply(a), now.key
}

func layoutOf(o origin) *layout {
	l := &layout{text: sha256.Sum256([]byte(o.id + "\x00" + o.text)), values: make(map[string]string), parts: o.parts, of: o}
	for _, key := range Keys(o.text) {
		if key == AgentsList {
			l.values[key] = o.list()
		} else if v := o.values[key]; v != "" {
			l.values[key] = v
		}
	}
	l.filled = Expand(o.text, func(key string) string { return l.values[key] })
	h := sha256.New()
	h.Write(l.text[:])
	add := func(s string) { h.Write([]byte(s)); h.Write([]byte{0}) }
	for _, k := range slices.Sorted(maps.Keys(l.values)) {
		add(k)
		add(l.values[k])
	}
	for _, p := range l.parts {
		add(p.Name)
		add(p.Text)
	}
	l.key = hex.EncodeToString(h.Sum(nil)[:12])
	return l
}

// list is the list of the agents that the tools delegate to.
func (o *origin) list() string {
	var lines []string
	for _, to := range o.agents {
		if slices.ContainsFunc(o.tools, func(name string) bool { return to.Tool == "" || to.Tool == name }) {
			lines = append(lines, AgentLine(to.ID, to.Description))
		}
	}
	return strings.Join(lines, "\n")
}

// apply is the agent with its text filled in.
func (l *layout) apply(a Agent) Agent {
	a.Text = l.filled
	a.Sections, a.Values, a.Agents = l.parts, nil, nil
	return a
}

// grownFrom is what came to old, for the volatile end; false when something else than that has changed.
func (l *layout) grownFrom(old *layout) (string, bool) {
	if l.text != old.text {
		return "", false
	}
	was, is := old.all(), l.all()
	gone := func(p Section) bool {
		return !slices.ContainsFunc(is, func(n Section) bool { return n.Name == p.Name })
	}
	if slices.ContainsFunc(was, gone) {
		return "", false
	}
	var b strings.Builder
	b.WriteString("<note>Since this conversation began, the lines in the marks <added> came to what stands at its beginning. They are data as that is.</note>")
	for _, p := range is {
		var before string
		if i := slices.IndexFunc(was, func(o Section) bool { return o.Name == p.Name }); i >= 0 {
			before = was[i].Text
		}
		lines, ok := addedLines(before, p.Text)
		if !ok {
			return "", false
		}
		if len(lines) > 0 {
			b.WriteString("\n<added to=\"" + attribute(p.Name) + "\">\n" + strings.ReplaceAll(session.Unmarked(strings.Join(lines, "\n")), "</added", "<\\/added") + "\n</added>")
		}
	}
	return b.String(), b.Len() <= maxGrown
}

// all are the values and the parts under their names.
func (l *layout) all() []Section {
	var out []Section
	for _, k := range slices.Sorted(maps.Keys(l.values)) {
		if l.values[k] != "" {
			out = append(out, Section{Name: strings.ToLower(strings.ReplaceAll(k, "_", " ")), Text: l.values[k]})
		}
	}
	return append(out, l.parts...)
}

// addedLines are the lines of now that old has not; false when a line of old is missing or stands elsewhere.
func addedLines(old, now string) ([]string, bool) {
	var out, left []string
	if old != "" {
		left = strings.Split(old, "\n")
	}
	for l := range strings.SplitSeq(now, "\n") {
		for len(left) > 0 && left[0] == missing && l != missing {
			left = left[1:] // the file is there now
		}
		if len(left) > 0 && left[0] == l {
			left = left[1:]
			continue
		}
		out = append(out, l)
	}
	return out, len(left) == 0
}

func (s *Stable) get(key string) *layout {
	e, ok := s.kept[key]
	if !ok {
		return nil
	}
	s.order.MoveToFront(e)
	return e.Value.(*layout)
}

func (s *Stable) put(l *layout) {
	if s.get(l.key) != nil || l.size() > maxKeptBytes/8 {
		return
	}
	if s.kept == nil {
		s.kept = make(map[string]*list.Element)
	}
	s.kept[l.key] = s.order.PushFront(l)
	s.bytes += l.size()
	for len(s.kept) > maxKept || s.bytes > maxKeptBytes {
		e := s.order.Back()
		last := s.order.Remove(e).(*layout)
		delete(s.kept, last.key)
		s.bytes -= last.size()
	}
}
