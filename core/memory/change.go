package memory

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"herald/core/store"
)

// change is one change of a note as it is put together: what stood, what will.
type change struct {
	root   Root
	writer Writer
	name   string
	why    string
	now    time.Time

	old          Note
	doc          document // the note: as it stood, then as it will
	index        document
	indexText    string // as it will be
	indexVersion int64
	verb         Verb
}

// load understands what stood: the note, then the index.
func (c *change) load(as []store.Answer) error {
	var err error
	c.old = Note{Name: c.name, By: c.writer.Person}
	if d, ok := as[0].Doc(); ok {
		if c.doc, c.old, err = decode(d); err != nil {
			return err
		}
	}
	if d, ok := as[1].Doc(); ok {
		if c.index, _, err = decode(d); err != nil {
			return err
		}
		c.indexVersion = d.Version
	}
	c.indexText = c.index.Text
	return nil
}

// set makes text what the note will say, or says why it cannot.
func (c *change) set(text string) error {
	was := c.doc.Text
	c.verb = Updated
	if c.old.Version == 0 {
		c.verb = Added
		c.doc = document{V: 1, ID: c.name, By: c.writer.Person, At: c.now}
	} else {
		c.doc.Changed = c.now
	}
	if err := c.fits(text); err != nil {
		return err
	}
	if c.root == Shared && c.name != Index {
		if strikes(was, text) {
			c.verb = Superseded
		}
		var err error
		who := author{c.writer.Person, c.writer.Name, c.writer.Admin}
		if text, c.doc.Authors, err = signed(was, c.doc.Authors, text, who, c.now); err != nil {
			return fmt.Errorf("%s: %w", c.name, err)
		}
	}
	c.doc.Text = text
	switch {
	case c.name == Index:
	case text == "":
		c.verb = Superseded
		c.indexText = Unlink(c.indexText, c.name)
		if c.why == "" {
			c.why = "removed"
		}
	default:
		c.indexText = Link(c.indexText, c.name, text)
	}
	if len(c.indexText) > MaxIndex {
		return fmt.Errorf("%s would have %d bytes: %w of %d; shorten it first", Index, len(c.indexText), ErrFull, MaxIndex)
	}
	return nil
}

// fits refuses a text that is too long or no text.
func (c *change) fits(text string) error {
	switch n := utf8.RuneCountInString(text); {
	case !utf8.ValidString(text) || strings.ContainsRune(text, 0):
		return fmt.Errorf("%s: the text is not plain text in UTF-8", c.name)
	case c.name == Index && len(text) > MaxIndex:
		return fmt.Errorf("%s has %d bytes: %w of %d", Index, len(text), ErrFull, MaxIndex)
	case c.name != Index && n > MaxRunes:
		return fmt.Errorf("the note has %d characters: %w of %d; keep what matters of it, or make two of it", n, ErrFull, MaxRunes)
	case c.name == UserFile && len(split(text)) > MaxUserLines:
		return fmt.Errorf("%s has %d lines: %w of %d; keep what matters at each beginning", UserFile, len(split(text)), ErrFull, MaxUserLines)
	}
	return nil
}

// commit is the change as one write: the note, its line of the index, the line of the log.
func (c *change) commit(p store.Partition, try int) store.Commit {
	out := store.Commit{
		ID: fmt.Sprintf("memory.note/%s/%s/%d.%d.%d", c.writer.Call, digest(c.name), c.old.Version, c.indexVersion, try), Partition: p,
		Guards: []store.Guard{store.At{Key: keyOf(c.name), Version: c.old.Version}, store.At{Key: indexKey, Version: c.indexVersion}},
	}
	if c.name != Index && c.old.Version == 0 {
		out.Guards = append(out.Guards, store.Fewer{Collection: collection, N: MaxNotes})
	}
	if c.doc.Text == "" && c.name != Index {
		out.Ops = append(out.Ops, store.Delete{Key: keyOf(c.name)})
	} else {
		out.Ops = append(out.Ops, put(keyOf(c.name), c.doc))
	}
	if c.name != Index && c.indexText != c.index.Text {
		c.index.V, c.index.ID, c.index.Text, c.index.Changed = 1, Index, c.indexText, c.now
		out.Ops = append(out.Ops, put(indexKey, c.index))
	}
	out.Ops = append(out.Ops, logged(c.writer, c.verb, c.name, c.why))
	return out
}

func put(k store.Key, d document) store.Put {
	v, err := json.Marshal(d)
	if err != nil {
		panic(fmt.Sprintf("memory: encode a note: %v", err)) // strings and times only
	}
	return store.Put{Key: k, Value: v}
}

// digest is a short name of a text, the same for the same text.
func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(sum[:])[:16]
}

// short32 names a note after the call that made it.
func short32(call string) string { return digest(call)[:10] }
