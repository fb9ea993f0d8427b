package slack_test

import (
	"context"
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

func TestAssistantThread(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{App: slackfake.App{AssistantView: true}})
	r := &inbox{}
	opt := options(t, s, r)
	opt.Joined = func(context.Context, chat.Conversation) (bool, error) { return len(r.texts()) > 0, nil }
	f := connect(t, s, opt)
	f.connected(1)
	told := s.OpenAssistant(slackfake.Alice, "")
	thread := func(v slackfake.View) slackfake.Thread { return v.Thread(told.Channel, told.Thread) }
	f.wait("prompts are proposed", func(v slackfake.View) bool { return strings.Contains(string(thread(v).Prompts), "What can you do?") })
	s.Say(slackfake.Say{Channel: told.Channel, Thread: told.Thread, Text: "Plan a trip\nto the sea"})
	f.wait("status and title are set", func(v slackfake.View) bool {
		return thread(v).Status != "" && thread(v).Title == "Plan a trip"
	})
	in := r.got[len(r.got)-1]
	send(t, f.adapter, &chat.Post{Conversation: in.Conversation, DeliveryID: "d", Text: "Gladly."})
	f.wait("the status is gone", func(v slackfake.View) bool { return thread(v).Status == "" })
	s.Say(slackfake.Say{Channel: told.Channel, Thread: told.Thread, Text: "Another word"})
	f.wait("the status is back", func(v slackfake.View) bool { return thread(v).Status != "" })
	f.server.Look(func(v slackfake.View) {
		if got := thread(v).Title; got != "Plan a trip" {
			t.Errorf("a later message changed the title to %q", got)
		}
	})
}

func TestAgentSessionStopped(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{App: slackfake.App{AgentView: true}})
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	p := asked(t, s, f)
	receipt := send(t, f.adapter, p)
	told, err := s.StopStream(p.Conversation.Channel, receipt.MessageID, slackfake.Alice)
	if err != nil {
		t.Fatal(err)
	}
	f.wait("the stop is acknowledged", func(v slackfake.View) bool { return len(told.Events) == 1 && v.Acked(told.Events...) })
	r.mu.Lock()
	defer r.mu.Unlock()
	last := r.got[len(r.got)-1]
	if last.Kind != chat.Command || last.Text != "stop" || last.Conversation != p.Conversation || last.Sender.Identity != "slack:T0LAB/U0ALICE" {
		t.Errorf("received %+v, want the command stop in the thread", last)
	}
}
