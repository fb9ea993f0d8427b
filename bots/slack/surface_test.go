package slack_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

func TestAssistantThread(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{App: slackfake.App{AssistantView: true}})
	r := &inbox{}
	opt := options(t, s, r)
	opt.Joined = func(context.Context, chat.Conversation) (slack.Part, error) {
		return slack.Part{In: len(r.texts()) > 0}, nil
	}
	f := connect(t, s, opt)
	f.connected(1)
	told := s.OpenAssistant(slackfake.Alice, "")
	thread := func(v slackfake.View) slackfake.Thread { return v.Thread(told.Channel, told.Thread) }
	f.wait("prompts are proposed", func(v slackfake.View) bool { return strings.Contains(string(thread(v).Prompts), "What can you do?") })
	s.Say(slackfake.Say{Channel: told.Channel, Thread: told.Thread, Text: "Plan a trip\nto the sea"})
	f.wait("status and title are set", func(v slackfake.View) bool {
		return thread(v).Status != "" && thread(v).Title == "Plan a trip"
	})
	in := r.last(chat.Message)
	for deadline := within(t); f.adapter.StatusPending(in.Conversation) && deadline.Err() == nil; {
		<-time.After(time.Millisecond)
	}
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

// A status that lands after the answer is taken back.
func TestLateStatusIsTakenBack(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	var once sync.Once
	s := world(t, slackfake.Options{App: slackfake.App{AssistantView: true}, Observe: func(stage slackfake.Stage, c slackfake.Call) {
		if stage == slackfake.Arrived && c.Method == "assistant.threads.setStatus" && c.Args["status"] != "" {
			<-hold
		}
	}})
	defer once.Do(func() { close(hold) })
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	told := s.OpenAssistant(slackfake.Alice, "")
	f.wait("prompts are proposed", func(v slackfake.View) bool { return len(v.Thread(told.Channel, told.Thread).Prompts) > 0 })
	said := s.Say(slackfake.Say{Channel: told.Channel, Thread: told.Thread, Text: "Quick"})
	f.wait("the message is acknowledged and the status on its way", func(v slackfake.View) bool {
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.Called && rec.Method == "assistant.threads.setStatus" {
				return v.Acked(said.Events...)
			}
		}
		return false
	})
	c := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: told.Channel, Thread: told.Thread}
	send(t, f.adapter, &chat.Post{Conversation: c, DeliveryID: "d", Text: "Done."})
	once.Do(func() { close(hold) })
	f.wait("the last word about the status is that there is none", func(v slackfake.View) bool {
		sets, last := 0, ""
		for _, rec := range v.Journal() {
			if rec.Kind == slackfake.StatusSet {
				sets, last = sets+1, rec.Text
			}
		}
		return sets == 2 && last == ""
	})
}

// A take-back that comes late does not take the status of the next message.
func TestLateTakeBackLeavesTheNextStatus(t *testing.T) {
	t.Parallel()
	hold := make(chan struct{})
	var first, once sync.Once
	s := world(t, slackfake.Options{AckTimeout: 20 * time.Second, App: slackfake.App{AssistantView: true}, Observe: func(stage slackfake.Stage, c slackfake.Call) {
		if stage == slackfake.Arrived && c.Method == "assistant.threads.setStatus" {
			first.Do(func() { <-hold })
		}
	}})
	defer once.Do(func() { close(hold) })
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	told := s.OpenAssistant(slackfake.Alice, "")
	f.wait("prompts are proposed", func(v slackfake.View) bool { return len(v.Thread(told.Channel, told.Thread).Prompts) > 0 })
	say := func(text string) {
		said := s.Say(slackfake.Say{Channel: told.Channel, Thread: told.Thread, Text: text})
		f.wait(text+" is acknowledged", func(v slackfake.View) bool { return v.Acked(said.Events...) })
	}
	say("One")
	c := r.last(chat.Message).Conversation
	for deadline := within(t); !f.adapter.StatusPending(c) && deadline.Err() == nil; {
		<-time.After(time.Millisecond)
	}
	send(t, f.adapter, &chat.Post{Conversation: c, DeliveryID: "d", Text: "Done."})
	say("Two")
	once.Do(func() { close(hold) })
	for deadline := within(t); f.adapter.StatusPending(c) && deadline.Err() == nil; {
		<-time.After(time.Millisecond)
	}
	s.Look(func(v slackfake.View) {
		if v.Thread(told.Channel, told.Thread).Status == "" {
			t.Error("the status of the second message is gone")
		}
	})
}

