package slack

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

const (
	identityMethod = "auth.test"
	listMethod     = "conversations.list"
	infoMethod     = "conversations.info"
)

// Grade is how grave a finding is.
type Grade string

// The grades.
const (
	Fine    Grade = "fine"
	Doubt   Grade = "doubt" // it works, but perhaps not as meant
	Trouble Grade = "trouble"
)

// Finding is what [Adapter.Check] found about one thing.
type Finding struct {
	Grade Grade
	// Text says what is so, Remedy what to do; Remedy is empty when all is fine. Neither holds a secret.
	Text, Remedy string
}

// Check asks Slack whether everything is as Herald needs it: the token, its scopes, the way in, and the channels. It takes no events and needs no [Adapter.Run].
func (a *Adapter) Check(ctx context.Context) []Finding {
	var who struct {
		Team   string `json:"team"`
		TeamID string `json:"team_id"`
		User   string `json:"user"`
	}
	head, err := a.callHeader(ctx, a.opt.BotToken, identityMethod, nil, &who)
	if err != nil {
		return []Finding{trouble(err, "put the bot token of the app into the variable that slack.bot_token_env names")}
	}
	out := []Finding{{Fine, fmt.Sprintf("the token is valid: %s in %s (%s)", who.User, firstOf(who.Team, "the workspace"), workspace(who.TeamID)), ""}}
	out = append(out, checkScopes(head.Get("X-OAuth-Scopes"))...)
	out = append(out, a.checkWay(ctx))
	return append(out, a.checkChannels(ctx)...)
}

func trouble(err error, remedy string) Finding { return Finding{Trouble, err.Error(), remedy} }

// checkScopes compares the scopes that a token has with those that are needed; has is Slack's list.
func checkScopes(has string) []Finding {
	if has == "" {
		return []Finding{{Doubt, "Slack does not say which scopes the token has", "compare them with the manifest of the app"}}
	}
	var out []Finding
	for _, s := range missingScopes(has) {
		out = append(out, Finding{Trouble, fmt.Sprintf("the scope %s is missing, so this does not work: %s", s.Name, s.Why), "add it under OAuth & Permissions of the app, install the app again, and give Herald the new token"})
	}
	if out == nil {
		out = []Finding{{Fine, fmt.Sprintf("all %d scopes are granted", len(BotScopes())), ""}}
	}
	return out
}

// missingScopes are those that are needed and that Slack's list does not name; none where there is no list.
func missingScopes(has string) (out []Scope) {
	if has == "" {
		return nil
	}
	var granted []string
	for s := range strings.SplitSeq(has, ",") {
		granted = append(granted, strings.TrimSpace(s))
	}
	for _, s := range BotScopes() {
		if !slices.Contains(granted, s.Name) {
			out = append(out, s)
		}
	}
	return out
}

// checkWay looks at how events come. It asks for a connection and does not open it: an open one would be sent events that the service waits for.
func (a *Adapter) checkWay(ctx context.Context) Finding {
	if a.opt.Mode == HTTP {
		return Finding{Fine, "events come as signed requests; whether Slack reaches this machine is shown under Event Subscriptions of the app", ""}
	}
	var answer struct {
		URL string `json:"url"`
	}
	if err := a.call(ctx, a.opt.AppToken, openMethod, nil, &answer); err != nil {
		return trouble(err, "make an app-level token with the scope "+AppScope+" under Basic Information of the app, and switch Socket Mode on")
	}
	if u, err := url.Parse(answer.URL); err != nil || u.Host == "" {
		return Finding{Trouble, "Slack gives no address for Socket Mode", "switch Socket Mode on in the app's settings"}
	}
	return Finding{Fine, "Socket Mode gives a connection", ""}
}

// checkChannels looks where the app is a member, and whether it is where the configuration speaks of.
func (a *Adapter) checkChannels(ctx context.Context) []Finding {
	type channel struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		Member   bool   `json:"is_member"`
		Archived bool   `json:"is_archived"`
	}
	var page struct {
		Channels []channel `json:"channels"`
	}
	args := url.Values{"types": {"public_channel,private_channel"}, "exclude_archived": {"true"}, "limit": {"999"}}
	if err := a.call(ctx, a.opt.BotToken, listMethod, args, &page); err != nil {
		return []Finding{trouble(err, "see the message; direct messages work all the same")}
	}
	var in []string
	for _, c := range page.Channels {
		if c.Member {
			in = append(in, "#"+c.Name)
		}
	}
	out := []Finding{{Fine, fmt.Sprintf("Herald is in %d channels: %s", len(in), cutRunes(strings.Join(in, ", "), shortText)), ""}}
	if len(in) == 0 {
		out = []Finding{{Doubt, "Herald is in no channel", "write /invite @herald in a channel; direct messages work all the same"}}
	}
	for _, id := range slices.Sorted(maps.Keys(a.opt.ChannelThreads)) {
		var answer struct {
			Channel channel `json:"channel"`
		}
		err := a.call(ctx, a.opt.BotToken, infoMethod, url.Values{"channel": {id}}, &answer)
		switch {
		case err != nil:
			out = append(out, Finding{Trouble, fmt.Sprintf("slack.thread_channels names %s: %s", id, err), "correct the id, or invite Herald to the channel"})
		case answer.Channel.Archived:
			out = append(out, Finding{Doubt, fmt.Sprintf("slack.thread_channels names #%s, which is archived", answer.Channel.Name), "take it out of slack.thread_channels"})
		case !answer.Channel.Member:
			out = append(out, Finding{Doubt, fmt.Sprintf("slack.thread_channels names #%s, in which Herald is not", answer.Channel.Name), "write /invite @herald there"})
		}
	}
	return out
}

// callHeader is call that gives the header of the answer, too.
func (a *Adapter) callHeader(ctx context.Context, token, method string, args url.Values, out any) (http.Header, error) {
	var head http.Header
	err := a.exchange(ctx, token, method, args, out, func(h http.Header) { head = h })
	return head, err
}
