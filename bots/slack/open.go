package slack

import (
	"context"
	"net/url"
	"strings"

	"herald/core/chat"
)

const openDirectMethod = "conversations.open"

// Open implements [chat.Opener].
func (a *Adapter) Open(ctx context.Context, id chat.IdentityID) (chat.Conversation, error) {
	w := a.Workspace()
	if w == "" {
		return chat.Conversation{}, &chat.Outage{Reason: "Slack has not said yet which workspace this is", NotSent: true}
	}
	if !strings.HasPrefix(string(id), string(w)+"/") {
		return chat.Conversation{}, &chat.Refused{Code: "other_workspace", Reason: "the account is not one of the workspace that Herald is connected to"}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	var answer struct {
		Channel struct {
			ID string `json:"id"`
		} `json:"channel"`
	}
	if err := a.call(ctx, a.opt.BotToken, openDirectMethod, url.Values{"users": {userOf(id)}}, &answer); err != nil {
		return chat.Conversation{}, err
	}
	if answer.Channel.ID == "" {
		return chat.Conversation{}, &chat.Outage{Reason: "call conversations.open of Slack: its answer names no channel", NotSent: true}
	}
	return chat.Conversation{Workspace: w, Channel: answer.Channel.ID}, nil
}

// MissingScopes asks Slack which of [BotScopes] the token lacks; nil where Slack does not say.
func (a *Adapter) MissingScopes(ctx context.Context) ([]Scope, error) {
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	head, err := a.callHeader(ctx, a.opt.BotToken, identityMethod, nil, &struct{}{})
	if err != nil {
		return nil, err
	}
	return missingScopes(head.Get("X-OAuth-Scopes")), nil
}
