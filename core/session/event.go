package session

import (
	"encoding/json"
	"fmt"
	"time"

	"herald/core/model"
)

// EventVersion is the newest version of log entries that this code reads and writes.
const EventVersion = 1

// Kind is what an event is.
type Kind string

// The kinds of events.
const (
	Opened        Kind = "opened"
	UserSaid      Kind = "user"
	ModelAnswered Kind = "model"
	CallStarted   Kind = "call_started"
	CallFinished  Kind = "call_finished"
	FramePushed   Kind = "frame_pushed"
	FramePopped   Kind = "frame_popped"
	WaitBegan     Kind = "wait_began"
	WaitEnded     Kind = "wait_ended"
	Gated         Kind = "gated" // for the log and for why alone: no model sees it
	Noted         Kind = "noted"
	Compacted     Kind = "compacted"
	Cancelled     Kind = "cancelled"
	Failed        Kind = "failed"
	TurnAnswered  Kind = "answered"
	Closed        Kind = "closed"
)

// Event is one entry of a session's log. The field that fits Kind is set; all are nil in a blanked entry.
type Event struct {
	V    int    `json:"v"`
	Kind Kind   `json:"kind"`
	ID   string `json:"id"`
	// Seq and At are the log's own; they are not part of the data.
	Seq int64     `json:"-"`
	At  time.Time `json:"-"`
	// Frame is the frame that the event belongs to.
	Frame string `json:"frame,omitempty"`

	Open     *Open     `json:"open,omitempty"`
	User     *Said     `json:"user,omitempty"`
	Model    *Answer   `json:"model,omitempty"`
	Call     *CallRef  `json:"call,omitempty"`
	Result   *Result   `json:"result,omitempty"`
	Push     *Push     `json:"push,omitempty"`
	Pop      *Pop      `json:"pop,omitempty"`
	Wait     *Wait     `json:"wait,omitempty"`
	Outcome  *Outcome  `json:"outcome,omitempty"`
	Gate     *Gate     `json:"gate,omitempty"`
	Note     *Note     `json:"note,omitempty"`
	Summary  *Summary  `json:"summary,omitempty"`
	Cancel   *Cancel   `json:"cancel,omitempty"`
	Failure  *Failure  `json:"failure,omitempty"`
	Answered *Answered `json:"answered,omitempty"`
}

