package main

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/slackfake"
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
	var all []moment
	all, r.redelivered = s.moments()
	for step, m := range all {
		switch m.kind {
		case platform.Posted:
			if m.token != "" && by[m.token] == nil {
				by[m.token] = &times{said: step, at: m.at}
			}
			event[m.event] = by[m.token]
		case platform.Acked:
			if t := event[m.event]; t != nil && t.acked == 0 {
				t.acked = step
			}
		case platform.Sent:
			if pieces[m.piece] {
				r.doubled++
				r.bad = append(r.bad, fmt.Sprintf("%s: piece %s stands twice: %q", m.thread, m.piece, m.text))
			}
			pieces[m.piece] = true
			if !strings.HasPrefix(m.text, answers) {
				r.bad = append(r.bad, fmt.Sprintf("%s: the service said %q", m.thread, m.text))
			}
			for _, tok := range tokens.FindAllString(m.text, -1) {
				place++
				if answeredBy[tok] == nil {
					answeredBy[tok] = map[string]bool{}
				}
				answeredBy[tok][m.delivery] = true
				if t := by[tok]; t != nil {
					t.answered = append(t.answered, place)
					waits = append(waits, m.at.Sub(t.at))
				}
			}
		default:
		}
	}
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
			if older.acked > 0 && older.acked < t.said && older.answered[0] > t.answered[0] {
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

// moment is a record of either platform's journal, as far as a load is judged by it.
type moment struct {
	kind         platform.RecordKind // Posted, Acked or Sent
	token, event string
	thread, text string
	// delivery and piece name an answer.
	delivery, piece string
	at              time.Time
}

// moments are what the platform saw, in order, and how many deliveries it repeated.
func (s *scene) moments() (all []moment, repeated int) {
	if s.slack != nil {
		return s.slack.moments()
	}
	s.plat.Look(func(v platform.View) {
		repeated = v.Counts().Redelivered
		for _, rec := range v.Journal() {
			m := moment{kind: rec.Kind, event: rec.Event, thread: rec.Thread, text: rec.Text, delivery: rec.Delivery, at: rec.At}
			m.piece = fmt.Sprintf("%s/%d", rec.Delivery, rec.Piece)
			if rec.Kind == platform.Posted {
				m.token = tokens.FindString(rec.Text)
			}
			all = append(all, m)
		}
	})
	return all, repeated
}

// greeting begins what the service says once in a channel, beside its answers.
const greeting = "Hello, I am **"

func (w *slackWorld) moments() (all []moment, repeated int) {
	w.Look(func(v slackfake.View) {
		repeated = v.Counts().Redelivered
		greets := "" // the delivery, in pieces like any other
		for _, rec := range v.Journal() {
			m := moment{event: rec.Event, thread: rec.Thread, at: rec.At}
			switch rec.Kind {
			case slackfake.Happened:
				m.kind, m.token = platform.Posted, w.tokens[rec.TS]
			case slackfake.Acked:
				m.kind = platform.Acked
			case slackfake.Sent:
				stands := v.Message(rec.Channel, rec.TS)
				if stands.Deleted {
					continue
				}
				said := inWords(stands)
				if strings.HasPrefix(said.Text, greeting) && greets == "" {
					greets = said.Delivery
				}
				if said.Delivery == greets {
					continue
				}
				m.kind, m.text, m.delivery, m.piece = platform.Sent, said.Text, said.Delivery, fmt.Sprintf("%s/%d", said.Delivery, said.Piece)
			default:
				continue
			}
			all = append(all, m)
		}
	})
	return all, repeated
}
