package outbox_test

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/outbox"
)

var t0 = time.Unix(1_000_000, 0).UTC()

// at is the instant d after the delivery was made.
func at(d time.Duration) time.Time { return t0.Add(d) }

func TestPlan(t *testing.T) {
	t.Parallel()
	receipt := &chat.Receipt{MessageID: "m"}
	caps := func(c chat.Capabilities) chat.Capabilities {
		c.SendTimeout = 10 * time.Second
		return c
	}
	type pieces = []conversation.Piece
	tried := conversation.Piece{Text: "a", Attempts: 1, TriedAt: t0}
	for _, tc := range []struct {
		name  string
		d     conversation.Delivery
		now   time.Duration
		caps  chat.Capabilities
		armed int
		want  outbox.Step
	}{
		{"live", conversation.Delivery{Live: true, Pieces: pieces{{Text: "a", Receipt: receipt}}}, 0, withBoth, -1, outbox.Step{Do: outbox.Leave}},
		{"new", conversation.Delivery{Text: "x"}, 0, withBoth, -1, outbox.Step{Do: outbox.Cut}},
		{"cut", conversation.Delivery{Pieces: pieces{{Text: "a"}}}, 0, withBoth, -1, outbox.Step{Do: outbox.Send}},
		{"the second piece", conversation.Delivery{Pieces: pieces{{Text: "a", Receipt: receipt, Settled: true}, {Text: "b"}}}, 0, withBoth, -1, outbox.Step{Do: outbox.Send, Piece: 1}},
		{"it waits after a failure", conversation.Delivery{NotBefore: at(9)}, 8, withBoth, -1, outbox.Step{Do: outbox.Wait, Until: at(9)}},
		{"the wait is over", conversation.Delivery{NotBefore: at(9)}, 9, withBoth, -1, outbox.Step{Do: outbox.Cut}},
		{"counted by this holder", conversation.Delivery{Pieces: pieces{tried}}, 0, withBoth, 0, outbox.Step{Do: outbox.Send}},
		{"tried a moment ago", conversation.Delivery{Pieces: pieces{tried}}, 9 * time.Second, withBoth, -1, outbox.Step{Do: outbox.Wait, Until: at(10 * time.Second)}},
		{"tried, with a nonce", conversation.Delivery{Pieces: pieces{tried}}, 10 * time.Second, withNonce, -1, outbox.Step{Do: outbox.Send}},
		{"tried, the nonce's window is closing", conversation.Delivery{Pieces: pieces{tried}}, 5*time.Minute - 10*time.Second, withBoth, -1, outbox.Step{Do: outbox.Find}},
		{"tried, the nonce is forgotten and nothing else is there", conversation.Delivery{Pieces: pieces{tried}}, 6 * time.Minute, withNonce, -1, outbox.Step{Do: outbox.Send, Double: true}},
		{
			"tried twice, the first try within the window",
			conversation.Delivery{After: t0, Pieces: pieces{{Text: "a", Attempts: 2, TriedAt: at(time.Minute)}}},
			2 * time.Minute, withBoth, -1,
			outbox.Step{Do: outbox.Send},
		},
		{
			"tried twice, the first try perhaps before the window",
			conversation.Delivery{After: t0, Pieces: pieces{{Text: "a", Attempts: 2, TriedAt: at(4 * time.Minute)}}},
			6 * time.Minute, withBoth, -1,
			outbox.Step{Do: outbox.Find},
		},
		{"tried, look-back", conversation.Delivery{Pieces: pieces{tried}}, 10 * time.Second, withLookBack, -1, outbox.Step{Do: outbox.Find}},
		{"tried, blind", conversation.Delivery{Pieces: pieces{tried}}, 10 * time.Second, withNothing, -1, outbox.Step{Do: outbox.Send, Double: true}},
		{"tried and surely not there", conversation.Delivery{Pieces: pieces{{Text: "a", Attempts: 3, TriedAt: t0, Clean: true}}}, 0, withLookBack, -1, outbox.Step{Do: outbox.Send}},
		{"a live message that became final", conversation.Delivery{Pieces: pieces{{Text: "a", Receipt: receipt}}}, 0, withBoth, -1, outbox.Step{Do: outbox.Edit}},
		{"the same where nothing can be edited", conversation.Delivery{Pieces: pieces{{Text: "a", Receipt: receipt}}}, 0, withNothing, -1, outbox.Step{Do: outbox.Send}},
		{"all stands", conversation.Delivery{Pieces: pieces{{Text: "a", Receipt: receipt, Settled: true}}}, 0, withBoth, -1, outbox.Step{Do: outbox.Settle}},
		{"all stands, long ago", conversation.Delivery{Pieces: pieces{{Text: "a", Receipt: receipt, Settled: true}}}, 48 * time.Hour, withBoth, -1, outbox.Step{Do: outbox.Settle}},
		{
			"to be edited once more later",
			conversation.Delivery{Resend: at(5), Pieces: pieces{{Text: "a", Receipt: receipt, Settled: true}}},
			4, withBoth, -1,
			outbox.Step{Do: outbox.Wait, Until: at(5), Pass: true},
		},
		{
			"to be edited once more now",
			conversation.Delivery{Resend: at(5), Pieces: pieces{{Text: "a", Receipt: receipt, Settled: true}}},
			5, withBoth, -1,
			outbox.Step{Do: outbox.Edit, Again: true},
		},
		{
			"once more, refused for good",
			conversation.Delivery{Resend: at(5), Refusals: 5, Pieces: pieces{{Text: "a", Receipt: receipt, Settled: true}}},
			5, withBoth, -1,
			outbox.Step{Do: outbox.Settle},
		},
		{"refused too often", conversation.Delivery{Refusals: 5, NotBefore: at(9)}, 0, withBoth, -1, outbox.Step{Do: outbox.Bury, Reason: outbox.ReasonRefused}},
		{"refused four times", conversation.Delivery{Refusals: 4}, 0, withBoth, -1, outbox.Step{Do: outbox.Cut}},
		{"too old", conversation.Delivery{NotBefore: at(48 * time.Hour)}, 24 * time.Hour, withBoth, -1, outbox.Step{Do: outbox.Bury, Reason: outbox.ReasonExpired}},
		{"an old answer", conversation.Delivery{Kind: conversation.Answer}, 15 * time.Minute, withBoth, -1, outbox.Step{Do: outbox.Replace}},
		{"an old answer that was replaced", conversation.Delivery{Kind: conversation.Answer, Replaced: "x"}, 15 * time.Minute, withBoth, -1, outbox.Step{Do: outbox.Cut}},
		{"an old answer that is shown after all", conversation.Delivery{Kind: conversation.Answer, Uncut: true, Pieces: pieces{{Text: "a line", Receipt: receipt}}}, 15 * time.Minute, withBoth, -1, outbox.Step{Do: outbox.Cut}},
		{"an old question", conversation.Delivery{Kind: conversation.Ask}, 15 * time.Minute, withBoth, -1, outbox.Step{Do: outbox.Cut}},
		{"an old answer that may stand", conversation.Delivery{Kind: conversation.Answer, Pieces: pieces{tried}}, 15 * time.Minute, withLookBack, -1, outbox.Step{Do: outbox.Find}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			tc.d.MadeAt = t0
			if got := outbox.Plan(&tc.d, at(tc.now), caps(tc.caps), outbox.Rules{}, tc.armed); got != tc.want {
				t.Errorf("plan %+v, want %+v", got, tc.want)
			}
		})
	}
}