// With agent_view each top-level direct message is the root of a thread, which is a session of its own.
func TestAgentView(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{AckTimeout: 20 * time.Second, App: slackfake.App{AgentView: true}})
	r := &inbox{}
	opt := options(t, s, r)
	count := &counter{}
	opt.Count = count.add
	opt.Joined = func(context.Context, chat.Conversation) (slack.Part, error) { return slack.Part{}, nil }
	f := connect(t, s, opt)
	f.connected(1)
	opened := s.OpenDM(slackfake.Alice, "")
	f.wait("prompts are proposed, in no thread", func(v slackfake.View) bool {
		return strings.Contains(string(v.Thread(opened.Channel, "").Prompts), "What can you do?")
	})
	looked := s.LookAt(slackfake.Alice, "", "", slackfake.General)
	f.wait("the look is acknowledged", func(v slackfake.View) bool { return v.Acked(looked.Events...) })
	if count.get("app_context_changed") != 1 {
		t.Error("a look at another channel is not counted")
	}
	said := s.Say(slackfake.Say{Channel: opened.Channel, Text: "Plan a trip\nto the sea"})
	thread := func(v slackfake.View) slackfake.Thread { return v.Thread(opened.Channel, said.TS) }
	f.wait("status and title are set", func(v slackfake.View) bool { return thread(v).Status != "" && thread(v).Title == "Plan a trip" })
	in := r.last(chat.Message)
	if want := (chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: opened.Channel, Thread: said.TS}); in.Conversation != want || !in.Direct {
		t.Errorf("received %+v, want it in %+v", in, want)
	}
	for deadline := within(t); f.adapter.StatusPending(in.Conversation) && deadline.Err() == nil; {
		<-time.After(time.Millisecond)
	}
	receipt := send(t, f.adapter, &chat.Post{Conversation: in.Conversation, DeliveryID: "d", Text: "Gladly."})
	s.Look(func(v slackfake.View) {
		if m := v.Message(opened.Channel, receipt.MessageID); m.Thread != said.TS || thread(v).Status != "" {
			t.Errorf("the answer is %+v, the status %q", m, thread(v).Status)
		}
	})
	// An edit belongs to the same thread, and the next message begins another one.
	changed, err := s.Edit(opened.Channel, said.TS, "Plan a trip to the hills")
	if err != nil {
		t.Fatal(err)
	}
	f.wait("the edit is acknowledged", func(v slackfake.View) bool { return v.Acked(changed.Events...) })
	if e := r.last(chat.Edit); e.Conversation != in.Conversation {
		t.Errorf("the edit came in %+v", e.Conversation)
	}
	next := s.Say(slackfake.Say{Channel: opened.Channel, Text: "Something else"})
	f.wait("the next message is acknowledged", func(v slackfake.View) bool { return v.Acked(next.Events...) })
	if in := r.last(chat.Message); in.Conversation.Thread != next.TS {
		t.Errorf("the next message came in %+v", in.Conversation)
	}
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
	last := r.last(chat.Command)
	if last.Kind != chat.Command || last.Text != "stop" || last.Conversation != p.Conversation || last.Sender.Identity != "slack:T0LAB/U0ALICE" {
		t.Errorf("received %+v, want the command stop in the thread", last)
	}
}
