package memory

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"

	"herald/core/store"
)

// Limits of notes: a collection is listed whole, so it must stay small.
const (
	// MaxNotes is how many notes a place holds.
	MaxNotes = 5000
	// MaxRunes is how long one is.
	MaxRunes = 8000
	// MaxIndex is how many bytes the index has.
	MaxIndex = 1 << 20
	// MaxUserLines is how many lines user.md has: it is shown to agents at each beginning.
	MaxUserLines = 40
	// maxName is how many bytes a name has.
	maxName = 200
	// logShown is how many lines of the log are read back, the newest.
	logShown = 500
	// tries bounds how often a change that lost a race is decided anew.
	tries = 10
)

const (
	collection = "note"
	journal    = "notes"
)

// indexKey is the document of the index.
var indexKey = store.Key{Collection: "memory", Name: Index}

// Errors of reads and changes, beside [ErrClosed], [ErrKept] and the store's.
var (
	// ErrNoNote: there is no such note.
	ErrNoNote = errors.New("there is no such note")
	// ErrChanged: the note is not the version that the change was made for.
	ErrChanged = errors.New("the note has changed meanwhile")
	// ErrName: a name that no note can have.
	ErrName = errors.New("no name for a note")
	// ErrAppendOnly: the log is only appended to.
	ErrAppendOnly = errors.New("the log is only ever appended to")
	// ErrFull: a limit is reached.
	ErrFull = errors.New("the notes are at their limit")
)

// document is a note as it is stored. ID is its name.
type document struct {
	V    int       `json:"v"`
	ID   string    `json:"id"`
	Text string    `json:"text"`
	By   string    `json:"by"`
	At   time.Time `json:"at"`
	// Changed is when the text was changed last, Authors who wrote each line, where that is kept.
	Changed time.Time `json:"changed,omitzero"`
	Authors []string  `json:"authors,omitempty"`
}

// Note is one note as it is read.
type Note struct {
	Name, Text string
	// By is the person who made it, At the store's time of the last change.
	By string
	At time.Time
	// Version names this text of the note; 0 means that there is no note. Whoever overwrites says which one was read.
	Version int64
	// born orders notes by when they were made.
	born int64
}

// Writer is who changes notes, and by which call: the same call changes once.
type Writer struct {
	Person, Call string
	// Name is the person's shown name, Admin says that the person may confirm and strike what others wrote.
	Name  string
	Admin bool
}

// Footprint notes, before a person's words are first written to a partition, that it holds them.
type Footprint func(ctx context.Context, person string, p store.Partition) error

// Notes reads and writes notes. It is safe for concurrent use, also over replicas.
type Notes struct {
	store     store.Store
	footprint Footprint
	found     cache
}

// New makes a Notes over s; footprint may be nil where nothing walks it.
func New(s store.Store, footprint Footprint) *Notes { return &Notes{store: s, footprint: footprint} }

// CheckName refuses what cannot name a note: it is a plain path of Markdown, without blanks, so that a line of the index can name it.
func CheckName(name string) error {
	wrong := func(why string) error { return fmt.Errorf("%q: %w: %s", name, ErrName, why) }
	switch {
	case !strings.HasSuffix(name, ".md") || strings.HasSuffix(name, "/.md") || name == ".md":
		return wrong("it must end in .md")
	case len(name) > maxName:
		return wrong(fmt.Sprintf("it has more than %d bytes", maxName))
	case !utf8.ValidString(name) || strings.ContainsAny(name, " \t\r\n\x00`[]()<>*|,;:\\"):
		return wrong("write it without blanks and marks, as in people/ada.md")
	}
	for _, part := range strings.Split(name, "/") {
		if part == "" || strings.HasPrefix(part, ".") {
			return wrong("no part of it may be empty or begin with a dot")
		}
	}
	return nil
}

