package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"herald/bots/bottest/platform"
	"herald/core/chat"
)

// scenario is a story that a service is killed in.
type scenario struct {
	name string
	// play does what people do. It waits only for what must come to pass whatever dies.
	play func(ctx context.Context, s *scene) error
	// check is what only this scenario's platform must show, beside what holds for all.
	check func(s *scene) []string
}

// scenarios are all stories of the matrix.
func scenarios() []scenario {
	return []scenario{
		{name: "plain", play: func(_ context.Context, s *scene) error {
			s.say("t1", "a", verbPlain)
			return nil
		}},
		{name: "tool", play: func(_ context.Context, s *scene) error {
			s.say("t1", "a", toolEffect)
			return nil
		}},
		{name: "repeatable", play: func(_ context.Context, s *scene) error {
			s.say("t1", "a", toolLook)
			return nil
		}},
		{name: "long", play: func(_ context.Context, s *scene) error {
			s.say("t1", "a", verbLong)
			return nil
		}},
		{name: "two", play: func(_ context.Context, s *scene) error {
			s.say("t1", "a", verbPlain)
			s.say("t1", "b", toolEffect)
			return nil
		}},
		{name: "during", play: func(ctx context.Context, s *scene) error {
			s.say("t1", "a", toolSlow)
			if err := s.asks(ctx, 1); err != nil {
				return err
			}
			s.say("t1", "b", verbPlain)
			return nil
		}},
		{name: "question", play: playQuestion, check: one("t1", asked)},
		{name: "approval", play: playApproval, check: one("t1", "May I run "+toolDanger)},
		{name: "stop", play: playStop, check: func(s *scene) []string {
			return count(s, "t1", 1, "Stopped.", "Nothing is running here.")
		}},
	}
}

// playQuestion parks a turn with a question and answers it.
func playQuestion(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolAsk)
	if _, err := s.stands(ctx, "t1", asked); err != nil {
		return err
	}
	s.say("t1", "b", "yes")
	return nil
}

// playApproval parks a turn with an approval and clicks on it until the turn goes on: a click that finds nobody is never sent again.
func playApproval(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolDanger)
	m, err := s.stands(ctx, "t1", "May I run "+toolDanger)
	if err != nil {
		return err
	}
	var card chat.Card
	if err := json.Unmarshal(m.Card, &card); err != nil {
		return fmt.Errorf("read the card of the approval: %w", err)
	}
	if len(card.Buttons) == 0 {
		return fmt.Errorf("the approval has no button: %s", m.Card)
	}
	clicked := func() bool {
		s.plat.Click(platform.Say{Channel: channel, Thread: "t1", Direct: true}, card.Buttons[0].Action, "")
		wait, cancel := context.WithTimeout(ctx, redeliver)
		defer cancel()
		return s.asks(wait, 2) == nil
	}
	for !clicked() {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("click on the approval: %w", err)
		}
	}
	return nil
}

// playStop stops a turn while its tool runs, and goes on talking.
func playStop(ctx context.Context, s *scene) error {
	s.expect("t1", "a", toolSlow, 0, 1)
	if err := s.asks(ctx, 1); err != nil {
		return err
	}
	s.tell("t1", "stop")
	if err := s.plat.Wait(ctx, "the stop is confirmed", func(v platform.View) bool {
		for _, m := range v.Messages(channel, "t1") {
			if m.ByApp && (strings.Contains(m.Text, "Stopped.") || strings.Contains(m.Text, "Nothing is running here.")) {
				return true
			}
		}
		return false
	}); err != nil {
		return err
	}
	s.say("t1", "b", verbPlain)
	return nil
}

// one checks that a text stands exactly once in a thread.
func one(thread, text string) func(*scene) []string {
	return func(s *scene) []string { return count(s, thread, 1, text) }
}

// count checks how many messages of the app hold one of the texts.
func count(s *scene, thread string, want int, texts ...string) []string {
	n := 0
	for _, m := range s.plat.Messages(channel, thread) {
		for _, t := range texts {
			if m.ByApp && strings.Contains(m.Text, t) {
				n++
			}
		}
	}
	if n != want {
		return []string{fmt.Sprintf("%s: %q stands %d times, want %d", thread, texts, n, want)}
	}
	return nil
}
