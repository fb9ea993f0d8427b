package slack

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"strings"
	"sync/atomic"
	"time"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

// Platform is the part before the colon of Slack's workspaces.
const Platform chat.Platform = "slack"

// DefaultAPIURL is where Slack's Web API is.
const DefaultAPIURL = "https://slack.com/api/"

// Mode is how events come.
type Mode string

// The modes.
const (
	Socket Mode = "socket" // over WebSockets that the adapter opens
	HTTP   Mode = "http"   // as signed requests to [Adapter.Handler]
)

// Threads says when a message of a thread that Herald takes part in is for Herald.
type Threads string

// The policies for threads.
const (
	ThreadsAlways  Threads = "always"  // each message, except one that mentions somebody else and not Herald
	ThreadsMention Threads = "mention" // only one that mentions Herald
)

// Options of an adapter. BotToken and Receiver are needed; Socket Mode needs AppToken, HTTP needs SigningSecret.
type Options struct {
	Mode          Mode // Socket when empty
	BotToken      string
	AppToken      string
	SigningSecret string
	// APIURL is the root of the Web API; [DefaultAPIURL] when empty.
	APIURL string
	// Threads is the policy for threads, ThreadsAlways when empty; ChannelThreads replaces it for single channels, by their ids.
	Threads        Threads
	ChannelThreads map[string]Threads
	Receiver       chat.Receiver
	// Joined says which part Herald takes in a thread. It is asked for messages of threads that do not mention Herald; nil means
	// that it takes part in none.
	Joined func(ctx context.Context, c chat.Conversation) (Part, error)
	// Active names the conversations in which something was kept since an instant. They are read back after a gap in which Slack may have given
	// events up; nil reads nothing back.
	Active func(ctx context.Context, since time.Time) ([]Active, error)
	// GapAfter is how long a gap must be for that, 6 min by default; the start counts as one. BackfillPace is the pause between two conversations,
	// 1.3 s by default.
	GapAfter, BackfillPace time.Duration
	// Sentence says to a person that an interaction failed; a text of the adapter's own when nil.
	Sentence func(error) string
	// Count is called once for each event that makes no message, command or click, with a word for it. It must not block.
	Count func(what string)
	// HTTP makes the calls; a client with timeouts and a pool of its own when nil.
	HTTP *http.Client
	// PingEvery is the pause between own pings; a connection on which nothing came in two such intervals is given up. 5 s by default.
	PingEvery time.Duration
	// Backoff is the first pause between attempts to connect, BackoffMax the longest; 500 ms and 30 s by default.
	Backoff, BackoffMax time.Duration
	// SlowProbe is the pause between attempts after Slack has switched the app or its workspace off; 5 min by default.
	SlowProbe time.Duration
	// Drain is how long an old connection may live on beside a new one; 10 s by default, which is Slack's own notice.
	Drain time.Duration
	// Lanes is how many conversations are handed on at the same time, Backlog how many events of one of them wait; 256 and 1,024 by default.
	Lanes, Backlog int
	// ShareWait is how long a file that was uploaded may take to appear in its conversation; 15 s by default.
	ShareWait time.Duration
	// Now is the clock for orders of interactions and signatures, Random spreads pauses; those of the machine when nil.
	Now    func() time.Time
	Random func() float64
	// Log takes what a person does not see, never texts or tokens; discarded when nil.
	Log *slog.Logger
}

// Part is the part that Herald takes in a thread.
type Part struct {
	// In: a message of it was taken in.
	In bool
	// Threads is what people chose for the thread or its channel; what is configured holds where it is empty.
	Threads Threads
}

// Adapter is Slack as core sees it. It implements [chat.Adapter].
type Adapter struct {
	opt   Options
	api   *slackgo.Client
	http  *http.Client
	log   *slog.Logger
	who   atomic.Pointer[self]
	state state
	// dead is why the bot's token is of no use any more.
	dead atomic.Pointer[string]
	// responses are the response_urls of interactions that are under way.
	responses *responses
	streams   *streams
	surfaces  *surfaces
	names     *names
	audiences audiences
	twins     twins
	sides     chan struct{} // one place for each call beside the answers
	lanes     *lanes
	clicks    chan struct{} // one place for each interaction under way
}

var (
	_ chat.Adapter = (*Adapter)(nil)
	_ chat.Fetcher = (*Adapter)(nil)
	_ chat.Opener  = (*Adapter)(nil)
)

// self is the app as its workspace knows it.
type self struct {
	workspace       chat.Workspace
	team, user, bot string
	name, teamName  string
}

