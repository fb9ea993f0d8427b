package store

import (
	"context"
	"hash/fnv"
	"strings"
	"time"
)

// Buckets is the number of buckets that a store is made with. It is written into the store and never changes for it: a
// partition's bucket is part of where its data stands.
const Buckets = 128

// MaxValue is the largest document, log entry or dead letter note in bytes: the longest answer that is let through (a megabyte), once whole
// and once in its pieces, with room for escapes. Redis would take 512 MB and SQLite 1 GB, but one value that large stalls everybody.
const MaxValue = 4 << 20

// MaxOps is the largest number of operations of one commit.
const MaxOps = 1024

// Partition names what is written together, as "kind/key": "conversation/slack:T1:C1:1700.1", "person/p_1", "system". It must not be empty,
// must not contain '#', a space or a control character, and has at most 512 bytes.
type Partition string

// Bucket is the bucket in which p stands.
func (p Partition) Bucket() int {
	h := fnv.New64a()
	_, _ = h.Write([]byte(p))
	v := h.Sum64()
	v ^= v >> 32 // FNV's low bits alone are weak for names that differ only in their last digits.
	return int(v % Buckets)
}

// Agenda names a durable set of work. The agendas exist by being used.
type Agenda string

// The agendas of the service.
const (
	Turns    Agenda = "turns"
	Outbox   Agenda = "outbox"
	Handover Agenda = "handover"
	Runs     Agenda = "runs"
	Shards   Agenda = "shards"
)

// Member is one piece of work on an agenda: a partition, or "partition#name" where one partition has several. It stands in
// the bucket of its partition.
type Member string

// MemberOf names the member of partition p on an agenda; name may be empty.
func MemberOf(p Partition, name string) Member {
	if name == "" {
		return Member(p)
	}
	return Member(string(p) + "#" + name)
}

// Partition is the partition to which m belongs.
func (m Member) Partition() Partition {
	p, _, _ := strings.Cut(string(m), "#")
	return Partition(p)
}

// Name is what stands behind '#', or "".
func (m Member) Name() string {
	_, n, _ := strings.Cut(string(m), "#")
	return n
}

// Claim is a lease on a member of an agenda.
type Claim struct {
	Agenda Agenda
	Member Member
	// Token grows with each claim in a bucket. After a store went back in time an equal token can be given again; the
	// holder tells the two apart.
	Token int64
	// Holder is a random id made at each start of a process.
	Holder string
	// Attempt is 1 for a claim whose predecessor was released, and one more for each claim before it that ended without a release.
	Attempt int
	// Since is the store's time at which the claim was given, Until the one at which its lease ends.
	Since, Until time.Time
}

// ClaimRequest asks for members that are due: whose time has come and that nobody holds, or whose lease has ended.
type ClaimRequest struct {
	Agenda Agenda
	// Holder is the process that asks; see [Claim].
	Holder string
	// Lease is how long the claim is safe from being taken over. At least 1 ms.
	Lease time.Duration
	// Limit bounds the members given in all; at least 1.
	Limit int
	// Members names the members that the caller wants, as a hint named them. When empty, the buckets are looked through.
	Members []Member
	// Buckets are the buckets to look through when Members is empty; nil means all of them. Within a bucket the member
	// that has been due longest comes first.
	Buckets []int
}

// Hint says that a member may be due, or that its holder should look again: a Wake whose time had come was committed, a claim was
// released whose member is due again at once, or somebody called Publish. Agenda is empty for a published hint.
type Hint struct {
	Agenda Agenda
	Member Member
	// Topic and Payload are those of Publish.
	Topic, Payload string
}

// Pace asks for a place in the pace of Key: at most one use each Every, with Burst uses at once after a rest (at least 1).
type Pace struct {
	Key   string
	Every time.Duration
	Burst int
}

// Stamp is a partition with the store's time of its last commit.
type Stamp struct {
	Partition Partition
	At        time.Time
}

// Letter is a dead letter: a row about something that was not done, with its reason. Note is JSON and holds no text of a person.
type Letter struct {
	Partition Partition
	ID        string
	At        time.Time
	Note      []byte
}

