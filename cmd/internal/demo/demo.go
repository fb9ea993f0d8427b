package demo

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/slackfake"
	"herald/bots/bottest/wire"
	"herald/core/model/modeltest"
)

// Options say how the demo is run.
type Options struct {
	Out io.Writer
	// Program is the binary to run as the service, Args what makes it one for the platform whose address is appended.
	Program string
	Args    []string
	// Env is the environment; settings of Herald in it are left out.
	Env []string
	// Wait bounds each step; 20 s when it is 0.
	Wait time.Duration
}

// show is one demo under way.
type show struct {
	Options
	chat  *platform.Server
	slack *slackfake.Server
	model *modeltest.Server
	url   string
	dir   string
	child *child
	asked []platform.Told
}

// channel is where the story plays.
const channel = "lobby"

// Run tells the story. It fails when the service did not do what the story says.
func Run(ctx context.Context, o Options) (err error) {
	if o.Wait == 0 {
		o.Wait = 20 * time.Second
	}
	start := time.Now()
	s := &show{Options: o, model: &modeltest.Server{Rules: rules()}}
	if s.dir, err = os.MkdirTemp("", "herald-demo-"); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(s.dir)) }()
	s.chat, err = platform.Start(ctx, platform.Options{
		Features:       wire.Features{Edits: true, EditEvery: 150 * time.Millisecond, LookBack: true, Nonce: true, TextLimit: 4000, SendTimeout: 2 * time.Second},
		RedeliverAfter: time.Second, Echo: true,
	})
	if err != nil {
		return err
	}
	defer s.chat.Close()
	if s.slack, err = slackfake.Start(ctx, slackfake.Options{}); err != nil {
		return err
	}
	defer s.slack.Close()
	url, stop, err := s.model.Start(ctx)
	if err != nil {
		return err
	}
	defer stop()
	s.url = url

	s.say("Herald demo: a service, its store (SQLite) and a chat platform on this machine. No network, no token, no Redis.")
	s.say("The model is a script, and its answers say so. What follows is what the platform saw.")
	if err := s.start(ctx); err != nil {
		return err
	}
	defer func() {
		if stopped := s.child.stop(); err == nil && stopped != nil {
			err = fmt.Errorf("the service did not stop in good order: %w\n%s", stopped, s.child.out)
		}
	}()
	for _, act := range []func(context.Context) error{s.question, s.tool, s.crash, s.again, s.inSlack} {
		if err := act(ctx); err != nil {
			return fmt.Errorf("%w\nthe last lines of the service's log:\n%s", err, s.child.out)
		}
	}
	return s.sum(time.Since(start))
}

func (s *show) say(format string, args ...any) { fmt.Fprintf(s.Out, format+"\n", args...) }

// start starts the service and waits until it listens to the platform.
func (s *show) start(ctx context.Context) error {
	began := time.Now()
	before := s.chat.Counts().Connected
	c, err := startChild(ctx, s.Program, s.dir, append(append([]string(nil), s.Args...), s.chat.URL()), environment(
		s.Env,
		append(slackEnv(s.slack), "HERALD_DATA_DIR="+filepath.Join(s.dir, "data"), "HERALD_HTTP__LISTEN=off", "XDG_CONFIG_HOME="+s.dir, "XDG_DATA_HOME="+s.dir,
			"HERALD_PROVIDERS__DEMO__BASE_URL="+s.url, "HERALD_PROVIDERS__DEMO__DEFAULT_MODEL=scripted",
			"HERALD_TURN__STREAM_EDIT_MS=150", "HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0")...,
	))
	if err != nil {
		return err
	}
	s.child = c
	err = s.wait(ctx, "the service to connect", func(v platform.View) bool { return v.Counts().Connected > before && v.Counts().Streams > 0 })
	if err != nil {
		return fmt.Errorf("%w\n%s", err, s.child.out)
	}
	s.say("   [service] started, process %d, connected after %s", c.cmd.Process.Pid, round(time.Since(began)))
	return nil
}

func (s *show) wait(ctx context.Context, what string, cond func(platform.View) bool) error {
	ctx, cancel := context.WithTimeout(ctx, s.Wait)
	defer cancel()
	return s.chat.Wait(ctx, what, cond)
}