// Read is a note, the index or the log. A missing note is [ErrNoNote]; a missing index or log is an empty one.
func (n *Notes) Read(ctx context.Context, pl Place, name string) (Note, error) {
	name = norm.NFC.String(name)
	p := store.Partition(pl)
	if name == Log {
		as, err := n.store.Read(ctx, store.Tail{Partition: p, Log: journal, N: logShown})
		if err != nil {
			return Note{}, fmt.Errorf("read the log of notes: %w", err)
		}
		return Note{Name: Log, Text: render(as[0].Entries)}, nil
	}
	as, err := n.store.Read(ctx, store.Get{Partition: p, Key: keyOf(name)})
	if err != nil {
		return Note{}, fmt.Errorf("read the note %s: %w", name, err)
	}
	doc, ok := as[0].Doc()
	if !ok {
		if name == Index {
			return Note{Name: Index}, nil
		}
		return Note{}, fmt.Errorf("%s: %w", name, ErrNoNote)
	}
	_, note, err := decode(doc)
	return note, err
}

// Ref names a note, the index or the log of a place.
type Ref struct {
	Place Place
	Name  string
}

// ReadAll is several notes in one round trip, in their order. One that is missing has no version.
func (n *Notes) ReadAll(ctx context.Context, refs ...Ref) ([]Note, error) {
	if len(refs) == 0 {
		return nil, nil
	}
	queries := make([]store.Query, len(refs))
	for i, r := range refs {
		queries[i] = store.Get{Partition: store.Partition(r.Place), Key: keyOf(norm.NFC.String(r.Name))}
		if r.Name == Log {
			queries[i] = store.Tail{Partition: store.Partition(r.Place), Log: journal, N: logShown}
		}
	}
	as, err := n.store.Read(ctx, queries...)
	if err != nil {
		return nil, fmt.Errorf("read %d notes: %w", len(refs), err)
	}
	out := make([]Note, len(refs))
	for i, r := range refs {
		out[i] = Note{Name: r.Name}
		if r.Name == Log {
			out[i].Text = render(as[i].Entries)
		} else if doc, ok := as[i].Doc(); ok {
			if _, out[i], err = decode(doc); err != nil {
				return nil, fmt.Errorf("read the note %s: %w", r.Name, err)
			}
		}
	}
	return out, nil
}

// Untouched asks whether notes were ever kept in a place; [IsUntouched] reads the answer.
func Untouched(pl Place) store.Query {
	return store.Tail{Partition: store.Partition(pl), Log: journal, N: 1}
}

// IsUntouched reports whether no note was ever kept: each change of one stands in the log.
func IsUntouched(a store.Answer) bool { return len(a.Entries) == 0 }

// List is all notes with their texts, sorted by name, without index and log.
func (n *Notes) List(ctx context.Context, pl Place) ([]Note, error) {
	as, err := n.store.Read(ctx, store.List{Partition: store.Partition(pl), Collection: collection})
	if err != nil {
		return nil, fmt.Errorf("list the notes: %w", err)
	}
	out := make([]Note, 0, len(as[0].Docs))
	for _, d := range as[0].Docs {
		_, note, err := decode(d)
		if err != nil {
			return nil, err
		}
		out = append(out, note)
	}
	return out, nil
}

func keyOf(name string) store.Key {
	if name == Index {
		return indexKey
	}
	return store.Key{Collection: collection, Name: name}
}

func decode(d store.Doc) (document, Note, error) {
	var doc document
	if err := json.Unmarshal(d.Value, &doc); err != nil {
		return doc, Note{}, fmt.Errorf("read the note %s: %w", d.Key.Name, err)
	}
	at := doc.Changed
	if at.IsZero() {
		at = doc.At
	}
	return doc, Note{Name: d.Key.Name, Text: doc.Text, By: doc.By, At: at, Version: d.Version, born: d.Born}, nil
}

// Edit is a change of a note. It is called again with what stands then when somebody else was faster, and must not keep what it was called
// with. old.Version is 0 where there is no note. An empty text removes the note.
type Edit func(old Note) (text string, err error)

