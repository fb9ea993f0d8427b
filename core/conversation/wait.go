package conversation

import (
	"time"

	"herald/core/chat"
	"herald/core/model"
	"herald/core/session"
	"herald/core/store"
)

// The choices of an approval, as they stand in the actions of its card's buttons.
const (
	Approve        = "approve"
	ApproveMinutes = "approve_minutes"
	ApproveSession = "approve_session"
	Deny           = "deny"
	// FreeText answers a question in one's own words.
	FreeText = "text"
)

// The longest texts that decide a wait, in runes: the reason of a refusal, and an answer in one's own words.
const (
	MaxReason   = 500
	MaxFreeText = 3000
)

// WaitDoc is a wait and, once there is one, its outcome. The first outcome wins by the document's version.
type WaitDoc struct {
	V       int              `json:"v"`
	Session string           `json:"session"`
	Wait    session.Wait     `json:"wait"`
	Outcome *session.Outcome `json:"outcome,omitempty"`
	// Copies are who has a copy of the card in their direct messages.
	Copies []chat.IdentityID `json:"copies,omitempty"`
}

// Key is the document's key.
func (w *WaitDoc) Key() store.Key { return store.Key{Collection: Waits, Name: w.Wait.ID} }

// EndedKey is the document's key after the turn's holder took the outcome; a late click finds there who decided.
func (w *WaitDoc) EndedKey() store.Key { return store.Key{Collection: Waited, Name: w.Wait.ID} }

// Owed is a handover: what this partition owes another, kept until the other has taken it.
type Owed struct {
	V  int    `json:"v"`
	ID string `json:"id"`
	// Kind chooses the taker; To is the partition that takes; Data is the taker's.
	Kind string          `json:"kind"`
	To   store.Partition `json:"to"`
	Data []byte          `json:"data"`
	At   time.Time       `json:"at"`
}

// Key is the document's key.
func (o *Owed) Key() store.Key { return store.Key{Collection: Handovers, Name: o.ID} }

// Owe is the operations that owe o from partition p and wake its handover.
func Owe(p store.Partition, o *Owed) []store.Op {
	o.V = Version
	return []store.Op{
		store.Put{Key: o.Key(), Value: Encode(o)},
		store.Wake{Agenda: store.Handover, Member: store.MemberOf(p, "")},
	}
}

// TurnRecord is what is kept of a finished turn for `why` and for costs.
type TurnRecord struct {
	V       int      `json:"v"`
	ID      string   `json:"id"`
	Session string   `json:"session"`
	Agent   string   `json:"agent"`
	Person  string   `json:"person"`
	Models  []string `json:"models"`
	Tools   []string `json:"tools,omitempty"`
	// Gates is what the gate said of the calls, the first of them where they are many.
	Gates  []session.Gate `json:"gates,omitempty"`
	Rounds int            `json:"rounds"`
	Usage  model.Usage    `json:"usage"`
	Cost   *float64       `json:"cost,omitempty"` // nil: unknown
	// Broken is an estimate of what model calls took that were stopped or broke off before their provider told it. It is neither in Usage nor in
	// Cost; nil means that there was none.
	Broken  *model.Usage    `json:"broken,omitempty"`
	Covers  []session.Cover `json:"covers"`
	BeganAt time.Time       `json:"began_at"`
	EndedAt time.Time       `json:"ended_at"`
	// Failure is set when the turn failed or was stopped.
	Failure *session.Failure `json:"failure,omitempty"`
	Stopped bool             `json:"stopped,omitempty"`
}

// Key is the document's key.
func (t *TurnRecord) Key() store.Key { return store.Key{Collection: Turns, Name: t.ID} }

// TurnKey is the key of the record of turn id.
func TurnKey(id string) store.Key { return store.Key{Collection: Turns, Name: id} }

// Current is the document of the open session.
type Current struct {
	V     int           `json:"v"`
	State session.State `json:"state"`
	// LogFrom is the first entry of the log that the history needs.
	LogFrom int64 `json:"log_from"`
	// Shown names the layout of the system prompt that the session goes on with; see prompt.Stable.
	Shown string `json:"shown,omitempty"`
	// LastTurn is the id of the last finished turn.
	LastTurn string `json:"last_turn,omitempty"`
	// StopOrder is the order of the newest stop or new that was carried out: what is older and comes later is not run.
	StopOrder string `json:"stop_order,omitempty"`
	// Direct: only one person and Herald read here, as the newest message said.
	Direct bool `json:"direct,omitempty"`
	// NoNotes is what the newest message said.
	NoNotes bool `json:"no_notes,omitempty"`
	// Held are the questions of the turn under way that are asked only when the one before them has its answer.
	Held []string `json:"held,omitempty"`
	// Told holds "wait/person" of whom was told what the turn waits for; it ends with the turn.
	Told []string `json:"told,omitempty"`
	// Holder is who committed last. Handed: the turn under way changed hands, so that a late edit of the one before may land.
	Holder string `json:"holder,omitempty"`
	Handed bool   `json:"handed,omitempty"`
	// BeganAt is the store's time when the turn under way was first committed.
	BeganAt time.Time `json:"began_at,omitzero"`
}

// Letter is the note of a dead letter: what was not done and why, without a word of anybody.
type Letter struct {
	// Kind is "turn", "delivery", "handover", "event".
	Kind   string          `json:"kind"`
	Reason string          `json:"reason"`
	Ref    string          `json:"ref,omitempty"`
	Person string          `json:"person,omitempty"`
	Covers []session.Cover `json:"covers,omitempty"`
}
