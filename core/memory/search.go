package memory

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"herald/core/store"
)

// maxCached bounds what a process keeps of notes for searching, in bytes of text.
const maxCached = 64 << 20

// Find is the notes that hold all words, in text or name, whatever their case and accents, best first: more hits, then newer. Without words it
// is the newest. At most limit. What it finds and in which order depends on nothing but the notes.
func (n *Notes) Find(ctx context.Context, pl Place, words string, limit int) ([]Note, error) {
	all, err := n.folded(ctx, pl)
	if err != nil {
		return nil, err
	}
	type hit struct {
		*folded
		score int
	}
	want := strings.Fields(fold(words))
	var hits []hit
	for i := range all {
		if s, ok := score(all[i].text, want); ok {
			hits = append(hits, hit{&all[i], s})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int {
		return cmp.Or(cmp.Compare(b.score, a.score), b.note.At.Compare(a.note.At), cmp.Compare(b.note.born, a.note.born), cmp.Compare(a.note.Name, b.note.Name))
	})
	var out []Note
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, h.note)
	}
	return out, nil
}

// folded is a note with what a search compares.
type folded struct {
	note Note
	text string
}

// folded are the notes of a place. They are kept with the last line of the log, which every change moves on.
func (n *Notes) folded(ctx context.Context, pl Place) ([]folded, error) {
	p := store.Partition(pl)
	as, err := n.store.Read(ctx, store.Tail{Partition: p, Log: journal, N: 1})
	if err != nil {
		return nil, fmt.Errorf("find notes: %w", err)
	}
	if all, ok := n.found.get(pl, stampOf(as[0])); ok {
		return all, nil
	}
	// Notes and log of one state, so that what is kept belongs to the line that it is kept with.
	as, err = n.store.Read(ctx, store.Tail{Partition: p, Log: journal, N: 1}, store.List{Partition: p, Collection: collection})
	if err != nil {
		return nil, fmt.Errorf("find notes: %w", err)
	}
	all := make([]folded, 0, len(as[1].Docs))
	for _, d := range as[1].Docs {
		_, note, err := decode(d)
		if err != nil {
			return nil, err
		}
		all = append(all, folded{note, fold(note.Name + "\n" + note.Text)})
	}
	n.found.put(pl, stampOf(as[0]), all)
	return all, nil
}

// stamp is the last line of a log.
type stamp struct {
	seq int64
	id  string
	at  int64
}

func stampOf(a store.Answer) stamp {
	if len(a.Entries) == 0 {
		return stamp{}
	}
	e := a.Entries[len(a.Entries)-1]
	return stamp{e.Seq, e.ID, e.At.UnixNano()}
}

// cache keeps the notes of places that were searched lately.
type cache struct {
	mu    sync.Mutex
	kept  map[Place]*shelf
	bytes int
	clock int
}

type shelf struct {
	at    stamp
	all   []folded
	bytes int
	used  int
}

func (c *cache) get(pl Place, at stamp) ([]folded, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.kept[pl]
	if s == nil || s.at != at || at == (stamp{}) {
		return nil, false
	}
	c.clock++
	s.used = c.clock
	return s.all, true
}

// put keeps all; what was used longest ago makes room.
func (c *cache) put(pl Place, at stamp, all []folded) {
	s := &shelf{at: at, all: all}
	for i := range all {
		s.bytes += len(all[i].text) + len(all[i].note.Text)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.drop(pl)
	if at == (stamp{}) || s.bytes > maxCached {
		return
	}
	for c.bytes+s.bytes > maxCached {
		var oldest Place
		for pl, k := range c.kept {
			if o := c.kept[oldest]; o == nil || k.used < o.used {
				oldest = pl
			}
		}
		c.drop(oldest)
	}
	if c.kept == nil {
		c.kept = make(map[Place]*shelf)
	}
	c.clock++
	s.used = c.clock
	c.kept[pl], c.bytes = s, c.bytes+s.bytes
}

func (c *cache) drop(pl Place) {
	if s := c.kept[pl]; s != nil {
		c.bytes -= s.bytes
		delete(c.kept, pl)
	}
}

// score counts the hits of all words in text; ok is false when one is missing.
func score(text string, words []string) (n int, ok bool) {
	for _, w := range words {
		c := strings.Count(text, w)
		if c == 0 {
			return 0, false
		}
		n += c
	}
	return n, true
}

// fold is s without case and accents.
func fold(s string) string {
	if ascii(s) {
		return strings.ToLower(s)
	}
	var b strings.Builder
	b.Grow(len(s))
	for _, r := range norm.NFKD.String(s) {
		switch {
		case unicode.Is(unicode.Mn, r):
		case r == 'ß':
			b.WriteString("ss")
		default:
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}

func ascii(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}