// New makes an adapter; it makes no call.
func New(opt Options) (*Adapter, error) {
	opt.Mode = cmp.Or(opt.Mode, Socket)
	opt.Threads = cmp.Or(opt.Threads, ThreadsAlways)
	switch {
	case opt.Receiver == nil:
		return nil, errors.New("make the Slack adapter: it has no receiver")
	case opt.BotToken == "":
		return nil, errors.New("make the Slack adapter: it has no bot token")
	case opt.Mode == Socket && opt.AppToken == "":
		return nil, errors.New("make the Slack adapter: Socket Mode needs an app-level token")
	case opt.Mode == HTTP && opt.SigningSecret == "":
		return nil, errors.New("make the Slack adapter: events over HTTP need the app's signing secret")
	case opt.Mode != Socket && opt.Mode != HTTP:
		return nil, fmt.Errorf("make the Slack adapter: the mode %q is neither socket nor http", opt.Mode)
	}
	opt.APIURL = strings.TrimRight(cmp.Or(opt.APIURL, DefaultAPIURL), "/") + "/"
	opt.PingEvery = cmp.Or(opt.PingEvery, 5*time.Second)
	opt.Backoff = cmp.Or(opt.Backoff, 500*time.Millisecond)
	opt.BackoffMax = cmp.Or(opt.BackoffMax, 30*time.Second)
	opt.SlowProbe = cmp.Or(opt.SlowProbe, 5*time.Minute)
	opt.Drain = cmp.Or(opt.Drain, 10*time.Second)
	opt.Lanes = cmp.Or(opt.Lanes, 256)
	opt.Backlog = cmp.Or(opt.Backlog, 1024)
	opt.GapAfter = cmp.Or(opt.GapAfter, retriesEnd)
	opt.BackfillPace = cmp.Or(opt.BackfillPace, backfillPace)
	opt.ShareWait = cmp.Or(opt.ShareWait, 15*time.Second)
	if opt.HTTP == nil {
		opt.HTTP = NewHTTPClient()
	}
	if opt.Now == nil {
		opt.Now = time.Now
	}
	if opt.Random == nil {
		opt.Random = rand.Float64
	}
	if opt.Log == nil {
		opt.Log = slog.New(slog.DiscardHandler)
	}
	if opt.Count == nil {
		opt.Count = func(string) {}
	}
	if opt.Joined == nil {
		opt.Joined = func(context.Context, chat.Conversation) (Part, error) { return Part{}, nil }
	}
	if opt.Sentence == nil {
		opt.Sentence = func(error) string { return textFailed }
	}
	a := &Adapter{opt: opt, http: opt.HTTP, log: opt.Log, responses: newResponses(opt.Now), streams: newStreams(opt.Now), surfaces: newSurfaces(), names: newNames(opt.Now), sides: make(chan struct{}, asides), clicks: make(chan struct{}, maxClicks)}
	a.api = slackgo.New(opt.BotToken, slackgo.OptionHTTPClient(opt.HTTP), slackgo.OptionAPIURL(opt.APIURL))
	a.lanes = newLanes(opt.Lanes, opt.Backlog, a.log)
	return a, nil
}

// Run hands events on until ctx ends; then it returns nil when all that was begun has ended. An error says that Slack will not let the app in
// before an operator changes something; it is returned only when the app never was in. Later the adapter stays, and [Adapter.Ready] says why.
func (a *Adapter) Run(ctx context.Context) error {
	lctx, stop := context.WithCancel(ctx)
	defer func() {
		stop()
		a.lanes.end()
		a.state.set(errStopped)
	}()
	a.lanes.begin(lctx)
	if err := a.introduce(ctx); err != nil || ctx.Err() != nil {
		return err
	}
	if a.opt.Mode == Socket {
		return a.supervise(ctx)
	}
	a.state.set(nil)
	a.lanes.spawn(a.backfillAtStart)
	<-ctx.Done()
	return nil
}

// introduce asks Slack who the app is, until it says so.
func (a *Adapter) introduce(ctx context.Context) error {
	for n := 0; ; n++ {
		err := a.identify(ctx)
		if err == nil || ctx.Err() != nil {
			return nil
		}
		if o, ok := errors.AsType[*chat.Outage](err); ok && o.Dead {
			a.state.set(err)
			return fmt.Errorf("connect to Slack: %w", err)
		}
		a.state.set(err)
		pause := a.pause(n, err)
		a.log.Warn("Slack does not say who the app is; it is asked again", "error", err, "pause", pause)
		if !sleep(ctx, pause) {
			return nil
		}
	}
}

func (a *Adapter) identify(ctx context.Context) error {
	r, err := a.api.AuthTestContext(ctx)
	if err != nil {
		return a.failed(ctx, identityMethod, err)
	}
	if r.TeamID == "" || r.UserID == "" {
		return &chat.Outage{Reason: "call auth.test of Slack: its answer names no team or no user"}
	}
	a.who.Store(&self{workspace: workspace(r.TeamID), team: r.TeamID, user: r.UserID, bot: r.BotID, name: r.User, teamName: r.Team})
	return nil
}

// Workspace is the one that the token belongs to; "" before Slack has said so.
func (a *Adapter) Workspace() chat.Workspace {
	if w := a.who.Load(); w != nil {
		return w.workspace
	}
	return ""
}

// Ready says why events do not come or deliveries cannot go out; nil when all is well. It asks nobody.
func (a *Adapter) Ready() error {
	if why := a.dead.Load(); why != nil {
		return errors.New(*why)
	}
	return a.state.get()
}

// pause is the pause before attempt n (from 0), not shorter than what Slack demanded.
func (a *Adapter) pause(n int, err error) time.Duration {
	d := min(a.opt.Backoff<<min(n, 16), a.opt.BackoffMax)
	d = d/2 + time.Duration(a.opt.Random()*float64(d/2))
	if o, ok := errors.AsType[*chat.Outage](err); ok {
		d = max(d, o.RetryAfter)
	}
	return d
}

// sleep waits; false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}