// TestPlanKeepsItsWord draws deliveries and checks what no plan may do.
func TestPlanKeepsItsWord(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		span := rapid.Int64Range(0, int64(26*time.Hour))
		instant := func(name string) time.Time {
			if rapid.Bool().Draw(t, name+" set") {
				return at(time.Duration(span.Draw(t, name)))
			}
			return time.Time{}
		}
		d := conversation.Delivery{
			Kind:   rapid.SampledFrom([]conversation.DeliveryKind{conversation.Answer, conversation.Ask, conversation.Notice, conversation.Progress}).Draw(t, "kind"),
			MadeAt: t0, After: t0, NotBefore: instant("not before"), Resend: instant("resend"),
			Refusals: rapid.IntRange(0, 6).Draw(t, "refusals"), Live: rapid.Bool().Draw(t, "live"),
		}
		for range rapid.IntRange(0, 3).Draw(t, "pieces") {
			p := conversation.Piece{Text: "x", Attempts: rapid.IntRange(0, 3).Draw(t, "attempts"), Clean: rapid.Bool().Draw(t, "clean")}
			if p.Attempts > 0 {
				p.TriedAt = at(time.Duration(span.Draw(t, "tried")))
				if rapid.Bool().Draw(t, "receipt") {
					p.Receipt = &chat.Receipt{MessageID: "m"}
					p.Settled = rapid.Bool().Draw(t, "settled")
				}
			}
			d.Pieces = append(d.Pieces, p)
		}
		caps := chat.Capabilities{
			Edits: rapid.Bool().Draw(t, "edits"), Nonce: rapid.Bool().Draw(t, "nonce"), LookBack: rapid.Bool().Draw(t, "look-back"),
			NonceFor: 5 * time.Minute, SendTimeout: 10 * time.Second,
		}
		now := at(time.Duration(span.Draw(t, "now")))
		s := outbox.Plan(&d, now, caps, outbox.Rules{}, outbox.None)
		switch s.Do {
		case outbox.Leave:
			if !d.Live {
				t.Error("a final delivery is left alone")
			}
		case outbox.Wait:
			if !s.Until.After(now) {
				t.Errorf("wait until %v at %v", s.Until, now)
			}
			if later := outbox.Plan(&d, s.Until, caps, outbox.Rules{}, outbox.None); later.Do == outbox.Wait && !later.Until.After(s.Until) {
				t.Errorf("after the wait: %+v", later)
			}
		case outbox.Find:
			if !caps.LookBack || d.Pieces[s.Piece].Receipt != nil {
				t.Errorf("find %+v", d.Pieces[s.Piece])
			}
		case outbox.Send:
			p := d.Pieces[s.Piece]
			unsure := p.Attempts > 0 && !p.Clean && p.Receipt == nil
			if unsure && p.TriedAt.Add(caps.SendTimeout).After(now) {
				t.Errorf("sent while an earlier attempt may be under way: %+v", p)
			}
			if unsure && !caps.Nonce && !s.Double {
				t.Errorf("sent again without saying so: %+v", p)
			}
			if s.Double && caps.LookBack {
				t.Error("a possible double although one can look")
			}
			for i := range s.Piece {
				if !d.Pieces[i].Settled {
					t.Errorf("piece %d before piece %d", s.Piece, i)
				}
			}
		case outbox.Edit:
			if !caps.Edits || d.Pieces[s.Piece].Receipt == nil {
				t.Errorf("edit %+v", d.Pieces[s.Piece])
			}
		case outbox.Replace:
			for _, p := range d.Pieces {
				if p.Receipt != nil || p.Attempts > 0 && !p.Clean {
					t.Errorf("replaced although a piece may stand: %+v", p)
				}
			}
		case outbox.Settle:
			for _, p := range d.Pieces {
				if !p.Settled {
					t.Errorf("settled with %+v", p)
				}
			}
		case outbox.Bury:
			if d.Refusals < 5 && now.Before(at(24*time.Hour)) {
				t.Errorf("buried after %d refusals at %v", d.Refusals, now.Sub(t0))
			}
		}
		if d.Live != (s.Do == outbox.Leave) {
			t.Errorf("live %t: %+v", d.Live, s)
		}
	})
}
