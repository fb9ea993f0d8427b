package main

import (
	"context"
	"encoding/json"
	"fmt"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

// board is what stands on a scene's platform, whichever it is. It is valid within [scene.look] and [scene.until] only.
type board struct {
	messages         func(thread string) []*platform.Message
	unacked, refused int
	// why names the calls that were refused, where the platform tells.
	why []string
}

func ofPlatform(v platform.View) board {
	c := v.Counts()
	return board{
		messages: func(thread string) []*platform.Message { return v.Messages(channel, thread) },
		unacked:  c.Unacked, refused: c.Refused,
	}
}

// look shows what stands now.
func (s *scene) look(f func(board)) {
	if s.slack != nil {
		s.slack.Look(func(v slackfake.View) { f(s.slack.view(v)) })
		return
	}
	s.plat.Look(func(v platform.View) { f(ofPlatform(v)) })
}

// until waits until what stands fulfils cond.
func (s *scene) until(ctx context.Context, what string, cond func(board) bool) error {
	if s.slack != nil {
		return s.slack.Wait(ctx, what, func(v slackfake.View) bool { return cond(s.slack.view(v)) })
	}
	return s.plat.Wait(ctx, what, func(v platform.View) bool { return cond(ofPlatform(v)) })
}

// change makes a person write a message anew.
func (s *scene) change(id, text string) error {
	if s.slack != nil {
		_, err := s.slack.Edit(slackfake.General, id, toApp+text)
		return err
	}
	_, err := s.plat.Change(id, platform.Say{Text: text, Direct: true})
	return err
}

// remove makes a person take a message back.
func (s *scene) remove(id string) error {
	if s.slack != nil {
		_, err := s.slack.Delete(slackfake.General, id)
		return err
	}
	_, err := s.plat.Remove(id)
	return err
}

// click uses the first button of a card in a message.
func (s *scene) click(m *platform.Message, thread string) error {
	if s.slack != nil {
		s.slack.approve(m)
		return nil
	}
	var card chat.Card
	if err := json.Unmarshal(m.Card, &card); err != nil {
		return fmt.Errorf("read the card of the approval: %w", err)
	}
	if len(card.Buttons) == 0 {
		return fmt.Errorf("the approval has no button: %s", m.Card)
	}
	s.plat.Click(platform.Say{Channel: channel, Thread: thread, Direct: true}, card.Buttons[0].Action, "")
	return nil
}