type (
	// Open begins a session with its root frame.
	Open struct {
		Session string `json:"session"`
		Agent   string `json:"agent"`
		// Person is who opened it.
		Person string `json:"person,omitempty"`
		// Pad is the scratchpad that the session begins with.
		Pad []PadLine `json:"pad,omitempty"`
	}
	// Said is a message of a person that the turn takes in. Turn names the turn: the first message of one begins it.
	Said struct {
		Turn      string        `json:"turn"`
		MessageID string        `json:"message_id"`
		Order     string        `json:"order"`
		Person    string        `json:"person"`
		Name      string        `json:"name,omitempty"`
		Text      string        `json:"text"`
		Images    []model.Image `json:"images,omitempty"`
		// Task is set where the message is what a task came to, which ran beside the session; Text is its result.
		Task *TaskEnd `json:"task,omitempty"`
		// Files are what came with it, Images those of them that are pictures. What was read of them stands here, so that nothing is fetched twice.
		Files []File `json:"files,omitempty"`
	}
	// File is a file that came with a message. Problem says to a person why it was not read; a file with neither Text nor Problem is a picture, or empty.
	File struct {
		Name    string `json:"name"`
		MIME    string `json:"mime,omitempty"`
		Text    string `json:"text,omitempty"`
		Problem string `json:"problem,omitempty"`
	}
	// TaskEnd is how a task ended that ran beside the session.
	TaskEnd struct {
		ID     string `json:"id"`
		Agent  string `json:"agent"`
		Title  string `json:"title"`
		Status Status `json:"status"`
		// Pad are the lines of the scratchpad that it has written.
		Pad []PadLine `json:"pad,omitempty"`
	}
	// Answer is what the model said in a round.
	Answer struct {
		Text   string       `json:"text,omitempty"`
		Calls  []Asked      `json:"calls,omitempty"`
		Finish model.Finish `json:"finish"`
		Usage  model.Usage  `json:"usage"`
		Model  string       `json:"model"`
		// Cost is in the currency of the configured prices; nil means that there is no price.
		Cost *float64 `json:"cost,omitempty"`
	}
	// Asked is a call with what its tool had declared when it was asked for.
	Asked struct {
		model.Call
		Traits
	}
	// Traits is what a tool declares about its calls.
	Traits struct {
		// ReadOnly: the call has no effect; several may run side by side.
		ReadOnly bool `json:"read_only,omitempty"`
		// Repeatable: a call that had begun in a process that died may be run again.
		Repeatable bool `json:"repeatable,omitempty"`
		// Delegates: the call pushes a frame.
		Delegates bool `json:"delegates,omitempty"`
	}
	// CallRef names the calls that begin; several where they run side by side.
	CallRef struct {
		IDs []string `json:"ids"`
		// Again marks a call that had begun in a process that is gone and is repeated.
		Again bool `json:"again,omitempty"`
	}
	// Result ends a call.
	Result struct {
		Call   string `json:"call"`
		Status Status `json:"status"`
		Text   string `json:"text"`
		// Pad is a line of the session's scratchpad that the call wrote, Groups are the groups of tools that it opened for its frame.
		Pad    *PadLine `json:"pad,omitempty"`
		Groups []string `json:"groups,omitempty"`
	}
	// PadLine is a line of the scratchpad, which every agent of a session reads; one without a value takes the line of its key away.
	PadLine struct {
		Key   string `json:"key"`
		Value string `json:"value,omitempty"`
	}
	// Push begins a child frame for a call.
	Push struct {
		Frame  string `json:"frame"`
		Agent  string `json:"agent"`
		Call   string `json:"call"`
		Prompt string `json:"prompt"`
		// Client is the configured model that the call named, "" for the agent's own.
		Client string `json:"client,omitempty"`
	}
	// Pop ends a child frame; its text becomes the result of the call that pushed it.
	Pop struct {
		Status Status `json:"status"`
		Text   string `json:"text"`
	}
	// Wait is something that is waited for without a worker.
	Wait struct {
		ID   string   `json:"id"`
		Kind WaitKind `json:"kind"`
		// Call is the call that waits.
		Call string `json:"call"`
		// Tool is the name of the tool whose call an approval is about.
		Tool string `json:"tool,omitempty"`
		// Person is who is asked; for an approval one of the deciders is enough. Barred are persons who may not decide, whoever they are.
		Person   string   `json:"person,omitempty"`
		Deciders []string `json:"deciders,omitempty"`
		Barred   []string `json:"barred,omitempty"`
		Title    string   `json:"title,omitempty"`
		Text     string   `json:"text,omitempty"`
		Choices  []string `json:"choices,omitempty"`
		// End is the instant after which the wait is over by itself.
		End time.Time `json:"end,omitzero"`
	}
	// Outcome ends a wait; the first one wins.
	Outcome struct {
		Wait   string      `json:"wait"`
		Result WaitOutcome `json:"result"`
		By     string      `json:"by,omitempty"`
		Text   string      `json:"text,omitempty"`
		// MessageID is set where the outcome came as a message; the turn covers it.
		MessageID string `json:"message_id,omitempty"`
		Order     string `json:"order,omitempty"`
	}
	// Gate is what the gate said of a call, and by which rule or person.
	Gate struct {
		Call   string `json:"call"`
		Tool   string `json:"tool"`
		Answer string `json:"answer"`
		Rule   string `json:"rule"`
	}
	// Note is something that the model should know and that makes no turn: an edit or a deletion that came late, a synthetic line.
	Note struct {
		Kind      string `json:"kind"`
		MessageID string `json:"message_id,omitempty"`
		Text      string `json:"text,omitempty"`
	}
	// Summary stands for all events of its frame before From.
	Summary struct {
		Text string `json:"text"`
		From int64  `json:"from"`
		// Usage, Model and Cost are those of the call that made it.
		Usage model.Usage `json:"usage"`
		Model string      `json:"model,omitempty"`
		Cost  *float64    `json:"cost,omitempty"`
	}
	// Cancel is a stop that took hold; Covers are messages that had not begun and end with it.
	Cancel struct {
		By     string  `json:"by"`
		Covers []Cover `json:"covers,omitempty"`
	}
	// Failure ends the turn without an answer of the model. Reason is for the person, Detail for the operator; Ref resolves it.
	Failure struct {
		Kind   string `json:"kind"`
		Reason string `json:"reason"`
		Detail string `json:"detail,omitempty"`
		Ref    string `json:"ref"`
	}
	// Answered ends a turn: its delivery and the messages that it covers.
	Answered struct {
		Turn     string  `json:"turn"`
		Delivery string  `json:"delivery"`
		Covers   []Cover `json:"covers"`
		Text     string  `json:"text,omitempty"`
	}
	// Cover is a message that an answer covers.
	Cover struct {
		MessageID string `json:"message_id"`
		Order     string `json:"order"`
		Person    string `json:"person,omitempty"`
	}
)