// ask posts a message in a thread of its own.
func (s *show) ask(text string) platform.Told {
	t := s.chat.Post(platform.Say{Channel: channel, Thread: fmt.Sprintf("t%d", len(s.asked)+1), Text: text, Mention: true})
	s.asked = append(s.asked, t)
	s.say("   alice  › %s", text)
	return t
}

// answer waits for the whole answer and shows it.
func (s *show) answer(ctx context.Context, t platform.Told, began time.Time) (string, error) {
	text := ""
	err := s.wait(ctx, "an answer", func(v platform.View) bool {
		all := v.Answers(t.Message)
		if len(all) == 0 || all[0].Live {
			return false
		}
		text = all[0].Text
		return true
	})
	if err == nil {
		s.say("   Herald › %s   [%s]", strings.ReplaceAll(text, "\n", " "), round(time.Since(began)))
	}
	return text, err
}

func (s *show) question(ctx context.Context) error {
	s.say("\n1. A question")
	began := time.Now()
	_, err := s.answer(ctx, s.ask("Hello! Who are you?"), began)
	return err
}

func (s *show) tool(ctx context.Context) error {
	s.say("\n2. A tool call")
	began := time.Now()
	text, err := s.answer(ctx, s.ask("Please: what day is it?"), began)
	if err == nil && !strings.Contains(text, time.Now().UTC().Format("2006")) {
		err = fmt.Errorf("the answer %q does not hold what the clock said", text)
	}
	return err
}

// crash kills the service while its answer is being written, and sees the same message finished by the next process.
func (s *show) crash(ctx context.Context) error {
	s.say("\n3. kill -9 in the middle of an answer")
	began := time.Now()
	t := s.ask("Please tell me a story")
	var shown string
	err := s.wait(ctx, "an answer that grows", func(v platform.View) bool {
		for _, m := range v.Answers(t.Message) {
			if shown = m.Text; m.Live && m.Edits >= 2 {
				return true
			}
		}
		return false
	})
	if err != nil {
		return err
	}
	s.say("   Herald › %s…", strings.ReplaceAll(shown, "\n", " "))
	pid := s.child.cmd.Process.Pid
	s.child.kill()
	s.say("   [service] process %d killed (SIGKILL) while it was writing", pid)
	if err := s.start(ctx); err != nil {
		return err
	}
	text, err := s.answer(ctx, t, began)
	if err != nil {
		return err
	}
	if !strings.HasSuffix(text, story) {
		return fmt.Errorf("the answer after the crash is not whole: %q", text)
	}
	return s.once(t, "the answer went on in the message that had begun: one message stands")
}

// again delivers the same message three more times, as platforms do.
func (s *show) again(ctx context.Context) error {
	s.say("\n4. The same message delivered again, three times")
	t := s.asked[0]
	before := s.chat.Counts()
	if err := s.chat.Deliver(t.Event, t.Event, t.Event); err != nil {
		return err
	}
	// A later question on the same connection is answered after the repeats were handled.
	if err := s.wait(ctx, "the repeats to be delivered", func(v platform.View) bool { return v.Counts().Delivered >= before.Delivered+3 }); err != nil {
		return err
	}
	began := time.Now()
	if _, err := s.answer(ctx, s.ask("Are you still there?"), began); err != nil {
		return err
	}
	return s.once(t, "the repeats were recognised: the first question still has one answer")
}

// once holds the platform to one answer for a message.
func (s *show) once(t platform.Told, claim string) error {
	n := 0
	s.chat.Look(func(v platform.View) { n = len(v.Answers(t.Message)) })
	if n != 1 {
		return fmt.Errorf("%d answers stand where one belongs", n)
	}
	s.say("   ✓ %s", claim)
	return nil
}

// sum counts what the platform has.
func (s *show) sum(took time.Duration) error {
	lost, doubled := 0, 0
	s.chat.Look(func(v platform.View) {
		for _, t := range s.asked {
			switch n := len(v.Answers(t.Message)); {
			case n == 0:
				lost++
			case n > 1:
				doubled++
			}
		}
	})
	s.say("\n%d messages, %d lost, %d answered twice, one crash; %s in all.", len(s.asked), lost, doubled, round(took))
	if lost+doubled > 0 {
		return errors.New("the service did not keep its promise")
	}
	s.say("Next: herald init writes a configuration, herald chat talks in the terminal.")
	return nil
}

func round(d time.Duration) time.Duration { return d.Round(10 * time.Millisecond) }
