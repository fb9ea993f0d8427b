package conversation

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/store"
)

// The collections, logs and indexes of a conversation's partition; see the package comment.
const (
	Inbox     = "inbox"
	Controls  = "control"
	Session   = "session"
	Outgoing  = "outbox"
	Sent      = "sent"
	Waits     = "wait"
	Waited    = "waited"
	Handovers = "handover"
	Tasks     = "task"
	Turns     = "turn"
	Again     = "again"
	Copies    = "copy"
	Log       = "log"
	Audit     = "audit"
	Dedupe    = "dedupe"
)

// DedupeAge is how long the key of an event is kept: an older event is not run again and ends as a row.
const DedupeAge = 24 * time.Hour

// Version is the newest version of the documents that this code reads and writes.
const Version = 1

// ErrNewer is returned for a document of a newer version: whoever meets one must leave the conversation to a newer replica.
var ErrNewer = errors.New("a document of the conversation is of a newer version")

// The single documents of the collection Session.
var (
	CurrentKey = store.Key{Collection: Session, Name: "current"}
	HeadKey    = store.Key{Collection: Session, Name: "head"}
	SuspectKey = store.Key{Collection: Session, Name: "suspect"}
	BypassKey  = store.Key{Collection: Session, Name: "bypass"}
	ContextKey = store.Key{Collection: Session, Name: "context"}
)

// Partition is the partition of c.
func Partition(c chat.Conversation) store.Partition {
	return store.Partition("conversation/" + c.Key())
}

// Of is the conversation of partition p; ok is false when p is none of a conversation.
func Of(p store.Partition) (chat.Conversation, bool) {
	key, ok := strings.CutPrefix(string(p), "conversation/")
	if !ok {
		return chat.Conversation{}, false
	}
	return chat.ParseConversation(key)
}

// ID makes a short name out of parts, the same for the same parts: ids that must not change when a step is repeated.
func ID(prefix string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	sum := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil))
	return prefix + strings.ToLower(sum[:16])
}

// Document is a document of a conversation: each carries the version that wrote it.
type Document interface {
	// Written is that version.
	Written() int
}

// Encode is the value of a document.
func Encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("conversation: encode %T: %v", v, err)) // only types of this package, which all encode
	}
	return b
}

// Decode reads the value of document d into v.
func Decode(d store.Doc, v Document) error {
	err := json.Unmarshal(d.Value, v)
	version := v.Written()
	if err != nil {
		var only struct {
			V int `json:"v"`
		}
		if json.Unmarshal(d.Value, &only) == nil {
			version = only.V // a newer version may have other types
		}
	}
	if version > Version {
		return fmt.Errorf("document %s/%s has version %d, this Herald knows %d: %w", d.Key.Collection, d.Key.Name, version, Version, ErrNewer)
	}
	if err != nil {
		return fmt.Errorf("document %s/%s: %w", d.Key.Collection, d.Key.Name, err)
	}
	return nil
}

// ordered is the name of a document that sorts in the platform's order.
func ordered(order, id string) string { return order + "~" + id }

// Written is the version that wrote the document.
func (m *Message) Written() int { return m.V }

// Written is the version that wrote the document.
func (c *Control) Written() int { return c.V }

// Written is the version that wrote the document.
func (h *Head) Written() int { return h.V }

// Written is the version that wrote the document.
func (s *Suspect) Written() int { return s.V }

// Written is the version that wrote the document.
func (b *Bypasses) Written() int { return b.V }

// Written is the version that wrote the document.
func (d *Delivery) Written() int { return d.V }

// Written is the version that wrote the document.
func (w *WaitDoc) Written() int { return w.V }

// Written is the version that wrote the document.
func (o *Owed) Written() int { return o.V }

// Written is the version that wrote the document.
func (t *TurnRecord) Written() int { return t.V }

// Written is the version that wrote the document.
func (c *Current) Written() int { return c.V }
