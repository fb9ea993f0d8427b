package testbot

import (
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"

	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// Stage is a point around an acknowledgement.
type Stage string

// The points at which [Options.Observe] is called.
const (
	BeforeReceive Stage = "before_receive"
	BeforeAck     Stage = "before_ack" // the receiver has the event
	AfterAck      Stage = "after_ack"  // the acknowledgement was written to the socket
)

// Options of a bot.
type Options struct {
	// URL is the platform's address as its server gives it; it carries what the platform can do.
	URL string
	// App is the bot's id on the platform; "app" by default.
	App string
	// Receiver takes the events; needed by Run only.
	Receiver chat.Receiver
	// Lanes is how many conversations are handed on at the same time; 256 by default.
	Lanes int
	// Backlog is how many events of one conversation wait at most; what comes beyond is left to the platform to send again. 1,024 by default.
	Backlog int
	// ReconnectMin and ReconnectMax bound the pause between attempts to open the stream; 20 ms and 2 s by default.
	ReconnectMin, ReconnectMax time.Duration
	// Observe, when set, is called at each [Stage] of each event by the goroutine that handles it: the place for a test to die at.
	Observe func(Stage, *chat.Inbound)
	// HTTP makes the calls; nil means a client of its own with pooled connections.
	HTTP *http.Client
	// Log takes lost streams and failed events; discarded when nil.
	Log *slog.Logger
}

// Bot is the adapter. It implements [chat.Adapter].
type Bot struct {
	opt      Options
	base     string
	features wire.Features
	http     *http.Client
	log      *slog.Logger
}

var _ chat.Adapter = (*Bot)(nil)

// New makes a bot for a platform; it makes no call.
func New(opt Options) (*Bot, error) {
	base, features, err := wire.ParseAddress(opt.URL)
	if err != nil {
		return nil, err
	}
	if opt.App == "" {
		opt.App = "app"
	}
	if opt.Lanes < 0 || opt.Backlog < 0 || opt.ReconnectMin < 0 || opt.ReconnectMax < 0 {
		return nil, errors.New("make a test bot: lanes, backlog and pauses must not be negative")
	}
	opt.Lanes = or(opt.Lanes, 256)
	opt.Backlog = or(opt.Backlog, 1024)
	opt.ReconnectMin = or(opt.ReconnectMin, 20*time.Millisecond)
	opt.ReconnectMax = max(or(opt.ReconnectMax, 2*time.Second), opt.ReconnectMin)
	b := &Bot{opt: opt, base: base, features: features, http: opt.HTTP, log: opt.Log}
	if b.http == nil {
		b.http = &http.Client{Transport: &http.Transport{
			DialContext:         (&net.Dialer{Timeout: 5 * time.Second}).DialContext,
			MaxIdleConns:        256,
			MaxIdleConnsPerHost: 256,
			IdleConnTimeout:     90 * time.Second,
		}}
	}
	if b.log == nil {
		b.log = slog.New(slog.DiscardHandler)
	}
	return b, nil
}

// Workspace is the one workspace of the platform.
func (b *Bot) Workspace() chat.Workspace { return chat.Workspace("test:" + b.features.Workspace) }

// Conversation names a place of the platform for core.
func (b *Bot) Conversation(channel, thread string) chat.Conversation {
	return chat.Conversation{Workspace: b.Workspace(), Channel: channel, Thread: thread}
}

// Capabilities are what the platform's address says; they are the same everywhere.
func (b *Bot) Capabilities(chat.Conversation) chat.Capabilities {
	f := b.features
	return chat.Capabilities{
		Edits: f.Edits, EditEvery: f.EditEvery, Cards: f.Cards, Threads: true, Ephemeral: f.Ephemeral,
		Nonce: f.Nonce, NonceFor: f.NonceFor, LookBack: f.LookBack, TextLimit: f.TextLimit, SendTimeout: f.SendTimeout,
	}
}

func or[T comparable](v, otherwise T) T {
	var zero T
	if v == zero {
		return otherwise
	}
	return v
}

func (b *Bot) observe(s Stage, in *chat.Inbound) {
	if b.opt.Observe != nil {
		b.opt.Observe(s, in)
	}
}
