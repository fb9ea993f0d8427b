package slackfake

import (
	"log/slog"
	"time"
)

// The world that stands in each server unless [Options.Bare] is set: a workspace with three members, two channels in which the bot is a
// member, and one app installed in it.
const (
	Team    = "T0LAB"
	AppID   = "A0HERALD"
	BotUser = "U0BOT"
	BotID   = "B0BOT"
	General = "C0GENERAL"
	Random  = "C0RANDOM"
	Alice   = "U0ALICE"
	Bob     = "U0BOB"
	Carol   = "U0CAROL"

	BotToken      = "xoxb-lab-1"
	AppToken      = "xapp-lab-1"
	SigningSecret = "lab-signing-secret"
)

// Options of a server. The zero value is a Slack with its documented times, without rate limits.
type Options struct {
	// App changes the app of the standing world; its empty fields get the package's constants.
	App App
	// Bare leaves out the standing world; make one with [Server.AddWorkspace] and its like.
	Bare bool
	// Speed divides the default of every duration below; 1 by default. A duration that is given is taken as it is.
	Speed float64
	// AckTimeout is how long an event waits for its acknowledgement; 3 s.
	AckTimeout time.Duration
	// RetryAfter are the pauses before the retries of an event that was not acknowledged; 0, 1 and 5 minutes. After the last it is given up.
	RetryAfter []time.Duration
	// Patient lets an event that finds no socket wait for one, and one whose socket broke go to the next, without using up an attempt.
	Patient bool
	// PingEvery is the pause between the server's pings; 10 s. ConnectionTime is how long a socket stands before it is refreshed;
	// 18,060 s (360 s when the app asks for debug_reconnects). Notice is the time between a warning and the end of its socket; 10 s.
	PingEvery, ConnectionTime, Notice time.Duration
	// MaxSockets is how many connections an app may hold; 10.
	MaxSockets int
	// TriggerTTL is how long a trigger_id holds; 3 s.
	TriggerTTL time.Duration
	// ResponseTTL is how long a response_url holds; 30 minutes.
	ResponseTTL time.Duration
	// StreamLife is how long a stream may be written; 5 minutes.
	StreamLife time.Duration
	// ShareDelay is the pause between files.completeUploadExternal and the share; 50 ms.
	ShareDelay time.Duration
	// StatusLife is how long an assistant's status stands; 2 minutes.
	StatusLife time.Duration
	// Pace turns the rate limits on.
	Pace Pace
	// Silent apps hear nothing of their own posts and edits. Slack echoes them.
	Silent bool
	// NoRichText leaves the rich_text block out of people's messages, as old clients do.
	NoRichText bool
	// Latency is added to each call.
	Latency time.Duration
	// Lean forgets the payloads of acknowledged events and the arguments of calls: for long measurements. [Server.Again] then
	// works on events that are not acknowledged only.
	Lean bool
	// Observe, when set, is called at each stage of each call, outside of locks and before the app has its answer: the place
	// for a test to kill the app. It must not call [Server.Close].
	Observe func(Stage, Call)
	// Log takes what goes wrong in the server itself; discarded by default.
	Log *slog.Logger
}

// Pace is the rate limits that hold.
type Pace struct {
	// PerChannel is the pause between posts in one channel, after Burst posts at once; 0 means no limit.
	PerChannel time.Duration
	Burst      int
	// Tiers holds methods to the calls a minute of their tier.
	Tiers bool
}

func (o Options) withDefaults() Options {
	if o.Speed <= 0 {
		o.Speed = 1
	}
	scaled := func(d *time.Duration, standard time.Duration) {
		if *d == 0 {
			*d = time.Duration(float64(standard) / o.Speed)
		}
	}
	scaled(&o.AckTimeout, 3*time.Second)
	scaled(&o.PingEvery, 10*time.Second)
	scaled(&o.ConnectionTime, 18060*time.Second)
	scaled(&o.Notice, 10*time.Second)
	scaled(&o.TriggerTTL, 3*time.Second)
	scaled(&o.ResponseTTL, 30*time.Minute)
	scaled(&o.StreamLife, 5*time.Minute)
	scaled(&o.ShareDelay, 50*time.Millisecond)
	scaled(&o.StatusLife, 2*time.Minute)
	if o.RetryAfter == nil {
		for _, d := range []time.Duration{0, time.Minute, 5 * time.Minute} {
			o.RetryAfter = append(o.RetryAfter, time.Duration(float64(d)/o.Speed))
		}
	}
	if o.MaxSockets == 0 {
		o.MaxSockets = 10
	}
	if o.Pace.Burst == 0 {
		o.Pace.Burst = 3
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

// Call is one call of a Web API method.
type Call struct {
	Method  string
	App     string
	Team    string
	Channel string
	Thread  string
	// TS is the message of an update or delete, and of a post once applied.
	TS   string
	Args map[string]string
}
