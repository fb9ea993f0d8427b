package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
)

// scenario is a story that a service is killed in.
type scenario struct {
	name string
	// first are points at which the first lives always die, one after the other, so that the points of a life that takes over are found too.
	first plan
	// setup changes what a life is told; nil changes nothing.
	setup func(*birth)
	// play does what people do. It waits only for what must come to pass whatever dies.
	play func(ctx context.Context, s *scene) error
	// check is what only this scenario's platform must show, beside what holds for all.
	check func(s *scene) []string
	// dead are words that the note of a dead letter may hold; others are wrong.
	dead string
}

// letters is what is left over without the dead letters that belong to the story.
func (sc *scenario) letters(left []string) []string {
	var out []string
	for _, l := range left {
		if sc.dead == "" || !strings.HasPrefix(l, deadLetter) || !strings.Contains(l, sc.dead) {
			out = append(out, l)
		}
	}
	return out
}

// scenarios are all stories of the matrix.
func scenarios() []scenario {
	return []scenario{
		{name: "plain", play: says(verbPlain)},
		{name: "tool", play: says(toolEffect)},
		{name: "repeatable", play: says(toolLook)},
		{name: "note", play: says(toolNote)},
		{name: "child", play: says(toolChild)},
		{name: "delegate", play: says(verbDelegate)},
		{name: "two delegate", play: says(verbDelegate, verbDelegate)},
		{name: "child asks", play: playInquiry, check: stands("t1", 1, asked)},
		{name: "child dares", play: playDare, check: stands("t1", 1, mayI)},
		{name: "task", play: playTask},
		{name: "long", play: says(verbLong)},
		{name: "two", play: says(verbPlain, toolEffect)},
		{name: "during", play: playDuring},
		{name: "question", play: playQuestion, check: stands("t1", 1, asked)},
		{name: "approval", play: playApproval, check: stands("t1", 1, mayI)},
		{name: "retry", play: playRetry, check: stands("t1", 1, cannot)},
		{name: "stop", play: playStop, check: stands("t1", 1, stopped, nothingRuns)},
		{name: "handover", play: playHandover},
		{name: "edit", play: playEdit},
		{name: "new", play: playNew, check: stands("t1", 1, "xyzzy")},
		{name: "full", setup: func(b *birth) { b.Inbox = 1 }, play: playFull, check: checkFull},
		{name: "malformed", play: playMalformed, dead: `"malformed"`},
		{name: "term", play: playTerm},
		{name: "hurry", setup: func(b *birth) { b.Grace = 0 }, play: playTerm},
		{name: "term twice", play: playTermTwice},
		{name: "term at start", play: playTermAtStart},
		{name: "panic", play: says(verbShake)},
		{name: "again: tool", first: plan{"after turn.start 1"}, play: says(toolEffect)},
		{name: "again: delegate", first: plan{"after turn.push 1"}, play: says(verbDelegate)},
		{name: "again: child's tool", first: plan{"after tool:" + toolEffect + " 1"}, play: says(verbDelegate)},
		{name: "again: task", first: plan{"after handover.task 1"}, play: playTask},
		{name: "again: task's end", first: plan{"after turn.taskend 1"}, play: playTask},
		{name: "again: landing", first: plan{"after handover.landed 1"}, play: playTask},
		{name: "again: repeatable", first: plan{"after tool:" + toolLook + " 1"}, play: says(toolLook)},
		{name: "again: send", first: plan{"after send 1"}, play: says(verbPlain)},
		{name: "again: live", first: plan{"after turn.receipt 1"}, play: says(verbLong)},
		{name: "again: pieces", first: plan{"after send 2"}, play: says(verbLong)},
		{name: "again: ack", first: plan{"before ack 1"}, play: says(verbPlain)},
		{name: "again: handover", first: plan{"after handover.message 1"}, play: playHandover},
		{name: "suspect: send", first: plan{"before send 1", "before send 1"}, play: says(verbPlain)},
		{name: "suspect: handover", first: plan{"after handover.message 1", "before handover.release 1"}, play: playHandover},
	}
}

// says is a story in which one person says things at once, each with a verb.
func says(verbs ...string) func(context.Context, *scene) error {
	return func(_ context.Context, s *scene) error {
		for i, v := range verbs {
			s.say("t1", string(rune('a'+i)), v)
		}
		return nil
	}
}

// stands checks how many messages of the app hold one of the texts.
func stands(thread string, want int, texts ...string) func(*scene) []string {
	return func(s *scene) []string {
		if n := s.count(thread, texts...); n != want {
			return []string{fmt.Sprintf("%s: %q stands %d times, want %d", thread, texts, n, want)}
		}
		return nil
	}
}

// count is how many messages of the app in a thread hold one of the texts.
func (s *scene) count(thread string, texts ...string) int {
	n := 0
	s.look(func(v board) {
		for _, m := range v.messages(thread) {
			if m.ByApp && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(m.Text, t) }) {
				n++
			}
		}
	})
	return n
}
