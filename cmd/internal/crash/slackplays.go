package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"herald/bots/bottest/slackfake"
)

// slackScenarios are the stories that are told on the fake Slack: those of every platform, and those of its sockets, threads and history.
func slackScenarios() []scenario {
	out := scenarios()
	for i, sc := range out {
		if sc.name == "malformed" {
			out[i].play = playSlackMalformed
		}
	}
	return append(out,
		scenario{name: "turned round", play: playTurnedRound},
		scenario{name: "cut frame", play: playCutFrame},
		scenario{name: "copies", play: playCopies},
		scenario{name: "unmentioned", play: playUnmentioned},
		scenario{name: "gap", first: plan{""}, play: playGap},
		scenario{name: "gap: kept", first: plan{"", "after intake.message 1"}, play: playGap},
	)
}

// playSlackMalformed sends events that nobody can understand, one of somebody who cannot be, and one that can be understood.
func playSlackMalformed(_ context.Context, s *scene) error {
	for _, odd := range []string{
		`{"type":"message","channel":"C0GENERAL","ts":7}`, `{"type":"message","channel":{},"user":"U0ALICE","text":"x","ts":"1.000001"}`,
		`{"type":["message"]}`, `"message"`, `{"type":"message","subtype":"message_changed","channel":"C0GENERAL","message":"x","ts":"1.000001"}`,
	} {
		s.slack.Emit(slackfake.BotToken, json.RawMessage(odd))
	}
	nobody := strings.Repeat("U", 200)
	s.slack.AddUser(slackfake.User{ID: nobody, Team: slackfake.Team})
	s.slack.Say(slackfake.Say{User: nobody, Text: toApp + "hello"})
	s.say("t1", "a", verbPlain)
	return nil
}

// playUnmentioned goes on in a thread without naming the app, and speaks to somebody else in between.
func playUnmentioned(ctx context.Context, s *scene) error {
	s.say("t1", "a", verbPlain)
	if _, err := s.stands(ctx, "t1", "#a"); err != nil {
		return err
	}
	s.said = append(s.said, said{"t1", "b", 1, 1}, said{"t1", "c", 1, 1})
	root := s.slack.roots["t1"]
	s.slack.Say(slackfake.Say{Thread: root, User: slackfake.Bob, Text: "#b " + verbPlain})
	s.slack.Say(slackfake.Say{Thread: root, User: slackfake.Bob, Text: "<@" + slackfake.Carol + "> #x " + verbPlain})
	s.slack.Say(slackfake.Say{Thread: root, User: slackfake.Carol, Text: "#c " + toolEffect})
	return nil
}

// playGap says things whose events Slack has given up, with and without a mention, before the service comes back.
func playGap(ctx context.Context, s *scene) error {
	for _, t := range []string{"1", "2"} {
		s.say("t"+t, "a"+t, verbPlain)
		if _, err := s.stands(ctx, "t"+t, "#a"+t); err != nil {
			return err
		}
	}
	lose := func(thread, token, text string) {
		s.said = append(s.said, said{thread, token, 1, 1})
		told := s.slack.Say(slackfake.Say{Thread: s.slack.roots[thread], User: slackfake.Bob, Text: text, Held: true})
		for _, e := range told.Events {
			s.slack.lost[e] = true
		}
	}
	lose("t1", "b1", toApp+"#b1 "+toolEffect)
	lose("t2", "b2", "#b2 "+verbPlain)
	lose("t1", "c1", "#c1 "+verbPlain)
	s.term()
	return nil
}

// playTurnedRound brings two messages of a thread out of order while a socket is being replaced and a turn is under way.
func playTurnedRound(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolSlow)
	if err := s.asks(ctx, 1); err != nil {
		return err
	}
	s.torn = true
	s.slack.Disconnect("", "refresh_requested")
	b := s.slack.say("t1", "#b "+verbPlain, true, 1)
	c := s.slack.say("t1", "#c "+verbPlain, true, 1)
	s.said = append(s.said, said{"t1", "b", 1, 1}, said{"t1", "c", 1, 1})
	s.slack.Deliver(c.Events...)
	s.slack.Deliver(b.Events...)
	return nil
}

// playCutFrame ends the sockets in the middle of a frame, between two messages.
func playCutFrame(_ context.Context, s *scene) error {
	s.say("t1", "a", verbPlain)
	s.slack.CutFrame("")
	s.say("t1", "b", toolEffect)
	return nil
}

// playCopies makes Slack bring each event three times, and once more when it was answered.
func playCopies(ctx context.Context, s *scene) error {
	s.said = append(s.said, said{"t1", "a", 1, 1})
	told := s.slack.say("t1", "#a "+toolEffect, false, 3)
	if _, err := s.stands(ctx, "t1", "#a"); err != nil {
		return err
	}
	s.slack.Again(told.Events...)
	if err := s.slack.Wait(ctx, "the copies are acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) }); err != nil {
		return fmt.Errorf("bring an event again: %w", err)
	}
	s.say("t1", "b", verbPlain)
	return nil
}
