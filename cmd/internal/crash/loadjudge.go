package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/bots/bottest/platform"
)

// judge counts what was lost, doubled and reordered, by what the platform saw. Two messages are in the wrong order when the older one was
// acknowledged before the newer one was said, and the newer one was answered first all the same: before its acknowledgement nobody can
// know that the older one exists.
func (r *loadReport) judge(s *scene) {
	// times of a message in steps of the journal.
	type times struct {
		said, acked int
		at          time.Time
		answered    []int
	}
	by := map[string]*times{}
	event := map[string]*times{}
	var waits []time.Duration
	answeredBy := map[string]map[string]bool{} // token → deliveries
	place := 0
	pieces := map[string]bool{}
	s.plat.Look(func(v platform.View) {
		r.redelivered = v.Counts().Redelivered
		for _, rec := range v.Journal() {
			switch rec.Kind {
			case platform.Posted:
				if found := tokens.FindString(rec.Text); found != "" && by[found] == nil {
					t := &times{said: rec.Seq, at: rec.At}
					by[found], event[rec.Event] = t, t
				}
			case platform.Acked:
				if t := event[rec.Event]; t != nil {
					t.acked = rec.Seq
				}
			case platform.Sent:
				piece := fmt.Sprintf("%s/%d", rec.Delivery, rec.Piece)
				if pieces[piece] {
					r.doubled++
					r.bad = append(r.bad, fmt.Sprintf("%s: piece %s stands twice: %q", rec.Thread, piece, rec.Text))
				}
				pieces[piece] = true
				if !strings.HasPrefix(rec.Text, answers) {
					r.bad = append(r.bad, fmt.Sprintf("%s: the service said %q", rec.Thread, rec.Text))
				}
				for _, tok := range tokens.FindAllString(rec.Text, -1) {
					place++
					if answeredBy[tok] == nil {
						answeredBy[tok] = map[string]bool{}
					}
					answeredBy[tok][rec.Delivery] = true
					if t := by[tok]; t != nil {
						t.answered = append(t.answered, place)
						waits = append(waits, rec.At.Sub(t.at))
					}
				}
			default:
			}
		}
	})
	threads := map[string][]*times{}
	for _, w := range s.said {
		t := by["#"+w.token]
		switch n := len(answeredBy["#"+w.token]); {
		case n == 0:
			r.lost++
			r.bad = append(r.bad, fmt.Sprintf("%s: #%s was not answered", w.thread, w.token))
			continue
		case n > 1:
			r.doubled++
			r.bad = append(r.bad, fmt.Sprintf("%s: #%s was answered %d times", w.thread, w.token, n))
		}
		r.answered++
		for _, older := range threads[w.thread] {
			if older.acked < t.said && older.answered[0] > t.answered[0] {
				r.reordered++
				r.bad = append(r.bad, fmt.Sprintf("%s: #%s was answered before an older message", w.thread, w.token))
			}
		}
		threads[w.thread] = append(threads[w.thread], t)
	}
	if n := s.fake.Violations(); n > 0 {
		r.bad = append(r.bad, fmt.Sprintf("a strict provider refuses %d requests", n))
	}
	slices.Sort(waits)
	if n := len(waits); n > 0 {
		r.median, r.p99 = waits[n/2], waits[n*99/100]
	}
}
