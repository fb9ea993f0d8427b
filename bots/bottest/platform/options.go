package platform

import (
	"log/slog"
	"time"

	"herald/bots/bottest/wire"
)

// Options of a server. The zero value is a platform that can do nothing special and is never slow.
type Options struct {
	// Features is what the platform can do. Workspace defaults to "lab", SendTimeout to 10 s, NonceFor to 5 minutes.
	Features wire.Features
	// App is the id of the app whose own messages are echoed; "app" by default.
	App string
	// RedeliverAfter is how long an event waits for its acknowledgement before it is sent again; 3 s by default. Interactions are
	// never sent again.
	RedeliverAfter time.Duration
	// Echo tells the app of its own messages too, as real platforms do.
	Echo bool
	// Sticky keeps the events of one conversation on one stream while it stands. Otherwise each event takes the next stream in turn,
	// so that two replicas see the messages of one thread.
	Sticky bool
	// Latency is added to each call.
	Latency time.Duration
	// Observe, when set, is called at each stage of each call, outside of locks and before the app has its answer: the place
	// for a test to kill the app. It must not call [Server.Close].
	Observe func(Stage, Call)
	// Log takes what goes wrong in the server itself; discarded by default.
	Log *slog.Logger
}

func (o Options) withDefaults() Options {
	if o.Features.Workspace == "" {
		o.Features.Workspace = "lab"
	}
	if o.Features.SendTimeout == 0 {
		o.Features.SendTimeout = 10 * time.Second
	}
	if o.Features.NonceFor == 0 && o.Features.Nonce {
		o.Features.NonceFor = 5 * time.Minute
	}
	if o.App == "" {
		o.App = "app"
	}
	if o.RedeliverAfter == 0 {
		o.RedeliverAfter = 3 * time.Second
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

// Stage is how far a call has come.
type Stage string

// The stages of a call.
const (
	Arrived Stage = "arrived" // read, nothing done
	Applied Stage = "applied" // it stands; the app does not know yet
)

// Op is what an app calls.
type Op string

// The calls. AnyCall stands for send, edit and find in a [Fault].
const (
	OpSend   Op = "send"
	OpEdit   Op = "edit"
	OpFind   Op = "find"
	OpStream Op = "stream"
	OpAck    Op = "ack"
	AnyCall  Op = ""
)

// Call is one call of the app.
type Call struct {
	Op       Op
	Channel  string
	Thread   string
	Message  string // of an edit, and of a send once applied
	Event    string // of an acknowledgement
	Text     string
	Delivery string
	Piece    int
}
