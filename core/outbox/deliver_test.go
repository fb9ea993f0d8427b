package outbox_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/store"
)

// TestDelivered: what a person sees after each kind of trouble at the first call.
func TestDelivered(t *testing.T) {
	t.Parallel()
	for _, caps := range []struct {
		name string
		chat.Capabilities
		// blind: nothing tells whether an earlier attempt stands.
		blind bool
	}{
		{"nonce", withNonce, false}, {"look-back", withLookBack, false}, {"both", withBoth, false}, {"blind", withNothing, true},
	} {
		for _, tc := range []struct {
			fault fault
			// leaves: a message stands although the call failed. within is how soon all must stand.
			leaves bool
			within time.Duration
		}{
			{fine, false, 0},
			{lost, true, 15 * time.Second},
			{refuse, false, 5 * time.Second},
			{limit, false, 10 * time.Second},
			{away, false, 5 * time.Second},
			{unknown, false, 15 * time.Second},
			{hang, false, 15 * time.Second},
			{hangDone, true, 15 * time.Second},
			{boom, false, 15 * time.Second},
			{boomDone, true, 15 * time.Second},
			{noID, true, 15 * time.Second},
			{dead, false, 6 * time.Second},
		} {
			t.Run(caps.name+"/"+string(tc.fault), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					r := newRig(t, caps.Capabilities)
					r.faults = first(1, "send", tc.fault)
					r.say(conv(1), answer("a", "one|two|three"), answer("b", "four"))
					r.run(max(tc.within, time.Second))
					want := []string{"one", "two", "three", "four"}
					doubled := caps.blind && tc.leaves
					if doubled {
						want = append([]string{"one"}, want...)
					}
					if diff := cmp.Diff(want, r.shown(conv(1))); diff != "" {
						t.Error(diff)
					}
					if got := r.reported(outbox.EventDouble) > 0; got != (caps.blind && (tc.leaves || tc.fault == unknown || tc.fault == hang || tc.fault == boom)) {
						t.Errorf("a possible double was reported: %t", got)
					}
					r.settled(conv(1), "a", "b")
					if n := len(r.letters()); n != 0 {
						t.Errorf("%d dead letters, want none", n)
					}
				})
			})
		}
	}
}

// TestLookBackWaitsForTheTimeout: a send that is under way somewhere is not looked for before it can have ended.
func TestLookBackWaitsForTheTimeout(t *testing.T) {
	t.Parallel()
	for _, caps := range []chat.Capabilities{withNonce, withLookBack, withNothing} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig(t, caps)
			r.faults = first(1, "send", lost)
			r.say(conv(1), answer("a", "one"))
			r.run(time.Minute)
			sends := r.at("send")
			next := append(r.at("find"), sends[1:]...)
			if len(next) != 1 {
				t.Fatalf("%d calls after the first send, want 1", len(next))
			}
			if d := next[0].Sub(sends[0]); d < 10*time.Second || d > 11*time.Second {
				t.Errorf("looked after %v, want the time-out of 10s", d)
			}
		})
	}
}

// TestOutageOfARepeat: that a second attempt surely did nothing says nothing about the first, which stands.
func TestOutageOfARepeat(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{limit, away, refuse} {
		synctest.Test(t, func(t *testing.T) {
			caps := withBoth
			caps.NonceFor = time.Minute
			r := newRig(t, caps)
			r.retryAfter = 5 * time.Minute
			sends := 0
			began := time.Now()
			r.faults = func(c call) fault {
				switch {
				case c.op != "send":
				case sends == 0:
					sends++
					return lost
				case time.Since(began) < 2*time.Minute:
					return f
				}
				return fine
			}
			r.rules.MaxAttempts = 100
			r.say(conv(1), answer("a", "one"))
			r.run(10 * time.Minute)
			if diff := cmp.Diff([]string{"one"}, r.shown(conv(1))); diff != "" {
				t.Errorf("%s: %s", f, diff)
			}
			r.settled(conv(1), "a")
		})
	}
}