// Change changes a note, its line of the index and the log in one commit. why is for the log. In shared notes each new line gets its author
// and the date, and what stands is struck through instead of erased; see [ErrKept]. Errors of edit come back as they are.
func (n *Notes) Change(ctx context.Context, root Root, pl Place, w Writer, name, why string, edit Edit) (Note, error) {
	name = norm.NFC.String(name)
	switch {
	case name == Log:
		return Note{}, fmt.Errorf("%s: %w; append a line to it", Log, ErrAppendOnly)
	case CheckName(name) != nil:
		return Note{}, CheckName(name)
	}
	p := store.Partition(pl)
	if err := n.tread(ctx, w, p); err != nil {
		return Note{}, err
	}
	for try := range tries {
		as, err := n.store.Read(ctx, store.Get{Partition: p, Key: keyOf(name)}, store.Get{Partition: p, Key: indexKey})
		if err != nil {
			return Note{}, fmt.Errorf("change the note %s: %w", name, err)
		}
		c := change{root: root, writer: w, name: name, why: why, now: as[0].Now}
		if err := c.load(as); err != nil {
			return Note{}, err
		}
		text, err := edit(c.old)
		if err != nil {
			return Note{}, err
		}
		if text == c.old.Text && c.old.Version != 0 || text == "" && c.old.Version == 0 {
			return c.old, nil
		}
		if err := c.set(text); err != nil {
			return Note{}, err
		}
		res, err := n.store.Commit(ctx, c.commit(p, try))
		if err == nil {
			c.old.Text, c.old.At, c.old.Version = c.doc.Text, c.now, 0
			if len(res.Versions) > 0 && c.doc.Text != "" {
				c.old.Version = res.Versions[0]
			}
			return c.old, nil
		}
		if conflict, ok := errors.AsType[*store.ConflictError](err); ok && conflict.Guard == 2 {
			return Note{}, fmt.Errorf("there are %d notes here: %w; some must be removed first", MaxNotes, ErrFull)
		}
		if !errors.Is(err, store.ErrConflict) {
			return Note{}, fmt.Errorf("change the note %s: %w", name, err)
		}
	}
	return Note{}, fmt.Errorf("change the note %s: %d others in a row were faster; try again: %w", name, tries, ErrChanged)
}

// Remember keeps text as a new note that the call names; the same call again changes nothing.
func (n *Notes) Remember(ctx context.Context, root Root, pl Place, w Writer, text string) (Note, error) {
	return n.Change(ctx, root, pl, w, "notes/"+strings.ToLower(short32(w.Call))+".md", summary(text), func(old Note) (string, error) {
		if old.Version != 0 {
			return old.Text, nil
		}
		return strings.TrimSpace(text) + "\n", nil
	})
}

// Append adds a line to the log, as [ParseChange] reads it. Its date and its author are those of now and of w, whatever it says. Each change of a
// note has its line already: a further one of the verb ADD or UPDATE is not written, and written is false.
func (n *Notes) Append(ctx context.Context, pl Place, w Writer, line string) (written bool, err error) {
	c, err := ParseChange(line)
	if err != nil {
		return false, err
	}
	if c.Verb == Added || c.Verb == Updated {
		return false, nil
	}
	p := store.Partition(pl)
	if err := n.tread(ctx, w, p); err != nil {
		return false, err
	}
	_, err = n.store.Commit(ctx, store.Commit{
		ID: "memory.log/" + w.Call, Partition: p,
		Ops: []store.Op{logged(w, c.Verb, c.Path, c.Why)},
	})
	if err != nil {
		return false, fmt.Errorf("append to the log of notes: %w", err)
	}
	return true, nil
}

// tread notes that the partition holds words of the writer.
func (n *Notes) tread(ctx context.Context, w Writer, p store.Partition) error {
	if n.footprint == nil || w.Person == "" {
		return nil
	}
	if err := n.footprint(ctx, w.Person, p); err != nil {
		return fmt.Errorf("keep a note: %w", err)
	}
	return nil
}

func logged(w Writer, v Verb, path, why string) store.Append {
	data, err := json.Marshal(entry{V: 1, Verb: v, By: w.Person, Who: w.Name, Path: path, Why: why})
	if err != nil {
		panic(fmt.Sprintf("memory: encode a line of the log: %v", err)) // strings only
	}
	return store.Append{Log: journal, ID: w.Call, Kind: string(v), Data: data}
}
