package service

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"time"

	"herald/bots/slack"
	"herald/config"
	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/intake"
	"herald/core/store"
)

// SlackRoute is where Slack's requests are taken when events come over HTTP.
const SlackRoute = "POST /slack/events"

// slackOptions are the adapter's options as the configuration names them, without a receiver.
func slackOptions(cfg *config.Config) slack.Options {
	c := cfg.Slack
	o := slack.Options{
		Mode: slack.Mode(c.Mode), BotToken: c.BotToken.Reveal(), AppToken: c.AppToken.Reveal(), SigningSecret: c.SigningSecret.Reveal(),
		APIURL: c.APIURL, Threads: slack.Threads(c.Threads), ChannelThreads: map[string]slack.Threads{},
	}
	for channel, policy := range c.ChannelThreads() {
		o.ChannelThreads[channel] = slack.Threads(policy)
	}
	return o
}

// slack is the platform that the configuration connects; false when it connects none.
func (s *Service) slack() (Platform, bool) {
	if !s.cfg.Slack.Enabled() {
		return Platform{}, false
	}
	return Platform{Name: slack.Platform, Open: func(r chat.Receiver) (Connection, error) {
		o := slackOptions(s.cfg)
		o.Receiver, o.Sentence, o.Log = r, intake.Sentence, s.log
		o.Joined, o.Active = SlackJoined(s.store), SlackActive(s.store)
		o.Count = func(what string) { s.metrics.platform.WithLabelValues(string(slack.Platform), what).Inc() }
		return slack.New(o)
	}}, true
}

// CheckSlack asks Slack whether everything is as Herald needs it; nothing when the configuration connects no Slack.
func CheckSlack(ctx context.Context, cfg *config.Config) Checks {
	if !cfg.Slack.Enabled() {
		return nil
	}
	o := slackOptions(cfg)
	o.Receiver = noReceiver{}
	a, err := slack.New(o)
	if err != nil {
		return Checks{{Name: "slack", Status: Bad, Text: err.Error(), Remedy: "correct [slack] in the configuration"}}
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	var out Checks
	for _, f := range a.Check(ctx) {
		status := map[slack.Grade]Status{slack.Fine: Good, slack.Doubt: Warn, slack.Trouble: Bad}[f.Grade]
		out = append(out, Check{Name: "slack", Status: status, Text: f.Text, Remedy: f.Remedy})
	}
	return out
}

// noReceiver is for an adapter that takes no events.
type noReceiver struct{}

func (noReceiver) Receive(context.Context, *chat.Inbound) (chat.Outcome, error) {
	return "", errors.New("this adapter takes no events")
}

// SlackJoined asks a store for the part that Herald takes in a conversation: whether a message of it was taken in, or a session stands, and
// what was chosen about its threads.
func SlackJoined(st store.Store) func(context.Context, chat.Conversation) (slack.Part, error) {
	return func(ctx context.Context, c chat.Conversation) (slack.Part, error) {
		p := conversation.Partition(c)
		as, err := st.Read(ctx, append([]store.Query{
			store.Get{Partition: p, Key: conversation.CurrentKey},
			store.Scores{Partition: p, Index: conversation.Dedupe, Max: maxScore, Limit: 1},
		}, command.ThreadQueries(c)...)...)
		if err != nil {
			return slack.Part{}, err
		}
		_, open := as[0].Doc()
		chosen, err := command.ThreadPolicy(as[2:])
		return slack.Part{In: open || len(as[1].Scored) > 0, Threads: slack.Threads(chosen)}, err
	}
}

// threadsCommand is the command that chooses which messages of threads are for Herald.
func (s *Service) threadsCommand() command.Spec {
	return command.Threads(s.store, func(c chat.Conversation) (string, bool) {
		if c.Workspace.Platform() != slack.Platform || strings.HasPrefix(c.Channel, "D") {
			return "", false
		}
		return cmp.Or(s.cfg.Slack.ChannelThreads()[c.Channel], s.cfg.Slack.Threads), true
	})
}

// SlackActive asks a store for Slack's conversations in which something was written since an instant. Those of tasks are Herald's own: Slack
// knows nothing of them.
func SlackActive(st store.Store) func(context.Context, time.Time) ([]slack.Active, error) {
	return func(ctx context.Context, since time.Time) ([]slack.Active, error) {
		var out []slack.Active
		for b := range store.Buckets {
			stamps, err := st.Partitions(ctx, b, store.Stamp{At: since}, 0)
			if err != nil {
				return nil, err
			}
			for _, x := range stamps {
				if c, ok := conversation.Of(x.Partition); ok && c.Workspace.Platform() == slack.Platform && !conversation.IsTask(c) {
					out = append(out, slack.Active{Conversation: c, Last: x.At})
				}
			}
		}
		return out, nil
	}
}

// maxScore is above every instant that an index is scored by.
const maxScore = 1e18

// readier is a connection that knows whether events reach it.
type readier interface{ Ready() error }

// taker is a connection whose platform sends requests to it.
type taker interface{ Handler() http.Handler }

// mount adds the routes by which platforms reach their connections.
func (s *Service) mount(mux *http.ServeMux) {
	for _, c := range s.runs {
		if t, ok := c.(taker); ok && s.cfg.Slack.Mode == string(slack.HTTP) {
			mux.Handle(SlackRoute, t.Handler())
		}
	}
}

// policy is what holds for taking events in, by the platform of a workspace.
func (s *Service) policy(base intake.Policy) func(chat.Workspace) intake.Policy {
	bots := intake.BotPolicy(s.cfg.Slack.Bots)
	return func(w chat.Workspace) intake.Policy {
		p := base
		if w.Platform() == slack.Platform {
			p.Bots, p.Greet, p.Threadless = bots, s.cfg.Slack.Introduce, true
			p.Mark, p.SlashMark = slack.CommandMark, slack.SlashMark
		}
		return p
	}
}
