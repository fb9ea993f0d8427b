package demo

import (
	"context"
	"fmt"
	"strings"
	"time"

	"herald/bots/bottest/slackfake"
)

// slackEnv connects the service to the demo's own Slack. Its tokens open nothing else.
func slackEnv(s *slackfake.Server) []string {
	return []string{
		"DEMO_SLACK_BOT_TOKEN=" + slackfake.BotToken, "DEMO_SLACK_APP_TOKEN=" + slackfake.AppToken,
		"HERALD_SLACK__BOT_TOKEN_ENV=DEMO_SLACK_BOT_TOKEN", "HERALD_SLACK__APP_TOKEN_ENV=DEMO_SLACK_APP_TOKEN", "HERALD_SLACK__API_URL=" + s.APIURL(), "HERALD_SLACK__INTRODUCE=false",
	}
}

// inSlack is a conversation in a Slack workspace: a mention opens a thread, the answer streams into it, and a reply needs no mention.
func (s *show) inSlack(ctx context.Context) error {
	s.say("\n5. Slack: a workspace of the demo's own, over its real protocol")
	wait := func(what string, cond func(slackfake.View) bool) error {
		ctx, cancel := context.WithTimeout(ctx, s.Wait)
		defer cancel()
		return s.slack.Wait(ctx, what, cond)
	}
	began := time.Now()
	root := s.slack.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> please tell me a story"})
	s.say("   #general  alice  › @herald please tell me a story")
	parts, text := 0, ""
	err := wait("an answer in the thread", func(v slackfake.View) bool {
		for _, m := range v.Said(root.Channel, root.TS) {
			parts, text = m.Appends, m.Text
			return strings.HasSuffix(text, story) && m.Stream != slackfake.Streaming
		}
		return false
	})
	if err != nil {
		return err
	}
	s.say("     in a thread  Herald › %s   [%s, streamed in %d parts]", strings.ReplaceAll(text, "\n", " "), round(time.Since(began)), parts)
	began = time.Now()
	s.slack.Say(slackfake.Say{Thread: root.TS, User: slackfake.Bob, Text: "and what day is it?"})
	s.say("     in the thread  bob  › and what day is it?")
	if err := wait("an answer to the reply", func(v slackfake.View) bool {
		all := v.Said(root.Channel, root.TS)
		if len(all) > 1 {
			text = all[1].Text
		}
		return len(all) > 1 && strings.Contains(text, time.Now().UTC().Format("2006"))
	}); err != nil {
		return err
	}
	s.say("     in the thread  Herald › %s   [%s]", strings.ReplaceAll(text, "\n", " "), round(time.Since(began)))
	s.slack.Command(slackfake.Command{User: slackfake.Bob, Text: "status"})
	if err := wait("an answer to the command", func(v slackfake.View) bool { return len(v.Whispers(slackfake.General, slackfake.Bob)) > 0 }); err != nil {
		return err
	}
	s.say("   ✓ /herald status was answered to bob alone")
	n, public := 0, 0
	s.slack.Look(func(v slackfake.View) {
		n, public = len(v.Said(root.Channel, root.TS)), len(v.Said(root.Channel, ""))
	})
	if n != 2 || public != 0 {
		return fmt.Errorf("%d answers stand in the thread and %d in the channel; two and none belong there", n, public)
	}
	s.say("   ✓ two answers stand in the thread, none in the channel")
	return nil
}