// Health is what a store says of itself.
type Health struct {
	// Driver is "memory", "sqlite" or "redis".
	Driver string
	// ID is the store's own id, made when it was made.
	ID string
	// Format is the version of the layout in which the store is written.
	Format int
	// Durable is false when an acknowledged commit can be lost in an ordinary crash (no append-only file, memory).
	Durable bool
	// Keeps says what an acknowledged commit survives and what it does not, as half a sentence for the operator.
	Keeps string
	// Warnings are sentences for the operator, each with its remedy.
	Warnings []string
}

// Stats counts what a driver did since it was opened, for metrics and for tests that hold a turn to its budget.
type Stats struct {
	// RoundTrips counts requests that waited for an answer (one pipeline to one node is one; a SQLite transaction or query batch is one). Renewals
	// and idle polls are counted apart, in Idle.
	RoundTrips, Idle int64
	// Commits counts applied commits, Writes all durable writes (commits, claims, paces are none). Fsyncs is an estimate where the driver cannot know.
	Commits, Writes, Fsyncs int64
}

// Store is the port. All methods are safe for concurrent use, and stop waiting when ctx ends.
type Store interface {
	// Commit applies c. Errors: [ErrFenced], [*ConflictError], [ErrTooLarge], [ErrInvalid], and the kinds of trouble that
	// every method can meet: [ErrUnavailable], [ErrChanged], [ErrFull], [ErrReadOnly], [ErrClosed].
	Commit(ctx context.Context, c Commit) (Result, error)
	// Read answers each query in order. The answers for one partition come from one state, which includes every commit to it
	// that had returned. Queries over several partitions cost one pipeline.
	Read(ctx context.Context, queries ...Query) ([]Answer, error)
	// Claim gives up to req.Limit due members. No member that is due is passed over for ever.
	Claim(ctx context.Context, req ClaimRequest) ([]Claim, error)
	// Extend makes the leases of claims end after lease from now (the store's). lost holds, for each claim in order, whether it
	// was refused because it had been taken over or released.
	Extend(ctx context.Context, lease time.Duration, claims ...Claim) (lost []bool, err error)
	// Due is the earliest time at which a member of agenda can be claimed, the ends of leases included; ok is false when there is none.
	// now is the store's time, so that the caller can wait for the difference.
	Due(ctx context.Context, agenda Agenda) (at, now time.Time, ok bool, err error)
	// Reserve takes the next free place in each pace and returns how long to wait for the latest of them. Places are handed out in
	// the order of the calls and cannot be given back. When the wait would be longer than max, ok is false and no place is taken (a
	// place in one of several paces may be); a negative max takes any.
	Reserve(ctx context.Context, max time.Duration, paces ...Pace) (wait time.Duration, ok bool, err error)
	// Hold keeps the pace of key closed for d from now, as a platform's Retry-After demands. It never shortens a wait.
	Hold(ctx context.Context, key string, d time.Duration) error
	// Now is the store's time.
	Now(ctx context.Context) (time.Time, error)
	// Partitions lists partitions of a bucket in the order of their last write (then by name), beginning after the stamp (zero: from
	// the start). Limit 0 means all.
	Partitions(ctx context.Context, bucket int, after Stamp, limit int) ([]Stamp, error)
	// DeadLetters lists the dead letters of all buckets, newest first (then by partition and id). Limit 0 means all.
	DeadLetters(ctx context.Context, limit int) ([]Letter, error)
	// Publish sends a hint to whoever listens now, also in other processes.
	Publish(ctx context.Context, topic, payload string) error
	// Hints calls f for each hint until ctx ends (nil) or the handle is closed ([ErrClosed]), and reconnects by itself. f must not block, and may be
	// called by several goroutines at once. ready, when not nil, is closed when listening has begun.
	Hints(ctx context.Context, ready chan<- struct{}, f func(Hint)) error
	// Health asks the store how it is. It fails like any other method when the store cannot serve.
	Health(ctx context.Context) (Health, error)
	// Stats are the counters of this handle.
	Stats() Stats
	// Close ends all work of the handle. Claims stay as they are.
	Close() error
}
