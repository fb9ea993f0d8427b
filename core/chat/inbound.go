package chat

import "time"

// Kind is what an inbound event is.
type Kind string

// The kinds of events that an adapter hands on. Everything else it acknowledges and counts itself.
const (
	Message Kind = "message" // a new message
	Edit    Kind = "edit"    // Text is the new text of MessageID
	Delete  Kind = "delete"  // MessageID is gone
	Command Kind = "command" // a slash command: an interaction
	Click   Kind = "click"   // a button or a submitted form: an interaction
)

// Interaction reports whether the platform never sends the event again and waits for a first response.
func (k Kind) Interaction() bool { return k == Command || k == Click }

// Sender is who caused an event, as the platform says.
type Sender struct {
	Identity IdentityID `json:"identity"`
	Name     string     `json:"name,omitempty"` // shown name; never an authority
	Bot      bool       `json:"bot,omitempty"`
	// Self is true for Herald's own messages.
	Self bool `json:"self,omitempty"`
}

// Inbound is one normalised event.
type Inbound struct {
	Kind Kind `json:"kind"`
	// App is the platform's id of the app that received it: part of the dedupe key.
	App          string       `json:"app"`
	Conversation Conversation `json:"conversation"`
	// MessageID is the platform's id of the message in its channel; for an interaction the id of the invocation.
	MessageID string `json:"message_id"`
	// Order sorts bytewise in the platform's own order within a conversation. Adapters pad their ids for it. For an
	// interaction it is made of its time.
	Order string `json:"order"`
	// SentAt is the platform's time of the message, for showing and for ages only.
	SentAt time.Time `json:"sent_at"`
	Sender Sender    `json:"sender"`
	// Text is Markdown. For a command it is what stands behind the command's name.
	Text string `json:"text"`
	// Direct: only the sender and Herald read here. Addressed: the message mentions Herald, is direct, or stands in a thread that Herald takes part in.
	Direct    bool `json:"direct,omitempty"`
	Addressed bool `json:"addressed,omitempty"`
	// MassMention: the message mentions everybody (@everyone, @here, @channel); Mentioned: it mentions Herald by name.
	MassMention bool `json:"mass_mention,omitempty"`
	Mentioned   bool `json:"mentioned,omitempty"`
	// Unfurl: the platform only attached a preview to an old message.
	Unfurl bool `json:"unfurl,omitempty"`
	// Action is the id that a card's button carried, Value what was chosen or typed.
	Action string `json:"action,omitempty"`
	Value  string `json:"value,omitempty"`
	// Opens: the click is on a button with a [Form] that was not shown yet. It does nothing; the outcome [Ready] says that the form may be shown.
	Opens bool   `json:"opens,omitempty"`
	Files []File `json:"files,omitempty"`
}

// DedupeKey names the event over redeliveries: app, kind, channel and message. An edit carries its text's revision in MessageID's place
// through Order, as one message can be edited many times.
func (in *Inbound) DedupeKey() string {
	k := in.App + "|" + string(in.Kind) + "|" + in.Conversation.ChannelKey() + "|" + in.MessageID
	if in.Kind == Edit {
		k += "|" + in.Order
	}
	return k
}

// File is an attachment. Its bytes are fetched by the adapter when a turn reads it.
type File struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mime,omitempty"`
	Size int64  `json:"size,omitempty"`
}
