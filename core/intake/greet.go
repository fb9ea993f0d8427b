package intake

import (
	"context"
	"errors"
	"fmt"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// greetedKey is the document of a channel, or of a person's direct messages, in which Herald has introduced itself.
var greetedKey = store.Key{Collection: "greeting", Name: "self"}

// greeting is its value.
type greeting struct {
	V  int       `json:"v"`
	At time.Time `json:"at"`
	// MessageID is the message that was the first.
	MessageID string `json:"message_id"`
}

// home is the partition of the channel that holds all threads of a conversation. Direct messages of a person are one channel.
func home(c chat.Conversation) store.Partition {
	c.Thread = ""
	return conversation.Partition(c)
}

// meets reports whether e may be the first contact: a message of a person that goes to the agent.
func (e *event) meets() bool {
	return e.policy.Greet && e.in.Kind == chat.Message && !e.in.Sender.Bot && !e.command.Is && e.notice == "" && (e.in.Direct || e.in.Mentioned)
}

// greet introduces Herald where it was met for the first time: a delivery of its own beside the answer. The commit to the channel's partition
// decides that it is the first, over all threads and replicas; the conversation is owed the words. It comes before the message's own
// commit, so that a crash between the two leaves an introduction and an event that comes again.
func (i *Intake) greet(ctx context.Context, e *event) error {
	if !e.meets() {
		return nil
	}
	if _, known := e.extra[0].Doc(); known {
		return nil
	}
	text := textGreetChannel
	if e.in.Direct {
		text = textGreetDirect
	}
	at := home(e.in.Conversation)
	d := &conversation.Delivery{
		ID: conversation.ID("n", "greeting", string(at)), Kind: conversation.Notice, Text: text, After: e.now, MadeAt: e.now,
	}
	owed := conversation.OweSaying(e.part, d)
	owed.At = e.now
	_, err := i.store.Commit(ctx, store.Commit{
		ID: conversation.ID("intake.greeting/", string(at)), Partition: at,
		Guards: []store.Guard{store.At{Key: greetedKey}},
		Ops: append([]store.Op{
			store.Put{Key: greetedKey, Value: conversation.Encode(greeting{V: conversation.Version, At: e.now, MessageID: e.in.MessageID})},
		}, conversation.Owe(at, owed)...),
	})
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("introduce Herald in %s: %w", at, err)
	}
	return nil
}