func TestRetryAfterIsKept(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		fault fault
		// neighbour is whether another thread of the channel, and stranger whether another channel, must wait too.
		neighbour, stranger bool
	}{
		{"of the channel", limit, true, false},
		{"of the workspace", limitAll, true, true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withNonce)
				r.retryAfter = 30 * time.Second
				r.faults = first(1, "send", tc.fault)
				other := chat.Conversation{Workspace: "lab:W", Channel: "C2"}
				began := time.Now()
				r.say(conv(1), answer("a", "one"))
				_, stop := r.start()
				defer stop()
				synctest.Wait()
				r.say(conv(2), answer("b", "two"))
				r.say(other, answer("c", "three"))
				time.Sleep(29 * time.Second)
				if n := len(r.shown(conv(1))); n != 0 {
					t.Error("it was sent before the platform's time")
				}
				if got := len(r.shown(conv(2))) == 0; got != tc.neighbour {
					t.Errorf("another thread of the channel waited: %t, want %t", got, tc.neighbour)
				}
				if got := len(r.shown(other)) == 0; got != tc.stranger {
					t.Errorf("another channel waited: %t, want %t", got, tc.stranger)
				}
				time.Sleep(3 * time.Second)
				for _, at := range r.at("send")[1:] {
					if tc.stranger && at.Sub(began) < 30*time.Second {
						t.Errorf("a send after %v, want none before 30s", at.Sub(began))
					}
				}
				for _, c := range []chat.Conversation{conv(1), conv(2), other} {
					r.settled(c)
					if n := len(r.shown(c)); n != 1 {
						t.Errorf("%d messages in %v, want 1", n, c)
					}
				}
			})
		})
	}
}

func TestRefusedUntilBuried(t *testing.T) {
	t.Parallel()
	for _, f := range []fault{refuse, boom} {
		t.Run(string(f), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withLookBack)
				r.faults = func(c call) fault {
					if c.op == "send" && c.post.DeliveryID == "bad" {
						return f
					}
					return fine
				}
				r.say(conv(1), answer("first", "1"), answer("bad", "private words"), answer("last", "3"))
				r.run(5 * time.Minute)
				if diff := cmp.Diff([]string{"1", "3"}, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				r.settled(conv(1), "first", "last")
				ls := r.letters()
				if len(ls) != 1 {
					t.Fatalf("%d dead letters, want 1", len(ls))
				}
				l := ls[0]
				wantCode := map[fault]string{refuse: "not_in_channel", boom: "panic"}[f]
				if l.Delivery != "bad" || l.Reason != outbox.ReasonRefused || l.Code != wantCode || l.Refusals != 5 || l.Standing != 0 {
					t.Errorf("letter %+v", l)
				}
				if diff := cmp.Diff([]string{"msg-bad"}, l.Covers); diff != "" {
					t.Error(diff)
				}
				n := 0
				for _, c := range r.calls {
					if c.op == "send" && c.post.DeliveryID == "bad" {
						n++
					}
				}
				if n != 5 {
					t.Errorf("%d sends of it, want 5", n)
				}
				if _, ok := r.list(conv(1), outbox.Buried)["bad"]; !ok {
					t.Error("the delivery itself is not kept")
				}
			})
		})
	}
}

func TestRevive(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		r.faults = func(c call) fault {
			if c.op == "send" && c.post.Piece == 1 {
				return refuse
			}
			return fine
		}
		r.say(conv(1), answer("a", "one|two"))
		r.run(5 * time.Minute)
		if ls := r.letters(); len(ls) != 1 || ls[0].Standing != 1 || ls[0].Pieces != 2 {
			t.Fatalf("letters %+v, want one with 1 of 2 pieces standing", ls)
		}
		r.faults = nil
		time.Sleep(48 * time.Hour)
		p := conversation.Partition(conv(1))
		a, err := r.st.Read(t.Context(), store.Get{Partition: p, Key: store.Key{Collection: outbox.Buried, Name: "a"}})
		if err != nil {
			t.Fatal(err)
		}
		doc, _ := a[0].Doc()
		c, err := outbox.Revive(p, doc, a[0].Now)
		if err != nil {
			t.Fatal(err)
		}
		c.ID = newID()
		if _, err := r.st.Commit(t.Context(), c); err != nil {
			t.Fatal(err)
		}
		r.run(time.Minute)
		if diff := cmp.Diff([]string{"one", "two"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		r.settled(conv(1), "a")
		if n := len(r.letters()); n != 0 {
			t.Errorf("%d dead letters are left", n)
		}
		if _, err := outbox.Revive(p, store.Doc{Key: doc.Key, Value: []byte("{")}, a[0].Now); err == nil {
			t.Error("a broken document was revived")
		}
	})
}

