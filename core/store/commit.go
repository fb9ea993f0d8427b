package store

import "time"

// Key names a document: a collection (which can be listed whole) and a name in it.
type Key struct {
	Collection, Name string
}

// Doc is a document as it stands.
type Doc struct {
	Key   Key
	Value []byte
	// Version is the partition's revision at the last Put of the document; Born that of the Put that made it. Revisions grow by one with each
	// Put in a partition, so that documents can be ordered by either.
	Version, Born int64
}

// Entry is an entry of a log.
type Entry struct {
	// Seq counts from 1 without a gap within the log.
	Seq int64
	ID  string
	// Kind is kept when the entry is blanked.
	Kind string
	// At is the store's time of the commit.
	At time.Time
	// Data is nil when the entry was blanked.
	Data []byte
}

// Scored is a member of an index.
type Scored struct {
	Member string
	Score  float64
}

// Commit is one atomic write to one partition and its members on the agendas.
type Commit struct {
	// ID names the commit for repeats: the same ID on the same partition within ten minutes answers as the first. Required.
	ID        string
	Partition Partition
	// Claim, when set, is the claim under which the caller writes. The commit is refused with [ErrFenced] unless the
	// agenda knows exactly this token and holder. A lease that has ended but was not taken over is still good.
	Claim *Claim
	// Guards must all hold for what stood before the commit, else [*ConflictError]. A repeat is told before a fence, a fence before a guard.
	Guards []Guard
	Ops    []Op
}

// Guard is a condition of a commit: [At], [Absent], [Fewer] or [Free].
type Guard interface{ guard() }

// At holds when the document has this version; Version 0 means that it does not exist.
type At struct {
	Key     Key
	Version int64
}

// Absent holds when the index has no such member.
type Absent struct {
	Index, Member string
}

// Fewer holds when the collection has fewer than N documents: what bounds a queue without reading it.
type Fewer struct {
	Collection string
	N          int
}

// Free holds when nobody holds the member, so that a [Take] of it succeeds: for commits that mean nothing without the claim. A claim
// whose lease has ended holds until somebody takes it over.
type Free struct {
	Agenda Agenda
	Member Member
}

func (At) guard()     {}
func (Absent) guard() {}
func (Fewer) guard()  {}
func (Free) guard()   {}

// Op is one change: one of the types below.
type Op interface{ op() }

type (
	// Put makes or replaces a document.
	Put struct {
		Key   Key
		Value []byte
	}
	// Delete removes a document; an absent one is no error.
	Delete struct{ Key Key }
	// Append adds an entry to a log.
	Append struct {
		Log, ID, Kind string
		Data          []byte
	}
	// Blank removes the data of an entry and keeps id, kind, time and place; an absent one is no error.
	Blank struct {
		Log string
		Seq int64
	}
	// TrimLog removes all entries of a log with a sequence below Before. Later entries keep their sequence.
	TrimLog struct {
		Log    string
		Before int64
	}
	// Score sets the score of a member of an index.
	Score struct {
		Index, Member string
		Score         float64
	}
	// ScoreNow sets the score to the store's time in milliseconds since 1970.
	ScoreNow struct{ Index, Member string }
	// Unscore removes a member of an index.
	Unscore struct{ Index, Member string }
	// TrimOlder removes the members of an index whose score lies more than Age before the store's time in milliseconds.
	TrimOlder struct {
		Index string
		Age   time.Duration
	}
	// Wake puts the member on the agenda at the instant At (one that the store gave), or, when At is zero, In from now. The earliest
	// time stays. A member that is claimed keeps the wake until its release. A wake whose time has come sends a [Hint].
	Wake struct {
		Agenda Agenda
		Member Member
		At     time.Time
		In     time.Duration
	}
	// Release ends the claim and clears its attempts, which also go when the member leaves the agenda. The member is due again at the earliest of a wake that came meanwhile and
	// Next (At, or In when Again is set); otherwise it leaves the agenda. With a token or holder that the agenda does not know it does nothing.
	Release struct {
		Claim Claim
		// Again asks for another time: At, or In from now when At is zero.
		Again bool
		At    time.Time
		In    time.Duration
		// KeepAttempt leaves the count of attempts as it is, less this one, for a claim that was given back without having been worked on.
		KeepAttempt bool
	}
	// Take claims a member that nobody holds (whether it is due or not); Result.Taken tells. An ended lease counts as held: it is the
	// agenda's to hand it on, with its attempts. Like every claim it uses up a wake whose time has come; a later one stays for after the release.
	Take struct {
		Agenda Agenda
		Member Member
		Holder string
		Lease  time.Duration
	}
	// Bury adds a dead letter to the bucket's list; ID is unique within the partition.
	Bury struct {
		ID   string
		Note []byte
	}
	// Unbury removes a dead letter.
	Unbury struct{ ID string }
)

func (Put) op()       {}
func (Delete) op()    {}
func (Append) op()    {}
func (Blank) op()     {}
func (TrimLog) op()   {}
func (Score) op()     {}
func (ScoreNow) op()  {}
func (Unscore) op()   {}
func (TrimOlder) op() {}
func (Wake) op()      {}
func (Release) op()   {}
func (Take) op()      {}
func (Bury) op()      {}
func (Unbury) op()    {}

// Result is what a commit did.
type Result struct {
	// Now is the store's time of the commit: that of its log entries.
	Now time.Time
	// Versions holds the version of each Put, Seqs the sequence of each Append, in the order of Ops.
	Versions, Seqs []int64
	// Taken holds an entry for each Take, in the order of Ops; nil when somebody holds the member.
	Taken []*Claim
	// Repeated is true when a commit with this ID had been applied before.
	Repeated bool
}

// Query is one question to one partition: one of the types below.
type Query interface{ Of() Partition }

type (
	// Get asks for one document.
	Get struct {
		Partition Partition
		Key       Key
	}
	// List asks for all documents of a collection, sorted by name. Collections that are listed are kept small by their writers.
	List struct {
		Partition  Partition
		Collection string
	}
	// Range asks for the entries of a log with From <= Seq, oldest first; Limit 0 means all.
	Range struct {
		Partition Partition
		Log       string
		From      int64
		Limit     int
	}
	// Tail asks for the last N entries of a log, oldest first.
	Tail struct {
		Partition Partition
		Log       string
		N         int
	}
	// Scores asks for the members of an index with Min <= score <= Max, lowest first (then by name); Limit 0 means all.
	Scores struct {
		Partition Partition
		Index     string
		Min, Max  float64
		Limit     int
	}
	// ScoreOf asks for one member of an index.
	ScoreOf struct {
		Partition     Partition
		Index, Member string
	}
)

// Of is the partition that is asked.
func (q Get) Of() Partition { return q.Partition }

// Of is the partition that is asked.
func (q List) Of() Partition { return q.Partition }

// Of is the partition that is asked.
func (q Range) Of() Partition { return q.Partition }

// Of is the partition that is asked.
func (q Tail) Of() Partition { return q.Partition }

// Of is the partition that is asked.
func (q Scores) Of() Partition { return q.Partition }

// Of is the partition that is asked.
func (q ScoreOf) Of() Partition { return q.Partition }

// Answer is the answer to one query; the field that fits the query is set.
type Answer struct {
	Docs    []Doc
	Entries []Entry
	Scored  []Scored
	// Now is the store's time of the answer.
	Now time.Time
}

// Doc is the document that a Get found.
func (a Answer) Doc() (Doc, bool) {
	if len(a.Docs) == 0 {
		return Doc{}, false
	}
	return a.Docs[0], true
}
