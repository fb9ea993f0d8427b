package outbox_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
	"herald/core/store"
)

// TestChannelTakesTurns: conversations of a channel share its pace one piece at a time, over two workers, and another channel is not
// slowed down.
func TestChannelTakesTurns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		r.paces = outbox.Paces{Channel: time.Second}
		other := chat.Conversation{Workspace: "lab:W", Channel: "C2"}
		const threads, pieces = 4, 5
		for i := range threads {
			r.say(conv(i), answer("a", "1|2|3|4|5"))
		}
		_, stop := r.start()
		defer stop()
		_, stop2 := r.start()
		defer stop2()
		synctest.Wait()
		r.say(other, answer("b", "elsewhere"))
		synctest.Wait()
		if n := len(r.shown(other)); n != 1 {
			t.Error("another channel waits for the pace of this one")
		}
		time.Sleep((threads*pieces + 1) * time.Second)
		var last time.Time
		said := map[chat.Conversation]int{}
		for _, m := range r.all() {
			if m.conv == other {
				continue
			}
			if d := m.at.Sub(last); !last.IsZero() && d < time.Second {
				t.Errorf("%s of %s came %v after the one before", m.text, m.conv.Thread, d)
			}
			last = m.at
			said[m.conv]++
			least := pieces
			for i := range threads {
				least = min(least, said[conv(i)])
			}
			// The one that asks first may be a piece ahead when the others begin.
			if said[m.conv] > least+2 {
				t.Errorf("%s has said %d pieces while another has said %d", m.conv.Thread, said[m.conv], least)
			}
		}
		for i := range threads {
			r.settled(conv(i), "a")
		}
	})
}

// TestLongQueueHoldsNoSlot: far places are noted and their claims released, in the order in which they were taken. The slots stay free for
// other channels, and no place is lost.
func TestLongQueueHoldsNoSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		r.paces = outbox.Paces{Channel: time.Second}
		r.conc = 10
		const threads = 60
		w, stop := r.start()
		defer stop()
		synctest.Wait()
		began := time.Now()
		for i := range threads {
			r.say(conv(i), answer("a", fmt.Sprint(i)))
			synctest.Wait()
		}
		if n := w.Stats().Running; n > 6 {
			t.Errorf("%d claims are held for a queue of %d, want only those with a near place", n, threads)
		}
		other := chat.Conversation{Workspace: "lab:W", Channel: "C2"}
		r.say(other, answer("b", "elsewhere"))
		synctest.Wait()
		if len(r.shown(other)) != 1 {
			t.Error("another channel waits for a slot")
		}
		time.Sleep(threads*time.Second + 100*time.Millisecond)
		var said, want []string
		for i, m := range r.all() {
			if m.conv == other {
				continue
			}
			said = append(said, m.text)
			if d := m.at.Sub(began); d > time.Duration(len(said))*time.Second {
				t.Errorf("message %d came after %v: a place was lost", i, d)
			}
		}
		for i := range threads {
			want = append(want, fmt.Sprint(i))
		}
		if diff := cmp.Diff(want, said); diff != "" {
			t.Errorf("the queue has lost its order: %s", diff)
		}
		for i := range threads {
			r.settled(conv(i), "a")
			if docs := r.list(conv(i), "pace"); len(docs) != 0 {
				t.Errorf("a used place is still noted in %v", conv(i))
			}
		}
	})
}

// TestUrgency: who may take a place in a queue of five seconds.
func TestUrgency(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		kind conversation.DeliveryKind
		// behind is an answer that waits behind it in its conversation.
		behind bool
		// before is how many of the later answers of the channel come first.
		before int
	}{
		{conversation.Answer, false, 0},
		{conversation.Ask, false, 0},
		{conversation.Notice, false, 5},
		{conversation.Progress, false, 5},
		{conversation.Progress, true, 0},
	} {
		t.Run(fmt.Sprintf("%s behind=%t", tc.kind, tc.behind), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, withBoth)
				r.paces = outbox.Paces{Channel: time.Second}
				for range 6 { // five seconds of queue
					if _, _, err := r.st.Reserve(t.Context(), -1, r.paces.For(conv(0), outbox.Sends)...); err != nil {
						t.Fatal(err)
					}
				}
				d := answer("x", "x")
				d.Kind = tc.kind
				r.say(conv(100), d)
				if tc.behind {
					r.say(conv(100), answer("y", "y"))
				}
				_, stop := r.start()
				defer stop()
				synctest.Wait()
				for i := range 5 {
					r.say(conv(i), answer("a", "a"))
					synctest.Wait()
				}
				time.Sleep(3 * time.Minute)
				before := 0
				for _, m := range r.all() {
					if m.text == "x" {
						break
					}
					before++
				}
				if before != tc.before {
					t.Errorf("%d answers came first, want %d", before, tc.before)
				}
				r.settled(conv(100), "x")
			})
		})
	}
}

// TestProgressIsNotStarved: in a channel that is always busy everything is said in the end.
func TestProgressIsNotStarved(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, withBoth)
		r.paces = outbox.Paces{Channel: time.Second}
		d := answer("x", "x")
		d.Kind = conversation.Progress
		_, stop := r.start()
		defer stop()
		for i := range 90 {
			r.say(conv(i), answer("a", "a"))
			if i == 3 {
				r.say(conv(1000), d)
			}
			time.Sleep(900 * time.Millisecond)
		}
		if len(r.shown(conv(1000))) != 1 {
			t.Error("progress was not shown for more than a minute")
		}
		time.Sleep(30 * time.Second)
		r.settled(conv(1000), "x")
	})
}

func TestPacesFor(t *testing.T) {
	t.Parallel()
	c := chat.Conversation{Workspace: "lab:W", Channel: "C/1", Thread: "t"}
	all := outbox.Paces{Channel: 1, ChannelBurst: 3, Send: 2, Edit: 3, Find: 4, FindBurst: 2}
	for _, tc := range []struct {
		name string
		p    outbox.Paces
		m    outbox.Method
		want []store.Pace
	}{
		{"sends", all, outbox.Sends, []store.Pace{{Key: "channel/lab:W/C%2F1/send", Every: 1, Burst: 3}, {Key: "workspace/lab:W/send", Every: 2, Burst: 1}}},
		{"edits", all, outbox.Edits, []store.Pace{{Key: "workspace/lab:W/edit", Every: 3, Burst: 1}}},
		{"finds", all, outbox.Finds, []store.Pace{{Key: "workspace/lab:W/find", Every: 4, Burst: 2}}},
		{"lifted", outbox.Paces{}, outbox.Sends, nil},
	} {
		if diff := cmp.Diff(tc.want, tc.p.For(c, tc.m)); diff != "" {
			t.Errorf("%s: %s", tc.name, diff)
		}
	}
}
