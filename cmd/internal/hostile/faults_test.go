package hostile_test

import (
	"fmt"
	"regexp"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/core/model"
	"herald/core/model/modeltest"
)

var number = regexp.MustCompile(`alice: n (\d+)`)

// echoNumber answers "n 7" with "answer 7"; of several messages that were taken in together the last one counts.
func echoNumber(r *model.Request) (modeltest.Reply, bool) {
	last := ""
	for _, m := range r.Messages {
		for _, found := range number.FindAllStringSubmatch(m.Text, -1) {
			last = found[1]
		}
	}
	return modeltest.Say("answer " + last), last != ""
}

// The platform fails in the middle of everything. Each answer stands once, each thread's in their order, and a thread whose channel is
// well does not wait for one whose channel is not.
func TestFaultsOfAPlatform(t *testing.T) {
	t.Parallel()
	const threads, each = 6, 5
	lookBack, nonce := features(), features()
	lookBack.SendTimeout, nonce.SendTimeout = 700*time.Millisecond, 700*time.Millisecond
	lookBack.Nonce, nonce.LookBack = false, false
	every3rd := func(f platform.Fault) func(*platform.Server) {
		return func(s *platform.Server) {
			f.Op = platform.OpSend
			f.Channel = "bad"
			for i := range 6 {
				f.Skip = 2 + 2*i // each counts only the calls that the faults before it let through
				s.Inject(f)
			}
		}
	}
	for _, tc := range []struct {
		name string
		opts platform.Options
		bad  func(*platform.Server)
	}{
		{"a rate limit on every third post", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.RateLimit, RetryAfter: time.Second})},
		{"an error on every third post", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.ServerError})},
		{"a bad gateway on every third post", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.ServerError, Status: 502})},
		{"a post that hangs", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.Hang})},
		{"a post that hangs and was done", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.HangApplied})},
		{"a connection that breaks", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.Reset})},
		{"a reply that is lost", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.LoseReply})},
		{"a reply that is lost, with a nonce", platform.Options{Features: nonce}, every3rd(platform.Fault{Kind: platform.LoseReply})},
		{"a reply that is cut in the middle", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.CutReply})},
		{"a post that was done and said to have failed", platform.Options{Features: lookBack}, every3rd(platform.Fault{Kind: platform.ApplyError})},
		{"a reply that is lost, and looks that fail", platform.Options{Features: lookBack}, func(s *platform.Server) {
			every3rd(platform.Fault{Kind: platform.LoseReply})(s)
			s.Inject(platform.Fault{Op: platform.OpFind, Kind: platform.ServerError, Times: 3})
		}},
		{"acknowledgements that are lost", platform.Options{Features: lookBack}, func(s *platform.Server) {
			s.Inject(platform.Fault{Op: platform.OpAck, Kind: platform.Reset, Times: 10})
		}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := begin(t, setup{rules: []modeltest.Rule{echoNumber}, platform: tc.opts})
			tc.bad(r.chat)
			newest := map[string]int{}
			for i := range threads * each {
				thread := fmt.Sprint("t", i%threads)
				r.chat.Post(platform.Say{Channel: "bad", Thread: thread, Text: fmt.Sprint("n ", i), Mention: true})
				newest[thread] = i
				if i%threads == threads-1 {
					// The next ones make turns of their own, whether the answers of these could be said or not.
					r.until("asked of every thread", func() bool { return r.model.Calls() > i })
				}
			}
			// Another channel is served at once, whatever the first one waits for.
			began := time.Now()
			good := r.chat.Post(platform.Say{Channel: "good", Thread: "t", Text: "n 1000", Mention: true})
			if got := r.answer(good, "the other channel"); got != "answer 1000" {
				t.Errorf("the other channel: %q", got)
			}
			if d := time.Since(began); d > 5*time.Second {
				t.Errorf("the other channel waited %s", d)
			}
			for thread, n := range newest {
				r.wait("the last answer of "+thread, func(v platform.View) bool {
					for _, m := range v.Messages("bad", thread) {
						if m.ByApp && m.Text == fmt.Sprint("answer ", n) && !m.Live {
							return true
						}
					}
					return false
				})
			}
			faulted := 0
			r.chat.Look(func(v platform.View) {
				faulted = v.Counts().Faulted
				for thread, last := range newest {
					seen, lastSeen := map[string]int{}, -1
					for _, m := range v.Messages("bad", thread) {
						if !m.ByApp {
							continue
						}
						var n int
						if _, err := fmt.Sscanf(m.Text, "answer %d", &n); err != nil || m.Live {
							t.Errorf("%s: a message that is no answer stands: %+v", thread, m)
						}
						if n <= lastSeen {
							t.Errorf("%s: answer %d stands behind %d", thread, n, lastSeen)
						}
						lastSeen = n
						seen[m.Text]++
						seen[m.Delivery+"#"+fmt.Sprint(m.Piece)]++
					}
					for what, n := range seen {
						if n != 1 {
							t.Errorf("%s: %s stands %d times", thread, what, n)
						}
					}
					if len(seen) < 2*2 || lastSeen != last {
						t.Errorf("%s: the last of %d answers is %d", thread, len(seen)/2, lastSeen)
					}
				}
			})
			if faulted < 3 {
				t.Errorf("%d calls went wrong: nothing was tried", faulted)
			}
			honoured(t, r.chat.Journal(), time.Second)
			r.up()
		})
	}
}

// underWay is how long after a rate limit a post may arrive that was on its way before its app had read the demand.
const underWay = 200 * time.Millisecond

// honoured demands that a post that met a rate limit is not tried again before its time, and that nothing else goes to the channel
// meanwhile, those posts apart that were under way.
func honoured(t *testing.T, journal []platform.Record, wait time.Duration) {
	t.Helper()
	until := map[string]time.Time{}
	for _, rec := range journal {
		limited := rec.Kind == platform.Faulted && rec.Code == string(platform.RateLimit)
		if rec.Kind != platform.Sent && !limited {
			continue
		}
		if left := until[rec.Delivery].Sub(rec.At); left > 0 {
			t.Errorf("delivery %s was tried again %s before its time", rec.Delivery, left)
		}
		left := until[rec.Channel].Sub(rec.At)
		if left > 0 && left < wait-underWay {
			t.Errorf("a post to %s came %s before its time", rec.Channel, left)
		}
		if limited {
			until[rec.Delivery] = rec.At.Add(wait)
			if left <= 0 {
				until[rec.Channel] = rec.At.Add(wait)
			}
		}
	}
}

// The rule that the test above judges by can fail.
func TestHonoured(t *testing.T) {
	t.Parallel()
	at := time.Now()
	journal := []platform.Record{
		{Kind: platform.Faulted, Op: platform.OpSend, Code: string(platform.RateLimit), Channel: "a", Delivery: "1", At: at},
		{Kind: platform.Sent, Channel: "b", Delivery: "2", At: at.Add(time.Millisecond)},
		{Kind: platform.Sent, Channel: "a", Delivery: "1", At: at.Add(time.Second)},
	}
	honoured(t, journal, time.Second)
	for delivery, after := range map[string]time.Duration{"1": time.Millisecond, "3": 300 * time.Millisecond} {
		early := new(testing.T)
		journal[2].Delivery, journal[2].At = delivery, at.Add(after)
		honoured(early, journal, time.Second)
		if !early.Failed() {
			t.Errorf("delivery %s, which came too early, is not seen", delivery)
		}
	}
}
