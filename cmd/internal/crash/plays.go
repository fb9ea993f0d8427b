package main

import (
	"context"
	"fmt"
	"strings"

	"herald/bots/bottest/platform"
)

// What the service says, as far as the stories go by it.
const (
	mayI        = "May I run " + toolDanger
	stopped     = "Stopped."
	nothingRuns = "Nothing is running here."
	begunAnew   = "A new conversation has begun."
	notTaken    = "so this one was not taken"
	cannot      = "I cannot answer: the model refused the request."
)

// playDuring says something while a turn is under way.
func playDuring(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolSlow)
	if err := s.asks(ctx, 1); err != nil {
		return err
	}
	s.say("t1", "b", verbPlain)
	return nil
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
	m, err := s.stands(ctx, "t1", mayI)
	if err != nil {
		return err
	}
	return s.clickUntil(ctx, &m, "t1", func(ctx context.Context) error { return s.asks(ctx, 2) })
}

// playInquiry parks a turn with the question of a delegated agent and answers it.
func playInquiry(ctx context.Context, s *scene) error {
	s.say("t1", "a", verbInquire)
	if _, err := s.stands(ctx, "t1", asked); err != nil {
		return err
	}
	s.say("t1", "b", "yes")
	return nil
}

// playDare parks a turn with the approval that a delegated agent needs, and clicks on it.
func playDare(ctx context.Context, s *scene) error {
	s.say("t1", "a", verbDare)
	m, err := s.stands(ctx, "t1", mayI)
	if err != nil {
		return err
	}
	return s.clickUntil(ctx, &m, "t1", func(ctx context.Context) error { return s.asks(ctx, 3) })
}

// playTask begins a task beside the conversation, whose result is answered once, alone or with the message that began it.
func playTask(_ context.Context, s *scene) error {
	s.say("t1", "a", verbTask)
	s.said = append(s.said, said{"t1", beside("a"), 1, 1})
	return nil
}

// playRetry clicks on the button of a failed answer until the turn was started over, and once more behind it.
func playRetry(ctx context.Context, s *scene) error {
	s.say("t1", "a", verbFail)
	m, err := s.stands(ctx, "t1", cannot)
	if err != nil {
		return err
	}
	if err := s.clickUntil(ctx, &m, "t1", func(ctx context.Context) error { _, err := s.stands(ctx, "t1", answers); return err }); err != nil {
		return err
	}
	return s.click(&m, "t1")
}

// clickUntil clicks on the first button of a message until what it brings about is seen: a click that finds nobody is never sent again.
func (s *scene) clickUntil(ctx context.Context, m *platform.Message, thread string, seen func(context.Context) error) error {
	for {
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("click on %q: %w", m.Text, err)
		}
		if err := s.click(m, thread); err != nil {
			return err
		}
		wait, cancel := context.WithTimeout(ctx, redeliver)
		err := seen(wait)
		cancel()
		if err == nil {
			return nil
		}
	}
}

// playStop stops a turn while its tool runs, and goes on talking.
func playStop(ctx context.Context, s *scene) error {
	s.expect("t1", "a", toolSlow, 0, 1)
	if err := s.asks(ctx, 1); err != nil {
		return err
	}
	s.tell("t1", "stop")
	if _, err := s.stands(ctx, "t1", stopped, nothingRuns); err != nil {
		return err
	}
	s.say("t1", "b", verbPlain)
	return nil
}

// playHandover makes a tool owe another conversation a message, which is answered there.
func playHandover(_ context.Context, s *scene) error {
	s.said = append(s.said, said{forwardTo, forwarded + "a", 0, 1})
	s.say("t1", "a", toolTell)
	return nil
}

// playEdit changes a message that waits behind a turn, and takes another one back.
func playEdit(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolSlow)
	if err := s.asks(ctx, 1); err != nil {
		return err
	}
	b := s.expect("t1", "b", verbPlain, 0, 1)
	s.said = append(s.said, said{"t1", "c", 0, 1})
	if err := s.change(b.Message, "#c "+verbPlain); err != nil {
		return err
	}
	d := s.expect("t1", "d", verbPlain, 0, 1)
	if err := s.remove(d.Message); err != nil {
		return err
	}
	s.say("t1", "e", verbPlain)
	return nil
}

// playNew begins another conversation and gives commands.
func playNew(ctx context.Context, s *scene) error {
	s.say("t1", "a", verbPlain)
	if _, err := s.stands(ctx, "t1", "#a"); err != nil {
		return err
	}
	s.tell("t1", "new")
	if _, err := s.stands(ctx, "t1", begunAnew); err != nil {
		return err
	}
	s.tell("t1", "/xyzzy")
	for _, c := range []string{"/project create X", "/project archive", "/group default"} {
		s.tell("t1", c)
	}
	s.say("t1", "b", verbPlain)
	return nil
}

// playFull says more than may wait.
func playFull(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolSlow)
	if err := s.asks(ctx, 1); err != nil {
		return err
	}
	for _, t := range []string{"b", "c", "d"} {
		s.expect("t1", t, verbPlain, 0, 1)
	}
	return nil
}

// checkFull: what was not answered was refused.
func checkFull(s *scene) []string {
	answered := map[string]bool{}
	s.look(func(v board) {
		for _, m := range v.messages("t1") {
			if m.ByApp {
				for _, t := range tokens.FindAllString(m.Text, -1) {
					answered[t] = true
				}
			}
		}
	})
	if n := s.count("t1", notTaken); len(answered)+n != len(s.said) {
		return []string{fmt.Sprintf("%d messages were said, %d answered and %d refused", len(s.said), len(answered), n)}
	}
	return nil
}

// playMalformed sends an event that nobody can understand, and one that can be.
func playMalformed(_ context.Context, s *scene) error {
	s.plat.Post(platform.Say{Channel: channel, Thread: "t1", User: strings.Repeat("u", 200), Text: "hello", Direct: true})
	s.say("t1", "a", verbPlain)
	return nil
}

// playTerm ends the service in good order while a tool runs.
func playTerm(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolSlow)
	s.say("t3", "b", verbThink)
	if err := s.asks(ctx, 2); err != nil {
		return err
	}
	s.term()
	return nil
}

// playTermTwice ends the service at once in the middle of its orderly end.
func playTermTwice(ctx context.Context, s *scene) error {
	s.say("t1", "a", toolSlow)
	s.say("t3", "b", verbThink)
	if err := s.asks(ctx, 2); err != nil {
		return err
	}
	s.term()
	s.term()
	return nil
}

// playTermAtStart ends the service while it starts.
func playTermAtStart(_ context.Context, s *scene) error {
	s.say("t1", "a", verbPlain)
	s.term()
	s.say("t1", "b", verbPlain)
	return nil
}
