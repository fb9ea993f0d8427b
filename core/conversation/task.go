package conversation

import (
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/session"
	"herald/core/store"
)

// taskChannel is the channel of the conversations in which tasks run beside the ones that began them. No platform has one of this name.
const taskChannel = "~task"

// TaskPlace is where the task of this id runs: a conversation of its own, which no platform shows.
func TaskPlace(w chat.Workspace, id string) chat.Conversation {
	return chat.Conversation{Workspace: w, Channel: taskChannel, Thread: id}
}

// IsTask reports whether c is the conversation of a task.
func IsTask(c chat.Conversation) bool { return c.Channel == taskChannel }

// The kinds of entries with which a task travels: its start to its own partition, its result back.
const (
	TaskKind       = "task"
	TaskResultKind = "task-result"
)

// TaskKey is the key of the document of a task in its own partition, which says what it was begun with.
var TaskKey = store.Key{Collection: Session, Name: "task"}

// TaskStart is what a task is begun with.
type TaskStart struct {
	V  int    `json:"v"`
	ID string `json:"id"`
	// Origin is the conversation that began it.
	Origin chat.Conversation `json:"origin"`
	Agent  string            `json:"agent"`
	Client string            `json:"client,omitempty"`
	Title  string            `json:"title"`
	Prompt string            `json:"prompt"`
	// Person is who it is done for, Askers all whose rights it has; Direct as in the conversation that began it.
	Person string   `json:"person"`
	Askers []string `json:"askers"`
	Direct bool     `json:"direct,omitempty"`
	// Callers are the agents that delegated down to it, the session's own first: it has no rights that one of them has not.
	Callers []string `json:"callers"`
	// Pad is the scratchpad as it stood at the start.
	Pad []session.PadLine `json:"pad,omitempty"`
	// At is the store's time of the start.
	At time.Time `json:"at"`
}

// Written is the version that wrote the document.
func (t *TaskStart) Written() int { return t.V }

// TaskResult is what a task came to.
type TaskResult struct {
	V      int            `json:"v"`
	ID     string         `json:"id"`
	Status session.Status `json:"status"`
	Text   string         `json:"text"`
	// Pad are the lines of the scratchpad that the task has written.
	Pad []session.PadLine `json:"pad,omitempty"`
}

// TaskState is where a task stands, as the conversation that began it knows.
type TaskState string

// The states of a task. It goes from the first to the second once: that is when its result lands.
const (
	TaskRunning TaskState = "running"
	TaskLanded  TaskState = "landed"
)

// TaskDoc is a task in the partition of the conversation that began it.
type TaskDoc struct {
	V      int            `json:"v"`
	ID     string         `json:"id"`
	State  TaskState      `json:"state"`
	Status session.Status `json:"status,omitempty"`
	Agent  string         `json:"agent"`
	Title  string         `json:"title"`
	Person string         `json:"person"`
	Direct bool           `json:"direct,omitempty"`
	At     time.Time      `json:"at"`
	// EndedAt is the store's time when its result was taken in.
	EndedAt time.Time `json:"ended_at,omitzero"`
}

// Written is the version that wrote the document.
func (t *TaskDoc) Written() int { return t.V }

// Key is the document's key.
func (t *TaskDoc) Key() store.Key { return store.Key{Collection: Tasks, Name: t.ID} }

// syntheticOrder begins the order of a message that no platform knows: it stands behind every one that has an order of a platform, so that
// no stop which was meant for those ends it.
const syntheticOrder = "~"

// TaskMessage is the message with which a task's result comes into the conversation that began it.
func TaskMessage(d *TaskDoc, r *TaskResult) *Message {
	return &Message{
		V: Version, MessageID: "task-" + d.ID, Order: syntheticOrder + "task-" + d.ID, SentAt: d.EndedAt, Person: d.Person, Direct: d.Direct, Text: r.Text,
		Task: &session.TaskEnd{ID: d.ID, Agent: d.Agent, Title: d.Title, Status: r.Status, Pad: r.Pad},
	}
}

// OnPlatform is the covered messages that a platform knows.
func OnPlatform(covers []session.Cover) []session.Cover {
	var out []session.Cover
	for _, c := range covers {
		if !strings.HasPrefix(c.Order, syntheticOrder) {
			out = append(out, c)
		}
	}
	return out
}
