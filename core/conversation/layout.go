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
	Turns     = "turn"
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

// versioned is what all documents begin with.
type versioned struct {
	V int `json:"v"`
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
func Decode(d store.Doc, v any) error {
	var ver versioned
	if err := json.Unmarshal(d.Value, &ver); err != nil {
		return fmt.Errorf("document %s/%s: %w", d.Key.Collection, d.Key.Name, err)
	}
	if ver.V > Version {
		return fmt.Errorf("document %s/%s has version %d, this Herald knows %d: %w", d.Key.Collection, d.Key.Name, ver.V, Version, ErrNewer)
	}
	if err := json.Unmarshal(d.Value, v); err != nil {
		return fmt.Errorf("document %s/%s: %w", d.Key.Collection, d.Key.Name, err)
	}
	return nil
}

// ordered is the name of a document that sorts in the platform's order.
func ordered(order, id string) string { return order + "~" + id }
