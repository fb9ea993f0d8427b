package people

import (
	"crypto/sha256"
	"encoding/base32"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/store"
)

// Version is the newest version of the documents that this code reads and writes.
const Version = 1

// ErrNewer is returned for a document that a newer version of Herald wrote: what it says must be left to a newer replica.
var ErrNewer = errors.New("a document about a person is of a newer version")

// System is the partition of what the whole installation shares.
const System store.Partition = "system"

// Footprint is the index in a person's partition: partition → store's time of the note, in milliseconds.
const Footprint = "footprint"

// The documents of the partitions; see the package comment.
var (
	IdentityKey = store.Key{Collection: "identity", Name: "self"}
	PersonKey   = store.Key{Collection: "person", Name: "self"}
	AdminsKey   = store.Key{Collection: "people", Name: "admins"}
)

// Identity is a person's account on one platform. It is written once and names its person from then on.
type Identity struct {
	V        int             `json:"v"`
	Identity chat.IdentityID `json:"identity"`
	Person   string          `json:"person"`
	// Name is the name that the platform showed when the account was first seen.
	Name      string    `json:"name,omitempty"`
	Bot       bool      `json:"bot,omitempty"`
	FirstSeen time.Time `json:"first_seen"`
}

// Record is the document of a person.
type Record struct {
	V  int    `json:"v"`
	ID string `json:"id"`
	// Name is the name that the platform showed last, at most an hour old when the person speaks.
	Name       string            `json:"name,omitempty"`
	Identities []chat.IdentityID `json:"identities"`
	// Bot marks the record of an account that is no human.
	Bot       bool      `json:"bot,omitempty"`
	FirstSeen time.Time `json:"first_seen"`
}

// Admins is the one document that says who is an admin, and who has another role than member.
type Admins struct {
	V          int               `json:"v"`
	Identities []chat.IdentityID `json:"identities"`
	// Roles are the identities with a role beside admin and member.
	Roles map[chat.IdentityID]Role `json:"roles,omitempty"`
}

// IdentityPartition is the partition of identity id.
func IdentityPartition(id chat.IdentityID) store.Partition {
	return store.Partition("identity/" + url.PathEscape(string(id)))
}

// PersonPartition is the partition of the person.
func PersonPartition(person string) store.Partition {
	return store.Partition("person/" + url.PathEscape(person))
}

// PersonOf is the person that a new identity names: the same for the same identity, so that two replicas that meet it at once agree.
func PersonOf(id chat.IdentityID) string { return digest("p", string(id)) }

// digest makes a short name out of parts, the same for the same parts.
func digest(prefix string, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	sum := base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(h.Sum(nil))
	return prefix + strings.ToLower(sum[:16])
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("people: encode %T: %v", v, err)) // only types of this package, which all encode
	}
	return b
}

func decode(p store.Partition, d store.Doc, v any) error {
	var ver struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(d.Value, &ver); err != nil {
		return fmt.Errorf("read %s/%s of %s: %w", d.Key.Collection, d.Key.Name, p, err)
	}
	if ver.V > Version {
		return fmt.Errorf("read %s/%s of %s: version %d, this Herald knows %d; finish the upgrade of all replicas: %w",
			d.Key.Collection, d.Key.Name, p, ver.V, Version, ErrNewer)
	}
	if err := json.Unmarshal(d.Value, v); err != nil {
		return fmt.Errorf("read %s/%s of %s: %w", d.Key.Collection, d.Key.Name, p, err)
	}
	return nil
}
