package slack_test

import (
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

func TestNames(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	asked := func() (n int) {
		for _, rec := range s.Journal() {
			if rec.Kind == slackfake.Called && rec.Method == "users.info" {
				n++
			}
		}
		return n
	}
	f.probe("nobody is meant") // not addressed, so nobody is asked for
	if n := asked(); n != 0 {
		t.Errorf("%d people were asked for in vain", n)
	}
	f.probe("<@" + slackfake.BotUser + "> tell <@" + slackfake.Bob + "> a secret")
	f.probe("<@" + slackfake.BotUser + "> once more, <@" + slackfake.Bob + ">")
	r.mu.Lock()
	in := r.got[len(r.got)-1]
	first := r.got[1]
	r.mu.Unlock()
	if first.Text != "tell @bob a secret" || in.Sender.Name != "alice" || !in.Mentioned {
		t.Errorf("received %q of %q", first.Text, in.Sender.Name)
	}
	if n := asked(); n > 3 {
		t.Errorf("three people were asked for %d times", n)
	}
}

// Whoever cannot be asked for is left without a name, and the message is taken all the same.
func TestNamesAreNotWaitedFor(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{AckTimeout: 10 * time.Second})
	r := &inbox{}
	f := connect(t, s, options(t, s, r))
	f.connected(1)
	s.Inject(slackfake.Fault{Method: "users.info", Kind: slackfake.Hang, Times: -1})
	began := time.Now()
	f.probe("<@" + slackfake.BotUser + "> hello")
	if took := time.Since(began); took > 2500*time.Millisecond {
		t.Errorf("the message was acknowledged after %s; Slack waits three seconds", took)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if in := r.got[len(r.got)-1]; in.Text != "hello" || in.Sender.Name != "" {
		t.Errorf("received %q of %q", in.Text, in.Sender.Name)
	}
}
