package slack

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"net/url"
	"slices"
	"time"

	"herald/core/chat"
)

const (
	botsMethod = "bots.info"
	// retriesEnd is when Slack has sent an event for the last time, with a margin: after a longer gap it must be asked.
	retriesEnd = 6 * time.Minute
	// backfillSpan is how far back is read: what is older than a day is not taken in any more.
	backfillSpan = 23 * time.Hour
	// backfillPlaces is how many conversations are read back, backfillMessages how many messages of each; what is left out is reported.
	backfillPlaces   = 50
	backfillMessages = 200
	// backfillChannels is how many channels, direct messages and threads that were opened there are looked through, backfillLook how many messages of
	// each channel.
	backfillChannels = 100
	backfillLook     = 1000
	// startMargin is how long before the last thing that was kept a gap may have begun.
	startMargin = 10 * time.Minute
	// backfillPace keeps below Slack's 50 calls a minute.
	backfillPace = 1300 * time.Millisecond
	// backfillTries is how often a call or a hand-over is tried.
	backfillTries = 5
)

// Active is a conversation in which something was kept.
type Active struct {
	Conversation chat.Conversation
	// Last is when something was last written there.
	Last time.Time
}

// gap is a time in which no event could come.
type gap struct {
	// since is its beginning; the zero time means the start of the process, before which nothing is known.
	since time.Time
	// from is where channels are read back from, the zero time when nothing is known of before.
	from time.Time
	// places stood when it ended, newest first.
	places []Active
}

// atStart is the gap that the start of the process ends. It is called before the first event can come.
func (a *Adapter) atStart(ctx context.Context) *gap {
	g := &gap{places: a.places(ctx, a.opt.Now().Add(-backfillSpan))}
	switch {
	case len(g.places) > 0:
		g.from = g.places[0].Last.Add(-startMargin)
	case len(a.places(ctx, time.Unix(1, 0))) > 0: // nobody spoke for a day, or nobody was heard
		g.from = a.opt.Now().Add(-backfillSpan)
	}
	return g
}

// places asks for the conversations in which something was kept since an instant, newest first.
func (a *Adapter) places(ctx context.Context, since time.Time) []Active {
	if a.opt.Active == nil {
		return nil
	}
	all, err := a.opt.Active(ctx, since)
	if err != nil {
		a.opt.Count("backfill_failed")
		a.log.Warn("after a gap Slack cannot be asked for what was said meanwhile: the conversations are not known", "error", err)
		return nil
	}
	slices.SortFunc(all, func(x, y Active) int {
		return cmp.Or(y.Last.Compare(x.Last), cmp.Compare(x.Conversation.Key(), y.Conversation.Key()))
	})
	return all
}

// backfill reads conversations back from what was last kept and hands on what was missed; the receiver knows what it has already. app is the
// id under which events come.
func (a *Adapter) backfill(ctx context.Context, app string, g gap) {
	who := a.who.Load()
	left := max(len(g.places)-backfillPlaces, 0)
	handed, failed := 0, 0
	read := map[chat.Conversation]bool{}
	for i, p := range g.places[:len(g.places)-left] {
		if p.Conversation.Workspace != who.workspace {
			continue
		}
		if i > 0 && !sleep(ctx, a.opt.BackfillPace) {
			return
		}
		read[p.Conversation] = true
		since := p.Last
		if !g.since.IsZero() && g.since.Before(since) {
			since = g.since
		}
		n, more, err := a.readBack(ctx, who, app, p.Conversation, since.Add(-clockSkew))
		handed += n
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
			a.opt.Count("backfill_failed")
			a.log.Warn("a conversation could not be read back after a gap; what was said there meanwhile may be missing", "conversation", p.Conversation.Key(), "error", err)
		case more:
			left++
		}
	}
	for range left {
		a.opt.Count("backfill_left_out")
	}
	if len(g.places) > 0 {
		a.log.Info("read conversations back after a gap", "conversations", len(g.places), "handed_on", handed, "failed", failed, "beyond_the_bound", left)
	}
	a.backfillOpened(ctx, who, app, g.from, read)
}