// SetAside is the kind of failure of a turn that crashed too often: its messages are not shown to a model again.
const SetAside = "set aside"

// Status is how a call or a frame ended.
type Status string

// The statuses of calls and frames.
const (
	Done      Status = "done"
	Errored   Status = "failed"
	Unknown   Status = "unknown"   // begun in a process that died; whether it took effect is not known
	Rejected  Status = "rejected"  // a person said no
	Denied    Status = "denied"    // a rule said no
	Stopped   Status = "cancelled" // a stop ended it
	Exhausted Status = "exhausted" // the frame reached its rounds
)

// WaitKind is what is waited for.
type WaitKind string

// The kinds of waits.
const (
	Approval WaitKind = "approval"
	Question WaitKind = "question"
	Timer    WaitKind = "timer"
)

// WaitOutcome is how a wait ended.
type WaitOutcome string

// The outcomes of waits.
const (
	Approved WaitOutcome = "approved"
	Refused  WaitOutcome = "refused"
	Replied  WaitOutcome = "replied"
	Expired  WaitOutcome = "expired"
	Elapsed  WaitOutcome = "elapsed"
)

// ErrNewer is what Decode returns for an entry of a newer version: whoever meets one must leave the session to a newer replica.
var ErrNewer = fmt.Errorf("a log entry is of a newer version than %d", EventVersion)

// Encode is the data of e in the log, in the format version: the newest that every process which shares the store reads.
func Encode(e Event, version int) ([]byte, error) {
	e.V = min(version, EventVersion)
	return json.Marshal(e)
}

// Decode reads an entry: its kind and id as the log kept them, and its data, nil when it was blanked.
func Decode(kind, id string, seq int64, at time.Time, data []byte) (Event, error) {
	e := Event{V: EventVersion, Kind: Kind(kind), ID: id, Seq: seq, At: at}
	if data == nil {
		return e, nil
	}
	if fast := e; decodePlain(data, &fast) {
		e = fast
	} else if err := json.Unmarshal(data, &e); err != nil {
		return Event{}, fmt.Errorf("log entry %d (%s): %w", seq, kind, err)
	}
	if e.V > EventVersion {
		return Event{}, fmt.Errorf("log entry %d (%s) has version %d: %w", seq, kind, e.V, ErrNewer)
	}
	e.Kind, e.ID, e.Seq, e.At = Kind(kind), id, seq, at
	return e, nil
}
