package memory

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"herald/core/chat"
	"herald/core/store"
)

// Limits of notes: a collection is listed whole, so it must stay small.
const (
	MaxNotes = 1000
	MaxRunes = 4000
)

const collection = "note"

// Place is whose notes.
type Place store.Partition

// Of is the notes of a person.
func Of(person string) Place { return Place("person/" + person) }

// OfChannel is the notes that the threads of a channel share.
func OfChannel(c chat.Conversation) Place { return Place("channel/" + c.ChannelKey()) }

// Note is one note. ID is chosen by the writer; the same ID is the same note.
type Note struct {
	V    int       `json:"v"`
	ID   string    `json:"id"`
	Text string    `json:"text"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
}

// Footprint notes, before a person's words are first written to a partition, that it holds them.
type Footprint func(ctx context.Context, person string, p store.Partition) error

// Notes reads and writes notes.
type Notes struct {
	store     store.Store
	footprint Footprint
}

// New makes a Notes over s; footprint may be nil where nothing walks it.
func New(s store.Store, footprint Footprint) *Notes { return &Notes{store: s, footprint: footprint} }

// Add keeps n. The same note again changes nothing.
func (n *Notes) Add(ctx context.Context, pl Place, note Note) error {
	if r := []rune(note.Text); len(r) > MaxRunes {
		return fmt.Errorf("the note has %d characters, at most %d; keep what matters of it", len(r), MaxRunes)
	}
	p := store.Partition(pl)
	if n.footprint != nil && note.By != "" {
		if err := n.footprint(ctx, note.By, p); err != nil {
			return fmt.Errorf("keep a note: %w", err)
		}
	}
	now, err := n.store.Now(ctx)
	if err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	note.V, note.At = 1, now
	v, err := json.Marshal(note)
	if err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	key := store.Key{Collection: collection, Name: note.ID}
	_, err = n.store.Commit(ctx, store.Commit{
		ID: "memory.note/" + note.ID, Partition: p,
		Guards: []store.Guard{store.At{Key: key}, store.Fewer{Collection: collection, N: MaxNotes}},
		Ops:    []store.Op{store.Put{Key: key, Value: v}},
	})
	if c, ok := errors.AsType[*store.ConflictError](err); ok {
		return conflict(c)
	}
	if err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	return nil
}

func conflict(c *store.ConflictError) error {
	if c.Guard == 0 {
		return nil // it stands already
	}
	return fmt.Errorf("there are %d notes here already, which is the limit; some must be removed first", MaxNotes)
}

// Find is the notes that hold all words, whatever their case and accents, best first: more and earlier hits, then newer ones.
// Without words it is the newest. At most limit.
func (n *Notes) Find(ctx context.Context, pl Place, words string, limit int) ([]Note, error) {
	as, err := n.store.Read(ctx, store.List{Partition: store.Partition(pl), Collection: collection})
	if err != nil {
		return nil, fmt.Errorf("find notes: %w", err)
	}
	type hit struct {
		note  Note
		score int
		born  int64
	}
	want := strings.Fields(plain(words))
	var hits []hit
	for _, d := range as[0].Docs {
		var note Note
		if err := json.Unmarshal(d.Value, &note); err != nil {
			return nil, fmt.Errorf("note %s: %w", d.Key.Name, err)
		}
		if s, ok := score(plain(note.Text), want); ok {
			hits = append(hits, hit{note, s, d.Born})
		}
	}
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.born, a.born)) })
	var out []Note
	for _, h := range hits[:min(limit, len(hits))] {
		out = append(out, h.note)
	}
	return out, nil
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

// plain is s without case and accents.
func plain(s string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(s) {
		if !unicode.Is(unicode.Mn, r) {
			b.WriteRune(unicode.ToLower(r))
		}
	}
	return b.String()
}
