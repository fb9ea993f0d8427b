package chat

import (
	"context"
	"time"
)

// Post is one piece of a delivery, ready to be sent: it fits the platform's limits.
type Post struct {
	Conversation Conversation `json:"conversation"`
	// DeliveryID and Piece name what is sent; a platform that can carries them as nonce or metadata, so that it can be found again.
	DeliveryID string `json:"delivery_id"`
	Piece      int    `json:"piece"`
	// Text is the rendered piece, as [Adapter.Cut] gave it.
	Text string `json:"text"`
	Card *Card  `json:"card,omitempty"`
	// ReplyTo is the id of the message that is answered, where the platform shows that; After is the instant before which the post cannot stand (for looking back).
	ReplyTo string `json:"reply_to,omitempty"`
	// Covers are the ids of all messages that the delivery answers.
	Covers []string  `json:"covers,omitempty"`
	After  time.Time `json:"after,omitzero"`
	// Only, when set, is the one identity that may see the post (an ephemeral message), where the platform can.
	Only IdentityID `json:"only,omitempty"`
	// Interaction is the invocation whose first response this post is, "" for an ordinary message.
	Interaction string `json:"interaction,omitempty"`
	// Live marks a message that will still be edited (a streamed answer).
	Live bool `json:"live,omitempty"`
	// Changes: what stands first in a live message will be replaced, not only grow, so that it must be one that can be edited.
	Changes bool
}

// Nonce is the post's name on a platform that takes one (at most 25 bytes are portable): see [Nonce].
func (p *Post) Nonce() string { return Nonce(p.DeliveryID, p.Piece) }

// Card is a question with buttons. Core says what, the adapter how.
type Card struct {
	Title   string   `json:"title"`
	Fields  []Field  `json:"fields,omitempty"`
	Buttons []Button `json:"buttons,omitempty"`
}

// Field is a named value on a card.
type Field struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Button is a choice on a card. Action comes back as Inbound.Action; it is an id and no authority.
type Button struct {
	Action string `json:"action"`
	Label  string `json:"label"`
	Danger bool   `json:"danger,omitempty"`
	// Form, when set, asks whoever clicks for a text, which comes back as Inbound.Value. A platform that cannot ask leaves the button out, unless the
	// text is optional: then it is an ordinary button.
	Form *Form `json:"form,omitempty"`
}

// Form asks for one text: Title above, Label beside the input, Submit on the button. Max is the most characters that are wanted.
type Form struct {
	Title    string `json:"title"`
	Label    string `json:"label"`
	Submit   string `json:"submit"`
	Max      int    `json:"max"`
	Optional bool   `json:"optional,omitempty"`
}

// Receipt is the platform's own word that a post stands.
type Receipt struct {
	MessageID string    `json:"message_id"`
	At        time.Time `json:"at,omitzero"`
}

// Capabilities is what a platform can do in a conversation.
type Capabilities struct {
	// Edits: a post can be edited, not more often than each EditEvery.
	Edits     bool
	EditEvery time.Duration
	Cards     bool
	Threads   bool
	Ephemeral bool
	// Files: people can attach files, and the adapter is a [Fetcher].
	Files bool
	// Nonce: a repeated send with the same nonce within NonceFor gives the first message again.
	Nonce    bool
	NonceFor time.Duration
	// LookBack: Find can tell whether a post stands.
	LookBack bool
	// CommandMark is what stands before a command in a message, as people of the platform write it; "/" where it is empty.
	CommandMark string
	// TextLimit is the largest piece in the platform's own unit after rendering; 0 means none.
	TextLimit int
	// SendTimeout is how long a send may take; a repeat is not looked for sooner.
	SendTimeout time.Duration
}

// Adapter is one platform as core sees it. All methods are safe for concurrent use and stop waiting when ctx ends. Errors are
// [*Refused], [*Outage], or anything else, which is taken as an outage whose outcome is unknown.
type Adapter interface {
	// Capabilities of the conversation; no I/O.
	Capabilities(c Conversation) Capabilities
	// Cut renders Markdown into pieces that each fit; no I/O. At least one piece; nothing is lost.
	Cut(c Conversation, markdown string) []string
	// Send posts p once. The receipt's id is never empty when err is nil.
	Send(ctx context.Context, p *Post) (Receipt, error)
	// Edit replaces the text of a post that stands; final ends a live message.
	Edit(ctx context.Context, p *Post, r Receipt, final bool) error
	// Find looks for a post that an earlier attempt may have sent. ok is false when it surely does not stand; an error when that cannot be told.
	Find(ctx context.Context, p *Post) (r Receipt, ok bool, err error)
}

// Fetcher is an adapter that gives the bytes of attached files. Its method is safe for concurrent use.
type Fetcher interface {
	// Fetch gives f as the platform describes it now and its bytes. want is asked once, with that description, for the most bytes that are wanted; 0
	// means none, and then none are loaded. The error is a [*Refused] for a file that cannot be had as it is, with a reason for a person: it is gone, a
	// right is missing, it is larger. It is an [*Outage] for one that may be had later.
	Fetch(ctx context.Context, c Conversation, f File, want func(File) int64) (File, []byte, error)
}

// Opener is an adapter that can write to a person who has not written to it. Its method is safe for concurrent use.
type Opener interface {
	// Open is the conversation that only the person and Herald read, the same for the same person, begun where there is none. The error is a [*Refused]
	// for a person who cannot be written to, with a reason, and an [*Outage] where it may be possible later.
	Open(ctx context.Context, id IdentityID) (Conversation, error)
}