// TestOutage: an outage of hours counts nothing; one longer than the age limit ends in a row.
func TestOutage(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		fault  fault
		length time.Duration
		want   []string
		// calls bounds the calls that were wasted.
		calls int
	}{
		{"minutes", away, 10 * time.Minute, []string{"one"}, 60},
		{"hours", away, 5 * time.Hour, []string{"I wrote an answer at 2000-01-01 00:00 UTC and could not deliver it in time. `/show a` shows it."}, 400},
		{"a dead token", dead, 9 * time.Minute, []string{"one"}, 9},
		{"for ever", away, 25 * time.Hour, nil, 2000},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withNonce)
				began := time.Now()
				r.faults = func(c call) fault {
					if c.op == "send" && time.Since(began) < tc.length {
						return tc.fault
					}
					return fine
				}
				r.say(conv(1), answer("a", "one"))
				r.run(tc.length + 3*time.Minute)
				if diff := cmp.Diff(tc.want, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				if n := r.count("send"); n > tc.calls {
					t.Errorf("%d sends, want at most %d", n, tc.calls)
				}
				if r.reported(outbox.EventRefused) != 0 {
					t.Error("an outage was counted as a refusal")
				}
				ls := r.letters()
				if tc.want != nil {
					r.settled(conv(1), "a")
				} else if len(ls) != 1 || ls[0].Reason != outbox.ReasonExpired {
					t.Errorf("letters %+v, want one that says expired", ls)
				}
				if (r.reported(outbox.EventDead) > 0) != (tc.fault == dead) {
					t.Errorf("%d reports of a dead platform", r.reported(outbox.EventDead))
				}
			})
		})
	}
}

func TestPlatformNotConnected(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withNonce)
		r.unplugged = true
		r.say(conv(1), answer("a", "one"))
		r.run(25 * time.Hour)
		ls := r.letters()
		if len(ls) != 1 || ls[0].Reason != outbox.ReasonExpired {
			t.Errorf("letters %+v, want one that says expired", ls)
		}
		if n := r.reported(outbox.EventDead); n == 0 || n > 24*12+7 {
			t.Errorf("%d reports, want one for each pause of five minutes at most, and a few for the shorter ones before", n)
		}
	})
}

// TestReplacedByAge: only an answer of which nothing stands becomes one line.
func TestReplacedByAge(t *testing.T) {
	t.Parallel()
	line := "I wrote an answer at 2000-01-01 00:00 UTC and could not deliver it in time. `/show a` shows it."
	for _, tc := range []struct {
		name   string
		change func(*rig, *conversation.Delivery)
		age    time.Duration
		want   []string
	}{
		{"an answer", nil, 16 * time.Minute, []string{line}},
		{"a young answer", nil, 14 * time.Minute, []string{"one", "two"}},
		{"a notice", func(_ *rig, d *conversation.Delivery) { d.Kind = conversation.Notice }, time.Hour, []string{"one", "two"}},
		{"switched off", func(r *rig, _ *conversation.Delivery) { r.rules.StaleAfter = -1 }, time.Hour, []string{"one", "two"}},
		{"one of which a piece stands", func(r *rig, d *conversation.Delivery) {
			d.Pieces = []conversation.Piece{{Text: "one", Attempts: 1, TriedAt: d.MadeAt, Receipt: &chat.Receipt{MessageID: "x"}, Settled: true}, {Text: "two"}}
		}, time.Hour, []string{"two"}},
		{"one that may stand", func(r *rig, d *conversation.Delivery) {
			d.Pieces = []conversation.Piece{{Text: "one", Attempts: 1, TriedAt: d.MadeAt}, {Text: "two"}}
			r.post(d.Post(conv(1), 0))
		}, time.Hour, []string{"one", "two"}},
		{"one that was looked for and does not stand", func(r *rig, d *conversation.Delivery) {
			d.Pieces = []conversation.Piece{{Text: "one", Attempts: 1, TriedAt: d.MadeAt}, {Text: "two"}}
		}, time.Hour, []string{line}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withLookBack)
				d := answer("a", "one|two")
				if tc.change != nil {
					tc.change(r, d)
				}
				r.say(conv(1), d)
				time.Sleep(tc.age)
				r.run(time.Minute)
				if diff := cmp.Diff(tc.want, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				r.settled(conv(1), "a")
				if got := r.list(conv(1), conversation.Sent)["a"].Replaced; (got == "one|two") != (len(tc.want) == 1 && tc.want[0] == line) {
					t.Errorf("the original that is kept: %q", got)
				}
			})
		})
	}
}