// backfillAtStart reads back where no connection says what the app's id is, under which its events come.
func (a *Adapter) backfillAtStart(ctx context.Context) {
	g := *a.atStart(ctx)
	if g.from.IsZero() {
		return
	}
	var answer struct {
		Bot struct {
			App string `json:"app_id"`
		} `json:"bot"`
	}
	for n := 0; ; n++ {
		err := a.call(ctx, a.opt.BotToken, botsMethod, url.Values{"bot": {a.who.Load().bot}}, &answer)
		if err == nil && answer.Bot.App != "" {
			break
		}
		if n == backfillTries || !sleep(ctx, a.pause(n, err)) {
			a.opt.Count("backfill_failed")
			a.log.Warn("after the start nothing can be read back: Slack does not say what the app's id is", "error", err)
			return
		}
	}
	a.backfill(ctx, answer.Bot.App, g)
}

// rewalk is walk, tried again as long as Slack does not refuse it and [backfillTries] leaves a try; begin is called before each.
func (a *Adapter) rewalk(ctx context.Context, c chat.Conversation, since time.Time, begin func(), each func(*message) bool) error {
	for n := 0; ; n++ {
		begin()
		err := a.walk(ctx, c, since, each)
		if _, no := errors.AsType[*chat.Refused](err); err == nil || no || n == backfillTries {
			return err
		}
		if !sleep(ctx, a.pause(n, err)) {
			return ctx.Err()
		}
	}
}

// readBack hands on what people wrote in a conversation since an instant, oldest first. more says that there is more than the bound.
func (a *Adapter) readBack(ctx context.Context, who *self, app string, c chat.Conversation, since time.Time) (handed int, more bool, err error) {
	var missed []message
	err = a.rewalk(ctx, c, since, func() { missed, more = missed[:0], false }, func(m *message) bool {
		if order(m.TS) < order(stamp(since)) || who.wrote(m) {
			return true
		}
		if len(missed) == backfillMessages {
			more = true
			return false
		}
		missed = append(missed, *m)
		return true
	})
	if ctx.Err() != nil {
		return 0, false, ctx.Err()
	}
	if err != nil {
		return 0, false, err
	}
	slices.SortFunc(missed, func(x, y message) int { return cmp.Compare(order(x.TS), order(y.TS)) })
	begin, err := a.partFrom(ctx, who, c, missed)
	if err != nil {
		return 0, more, err
	}
	for _, m := range missed {
		if order(m.TS) < begin {
			continue
		}
		if ok, err := a.handBack(ctx, who, app, c, m); err != nil {
			return handed, more, err
		} else if ok {
			handed++
		}
	}
	return handed, more, nil
}

// partFrom is the order of the message since which Herald takes part in a thread; "" where all of missed come after it. What people said among
// themselves before is not for it, although it takes part by now.
func (a *Adapter) partFrom(ctx context.Context, who *self, c chat.Conversation, missed []message) (begin string, err error) {
	if c.Thread == "" || len(missed) == 0 || tokens(missed[0].Text).mentions(who.user) {
		return "", nil
	}
	for n := 0; ; n++ {
		begin = ""
		err = a.walk(ctx, c, time.Time{}, func(m *message) bool {
			if !who.wrote(m) && !tokens(m.Text).mentions(who.user) {
				return true
			}
			begin = order(m.TS)
			return false
		})
		if _, no := errors.AsType[*chat.Refused](err); err == nil || no || n == backfillTries || !sleep(ctx, a.pause(n, err)) {
			return begin, err
		}
	}
}

// handBack hands a message on as if its event had come, behind those of its conversation that have.
func (a *Adapter) handBack(ctx context.Context, who *self, app string, c chat.Conversation, m message) (bool, error) {
	e := event{Type: "message", Channel: c.Channel, EventTS: m.TS, message: m}
	raw, err := json.Marshal(e)
	if err != nil {
		return false, err
	}
	r := a.read(who, &outer{Type: "event_callback", App: app, TeamID: who.team, Event: raw})
	if r.in == nil || r.in.Conversation != c {
		return false, nil
	}
	for n := 0; ; n++ {
		done := make(chan error, 1)
		a.lanes.add(job{
			where: c, do: func(ctx context.Context) { done <- a.hand(ctx, &r) },
			drop: func() { done <- errors.New("too many events of the conversation wait") },
		})
		select {
		case err = <-done:
		case <-ctx.Done():
			return false, ctx.Err()
		}
		if err == nil {
			a.opt.Count("backfilled")
			return true, nil
		}
		if n == backfillTries || !sleep(ctx, a.pause(n, err)) {
			return false, err
		}
	}
}
