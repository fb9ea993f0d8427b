package wire

import (
	"encoding/json"
	"time"
)

// Paths and protocol names of the test platform.
const (
	StreamPath     = "/v1/stream"
	SendPath       = "/v1/send"
	EditPath       = "/v1/edit"
	FindPath       = "/v1/find"
	StreamProtocol = "herald-test-events"
	// MaxLine is the largest line of the stream and the largest body of a call, in bytes.
	MaxLine = 4 << 20
)

// Kinds of events.
const (
	KindMessage = "message"
	KindEdit    = "edit"
	KindDelete  = "delete"
	KindCommand = "command"
	KindClick   = "click"
)

// Event is what happened on the platform, as the app is told.
type Event struct {
	// ID names the event over its redeliveries; Attempt counts them from 1.
	ID      string `json:"id"`
	Attempt int    `json:"attempt"`
	Kind    string `json:"kind"`
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
	// Message is a decimal number without leading zeroes; it grows with each thing that happens on the platform.
	Message string `json:"message"`
	// Revision of an edit or deletion, from the same sequence; empty for others.
	Revision string    `json:"revision,omitempty"`
	At       time.Time `json:"at"`
	User     string    `json:"user"`
	Name     string    `json:"name,omitempty"`
	// Bot is an app's message, App its id.
	Bot     bool   `json:"bot,omitempty"`
	App     string `json:"app,omitempty"`
	Text    string `json:"text"`
	Direct  bool   `json:"direct,omitempty"`
	Mention bool   `json:"mention,omitempty"`
	Mass    bool   `json:"mass,omitempty"`
	// Aside is a message that speaks to somebody else than the app.
	Aside  bool   `json:"aside,omitempty"`
	Unfurl bool   `json:"unfurl,omitempty"`
	Action string `json:"action,omitempty"`
	Value  string `json:"value,omitempty"`
}

// Ack takes an event off the platform's list.
type Ack struct {
	Ack string `json:"ack"`
}

// Send is a message that the app posts, or with Message set its edit.
type Send struct {
	App     string `json:"app"`
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
	Text    string `json:"text"`
	Nonce   string `json:"nonce,omitempty"`
	// Delivery and Piece are metadata that a look-back finds again.
	Delivery string          `json:"delivery,omitempty"`
	Piece    int             `json:"piece,omitempty"`
	ReplyTo  string          `json:"reply_to,omitempty"`
	Only     string          `json:"only,omitempty"`
	Card     json.RawMessage `json:"card,omitempty"`
	// Interaction is the invocation that is answered.
	Interaction string `json:"interaction,omitempty"`
	Live        bool   `json:"live,omitempty"`
}

// Edit replaces the text of a message that the app posted.
type Edit struct {
	App     string          `json:"app"`
	Channel string          `json:"channel"`
	Thread  string          `json:"thread,omitempty"`
	Message string          `json:"message"`
	Text    string          `json:"text"`
	Card    json.RawMessage `json:"card,omitempty"`
	Final   bool            `json:"final,omitempty"`
}

// Find asks for a message that the app may have posted.
type Find struct {
	App      string    `json:"app"`
	Channel  string    `json:"channel"`
	Thread   string    `json:"thread,omitempty"`
	Delivery string    `json:"delivery"`
	Piece    int       `json:"piece"`
	After    time.Time `json:"after,omitzero"`
}

// Reply answers a call that the platform carried out.
type Reply struct {
	// Found is false only in the answer to a [Find].
	Found   bool      `json:"found"`
	Message string    `json:"message,omitempty"`
	At      time.Time `json:"at,omitzero"`
}

// Trouble answers a call that the platform did not carry out.
type Trouble struct {
	Code   string `json:"code"`
	Reason string `json:"reason"`
	// Whole says that a demand to wait holds for all channels.
	Whole bool `json:"whole,omitempty"`
}
