package memory

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"herald/core/store"
)

// Snapshot is a copy of all that a store held at one instant. It can be restored any number of times.
type Snapshot struct{ c content }

// Snapshot copies the store.
func (s *Store) Snapshot() *Snapshot {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	return &Snapshot{s.d.copy()}
}

// Restore takes the store back to a snapshot, claims and tokens with it. The clock goes on. A lost store is found again.
func (s *Store) Restore(snap *Snapshot) {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.content = snap.c.copy()
	s.d.lost = false
}

// Lose empties the store, its mark included: every later call gets [store.ErrChanged].
func (s *Store) Lose() {
	s.d.mu.Lock()
	defer s.d.mu.Unlock()
	s.d.content = content{}
	s.d.lost = true
}

func (c *content) copy() content {
	out := content{tokens: c.tokens}
	for i, b := range c.buckets {
		for _, p := range b {
			q := p.copy()
			put(&out.parts, q.name, q)
			out.buckets[i] = append(out.buckets[i], q)
		}
	}
	for name, a := range c.agendas {
		b := &agenda{name: name, items: make(map[store.Member]*item, len(a.items)), queue: make(queue, len(a.queue))}
		for i, it := range a.queue {
			b.queue[i] = new(*it)
			b.items[it.member] = b.queue[i]
		}
		put(&out.agendas, name, b)
	}
	return out
}

// copy shares the values' bytes, which are never changed in place.
func (p *part) copy() *part {
	q := *p
	q.letters, q.repeats = maps.Clone(p.letters), maps.Clone(p.repeats)
	q.order = slices.Clone(p.order)
	q.docs, q.logs, q.indexes = nil, nil, nil
	for name, c := range p.docs {
		put(&q.docs, name, maps.Clone(c))
	}
	for name, l := range p.logs {
		put(&q.logs, name, &journal{first: l.first, entries: slices.Clone(l.entries)})
	}
	for name, ix := range p.indexes {
		put(&q.indexes, name, maps.Clone(ix))
	}
	return &q
}

// Dump writes everything that the store holds, one fact a line with values as they are, in a stable order. Tests search it for what must not be kept.
func (s *Store) Dump(w io.Writer) error {
	s.d.mu.Lock()
	lines := s.d.lines()
	s.d.mu.Unlock()
	slices.Sort(lines)
	_, err := io.WriteString(w, strings.Join(lines, ""))
	return err
}

func (d *data) lines() []string {
	var out []string
	add := func(format string, args ...any) { out = append(out, fmt.Sprintf(format+"\n", args...)) }
	for name, p := range d.parts {
		add("%s revision %d at %d", name, p.revision, p.at)
		for collection, c := range p.docs {
			for k, v := range c {
				add("%s doc %s/%s version %d born %d: %s", name, collection, k, v.version, v.born, v.value)
			}
		}
		for log, l := range p.logs {
			for i, e := range l.entries {
				add("%s log %s %d %s %s at %d: %s", name, log, l.first+int64(i), e.id, e.kind, e.at, e.data)
			}
		}
		for index, ix := range p.indexes {
			for m, score := range ix {
				add("%s index %s %s: %v", name, index, m, score)
			}
		}
		for id, l := range p.letters {
			add("%s letter %s at %d: %s", name, id, l.at, l.note)
		}
		for id, res := range p.repeats {
			b, _ := json.Marshal(res)
			add("%s repeat %s: %s", name, id, b)
		}
	}
	for name, a := range d.agendas {
		for m, it := range a.items {
			add("agenda %s %s due %d held %t token %d holder %s attempts %d until %d", name, m, it.due, it.held, it.token, it.holder, it.attempts, it.until)
		}
	}
	return out
}
