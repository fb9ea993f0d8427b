package terminal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"herald/bots/console/proto"
	"herald/bots/console/terminal"
	"herald/core/chat"

	"github.com/google/go-cmp/cmp"
)

func echo(s *service, in *chat.Inbound) { s.begin(in.MessageID, "re: "+in.Text, false) }

// stream answers in a live message.
func stream(s *service, in *chat.Inbound) {
	p, r := s.begin(in.MessageID, "re", true)
	s.edit(p, r, "re: "+in.Text[:1], false)
	s.edit(p, r, "re: "+in.Text, true)
}

func TestPipe(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		script func(*service, *chat.Inbound)
		in     string
		heard  []string
		out    string
	}{
		"answers in order":       {echo, "one\ntwo\nthree\n", []string{"one", "two", "three"}, "re: one\n\nre: two\n\nre: three\n"},
		"streamed answers":       {stream, "one\ntwo\n", []string{"one", "two"}, "re: one\n\nre: two\n"},
		"no end of line":         {echo, "one", []string{"one"}, "re: one\n"},
		"blank lines and CR":     {echo, "\n  \none\r\n\n", []string{"one"}, "re: one\n"},
		"a backslash goes on":    {echo, "one\\\ntwo\nthree\n", []string{"one\ntwo", "three"}, "re: one\ntwo\n\nre: three\n"},
		"commands are text":      {echo, "/help\n", []string{"/help"}, "re: /help\n"},
		"quit ends":              {echo, "one\n/quit\ntwo\n", []string{"one"}, "re: one\n"},
		"nothing at all":         {echo, "", nil, ""},
		"what the model forges":  {echo, "a\x1b]52;c;eA==\x07b\x1b[2J\n", []string{"a\x1b]52;c;eA==\ab\x1b[2J"}, "re: ab\n"},
		"other posts stand back": {func(s *service, in *chat.Inbound) { s.begin("", "a notice", false); echo(s, in) }, "one\n", []string{"one"}, "re: one\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := startService(t, nil, c.script)
			opt, out, _ := s.options(c.in)
			if err := terminal.Chat(within(t), opt); err != nil {
				t.Fatal(err)
			}
			s.heard(c.heard...)
			if diff := cmp.Diff(c.out, out.String()); diff != "" {
				t.Errorf("output (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOnce(t *testing.T) {
	t.Parallel()
	cost := 0.5
	s := startService(t, func(_ context.Context, _ chat.Conversation, id string) (proto.Facts, error) {
		return proto.Facts{Session: "s-" + id, InputTokens: 7, OutputTokens: 9, Cost: &cost}, nil
	}, func(s *service, in *chat.Inbound) {
		s.begin("", "a notice", false)
		c, _ := s.begin(in.MessageID, "wait", true)
		_ = c
		echo(s, in)
	})
	opt, out, errs := s.options("")
	r, err := terminal.Once(within(t), opt, "one")
	if err != nil {
		t.Fatal(err)
	}
	want := terminal.Result{Answer: "re: one", Session: r.Session, Tokens: terminal.Tokens{Input: 7, Output: 9}, Cost: &cost}
	if diff := cmp.Diff(want, r); diff != "" || !strings.HasPrefix(r.Session, "s-") {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if out.Len() != 0 || !strings.Contains(errs.String(), "a notice") {
		t.Errorf("out %q, err %q; the notice belongs on the second alone", out, errs)
	}
	var b bytes.Buffer
	if err := r.Print(&b, true); err != nil {
		t.Fatal(err)
	}
	if got, want := b.String(), fmt.Sprintf(`{"answer":"re: one","session":%q,"tokens":{"input":7,"output":9},"cost":0.5}`+"\n", r.Session); got != want {
		t.Errorf("JSON %s, want %s", got, want)
	}
}

// TestOnceWaitsForItsOwnAnswer: another terminal talks in the same place meanwhile.
func TestOnceWaitsForItsOwnAnswer(t *testing.T) {
	t.Parallel()
	first := make(chan string, 1)
	s := startService(t, nil, func(s *service, in *chat.Inbound) {
		if in.Text == "slow" {
			first <- in.MessageID
			return
		}
		echo(s, in)
		s.begin(<-first, "re: slow", false)
	})
	type outcome struct {
		r   terminal.Result
		err error
	}
	done := make(chan outcome, 1)
	ctx := within(t)
	go func() {
		opt, _, _ := s.options("")
		r, err := terminal.Once(ctx, opt, "slow")
		done <- outcome{r, err}
	}()
	s.heard("slow")
	opt, _, _ := s.options("")
	if r, err := terminal.Once(ctx, opt, "fast"); err != nil || r.Answer != "re: fast" {
		t.Errorf("got %q, %v", r.Answer, err)
	}
	if o := <-done; o.err != nil || o.r.Answer != "re: slow" {
		t.Errorf("got %q, %v", o.r.Answer, o.err)
	}
}

// TestOnceTakesAnAnswerToSeveral: one answer names the newest of the messages that it covers.
func TestOnceTakesAnAnswerToSeveral(t *testing.T) {
	t.Parallel()
	first := make(chan string, 1)
	s := startService(t, nil, func(s *service, in *chat.Inbound) {
		if in.Text == "first" {
			first <- in.MessageID
			return
		}
		s.begin(in.MessageID, "re: both", false, <-first, in.MessageID)
	})
	done := make(chan string, 1)
	ctx := within(t)
	go func() {
		opt, _, _ := s.options("")
		r, err := terminal.Once(ctx, opt, "first")
		done <- fmt.Sprint(r.Answer, err)
	}()
	s.heard("first")
	opt, _, _ := s.options("")
	if r, err := terminal.Once(ctx, opt, "second"); err != nil || r.Answer != "re: both" {
		t.Errorf("second: %q, %v", r.Answer, err)
	}
	if got := <-done; got != "re: both<nil>" {
		t.Errorf("first: %s", got)
	}
}

// TestRestartInTheMiddle: the service dies after it took the line and answers after its restart.
func TestRestartInTheMiddle(t *testing.T) {
	t.Parallel()
	// When the service dies before its word reached the terminal, the line is handed on again, as the same message.
	line := make(chan string, 2)
	s := startService(t, nil, func(_ *service, in *chat.Inbound) { line <- in.MessageID })
	done := make(chan string, 1)
	ctx := within(t)
	opt, _, errs := s.options("")
	go func() {
		r, err := terminal.Once(ctx, opt, "one")
		done <- fmt.Sprint(r.Answer, err)
	}()
	id := <-line
	s.down()
	s.up()
	s.begin(id, "late", false)
	if got := <-done; got != "late<nil>" {
		t.Errorf("got %s", got)
	}
	if !strings.Contains(errs.String(), "waiting") {
		t.Errorf("the person was not told that the service is away: %q", errs)
	}
	select {
	case again := <-line:
		if again != id {
			t.Errorf("the line became two messages, %s and %s", id, again)
		}
	default:
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	gone := terminal.Options{
		Dial: func(context.Context) (net.Conn, error) { return nil, errors.New("no socket") },
		In:   strings.NewReader("one\n"), Out: io.Discard, Err: io.Discard, Environ: []string{},
	}
	for name, c := range map[string]struct {
		do   func(ctx context.Context) error
		want error
	}{
		"once without a service": {func(ctx context.Context) error { _, err := terminal.Once(ctx, gone, "x"); return err }, terminal.ErrUnavailable},
		"pipe without a service": {func(ctx context.Context) error { return terminal.Chat(ctx, gone) }, terminal.ErrUnavailable},
		"chat without a service": {func(ctx context.Context) error { o := gone; o.TTY = true; return terminal.Chat(ctx, o) }, terminal.ErrUnavailable},
		"empty question": {func(ctx context.Context) error {
			o, _, _ := startService(t, nil, echo).options("")
			_, err := terminal.Once(ctx, o, " \n")
			return err
		}, terminal.ErrRejected},
		"ended by the caller": {func(ctx context.Context) error {
			o, _, _ := startService(t, nil, func(*service, *chat.Inbound) {}).options("")
			ctx, cancel := context.WithTimeout(ctx, 50*time.Millisecond)
			defer cancel()
			_, err := terminal.Once(ctx, o, "x")
			return err
		}, context.DeadlineExceeded},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if err := c.do(within(t)); !errors.Is(err, c.want) {
				t.Errorf("got %v, want %v", err, c.want)
			}
		})
	}
}
