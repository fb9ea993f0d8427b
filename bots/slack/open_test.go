package slack_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

func TestOpen(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	a, err := slack.New(options(t, s, &inbox{}))
	if err != nil {
		t.Fatal(err)
	}
	id := chat.IdentityID("slack:" + slackfake.Team + "/" + slackfake.Bob)
	if _, err := a.Open(t.Context(), id); err == nil {
		t.Error("it opens before Slack has said who the app is")
	}
	f := connect(t, s, options(t, s, &inbox{}))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	for f.adapter.Ready() != nil && ctx.Err() == nil {
		time.Sleep(time.Millisecond)
	}
	c, err := f.adapter.Open(t.Context(), id)
	if err != nil || !strings.HasPrefix(c.Channel, "D") || c.Thread != "" || c.Workspace != "slack:"+slackfake.Team {
		t.Errorf("it opens %+v, %v", c, err)
	}
	if again, _ := f.adapter.Open(t.Context(), id); again != c {
		t.Errorf("the second time it opens %+v", again)
	}
	for _, other := range []chat.IdentityID{"slack:TOTHER/U1", "console:local/me"} {
		_, err := f.adapter.Open(t.Context(), other)
		if no, ok := errors.AsType[*chat.Refused](err); !ok || no.Code != "other_workspace" {
			t.Errorf("%s: %v", other, err)
		}
	}
	if _, err := f.adapter.Open(t.Context(), "slack:"+slackfake.Team+"/UNOBODY"); err == nil {
		t.Error("a person who does not exist has direct messages")
	}
	s.SetScopes(slackfake.BotToken, granted("im:write", "files:read"))
	if missing, err := f.adapter.MissingScopes(t.Context()); err != nil || len(missing) != 2 || missing[0].Name != "files:read" && missing[0].Name != "im:write" {
		t.Errorf("missing are %+v, %v", missing, err)
	}
	if _, err = f.adapter.Open(t.Context(), id); err == nil {
		t.Error("without the scope it opens")
	}
	if o, ok := errors.AsType[*chat.Outage](err); !ok || !strings.Contains(o.Reason, "im:write") {
		t.Errorf("without the scope the error is %v", err)
	}
	if err := f.adapter.Ready(); err != nil {
		t.Errorf("a missing scope made the token count as dead: %v", err)
	}
}