// TestShownAfterAll: the line of an old answer has a button, and what it had replaced comes into its place, with all its pieces.
func TestShownAfterAll(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		caps := withLookBack
		caps.Cards, caps.Edits = true, true
		r := newRig(t, caps)
		r.say(conv(1), answer("a", "one|two"))
		time.Sleep(16 * time.Minute)
		r.run(time.Minute)
		if diff := cmp.Diff([]string{"I wrote an answer at 2000-01-01 00:00 UTC and could not deliver it in time."}, r.shown(conv(1))); diff != "" {
			t.Fatal(diff)
		}
		d := r.list(conv(1), conversation.Sent)["a"]
		if d.Card == nil || len(d.Card.Buttons) != 1 || d.Card.Buttons[0].Action != "show:a" {
			t.Fatalf("the card is %+v", d.Card)
		}
		// What a click writes.
		d.Text, d.Replaced, d.Card, d.Uncut, d.Revealed, d.MadeAt = d.Replaced, "", nil, true, true, time.Now()
		d.Pieces[0].Settled = false
		r.say(conv(1), &d)
		r.run(time.Minute)
		if diff := cmp.Diff([]string{"one", "two"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		if d := r.list(conv(1), conversation.Sent)["a"]; d.Uncut || d.Pieces[0].Receipt == nil {
			t.Errorf("settled as %+v", d)
		}
	})
}

// TestTooLarge: a text that has no room beside its pieces ends in a row at once, and the next goes out.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withLookBack)
		r.say(conv(1), answer("a", "first"), answer("large", strings.Repeat("x", store.MaxValue*2/3)), answer("b", "next"))
		_, stop := r.start()
		defer stop()
		synctest.Wait()
		if diff := cmp.Diff([]string{"first", "next"}, r.shown(conv(1))); diff != "" {
			t.Error(diff)
		}
		if ls := r.letters(); len(ls) != 1 || ls[0].Delivery != "large" || ls[0].Reason != outbox.ReasonTooLarge {
			t.Errorf("letters %+v", ls)
		}
		if d, ok := r.list(conv(1), outbox.Buried)["large"]; !ok || len(d.Text) != store.MaxValue*2/3 {
			t.Error("the text is not kept")
		}
		r.settled(conv(1), "a", "b")
		if n := r.count("find"); n != 0 {
			t.Errorf("%d look-backs: the receipt of the delivery before it was lost", n)
		}
	})
}

func TestBadDocuments(t *testing.T) {
	t.Parallel()
	put := func(t *testing.T, r *rig, p store.Partition, id, value string) {
		t.Helper()
		_, err := r.st.Commit(t.Context(), store.Commit{ID: newID(), Partition: p, Ops: []store.Op{
			store.Put{Key: store.Key{Collection: conversation.Outgoing, Name: id}, Value: []byte(value)},
			store.Wake{Agenda: store.Outbox, Member: store.Member(p)},
		}})
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, tc := range []struct {
		name, value string
		partition   store.Partition
		reason      outbox.Reason
		// shown is what stands of the delivery behind it.
		shown []string
	}{
		{"no JSON", "{", conversation.Partition(conv(1)), outbox.ReasonUnreadable, []string{"next"}},
		{"another's name", `{"v":1,"id":"other","text":"x"}`, conversation.Partition(conv(1)), outbox.ReasonUnreadable, []string{"next"}},
		{"no conversation", `{"v":1,"id":"bad","text":"x"}`, "person/p1", outbox.ReasonHomeless, nil},
		{"of a newer version", `{"v":99,"id":"bad"}`, conversation.Partition(conv(1)), "", nil},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withNonce)
				put(t, r, tc.partition, "bad", tc.value)
				if tc.partition != "person/p1" {
					r.say(conv(1), answer("b", "next"))
				}
				r.run(10 * time.Minute)
				if diff := cmp.Diff(tc.shown, r.shown(conv(1))); diff != "" {
					t.Error(diff)
				}
				ls := r.letters()
				if tc.reason == "" {
					if len(ls) != 0 {
						t.Errorf("letters %+v for what a newer replica will deliver", ls)
					}
					claims, err := r.st.Claim(t.Context(), store.ClaimRequest{Agenda: store.Outbox, Holder: "new", Lease: lease, Limit: 1, Members: []store.Member{member(conv(1))}})
					if err != nil || len(claims) == 1 && claims[0].Attempt != 1 {
						t.Errorf("claim %+v, %v: meeting it was counted", claims, err)
					}
					return
				}
				if len(ls) != 1 || ls[0].Delivery != "bad" || ls[0].Reason != tc.reason {
					t.Errorf("letters %+v, want one for %s", ls, tc.reason)
				}
			})
		})
	}
}
