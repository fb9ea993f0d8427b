package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"herald/bots/bottest/platform"
)

// judge is what is wrong with a scene that has come to rest, from what the platform, the model and the tools saw alone.
func (s *scene) judge() []string {
	var bad []string
	s.look(func(v board) {
		if n := v.refused; n > 0 {
			bad = append(bad, fmt.Sprintf("the platform refused %d calls %q", n, v.why))
		}
		rootless := s.slack == nil
		for _, thread := range s.threads() {
			rootless = rootless || s.slack.roots[thread] == ""
			bad = append(bad, s.judgeThread(thread, v.messages(thread))...)
		}
		if !rootless {
			for _, m := range v.messages("") {
				bad = append(bad, fmt.Sprintf("%q stands outside of every thread", m.Text))
			}
		}
	})
	if n := s.fake.Violations(); n > 0 {
		bad = append(bad, fmt.Sprintf("a strict provider refuses %d requests", n))
	}
	effects, err := s.effects()
	if err != nil {
		return append(bad, err.Error())
	}
	return append(bad, judgeEffects(effects)...)
}

func (s *scene) threads() []string {
	set := map[string]bool{}
	for _, w := range s.said {
		set[w.thread] = true
	}
	return slices.Sorted(maps.Keys(set))
}

// delivery is what stands of one delivery, in pieces.
type delivery struct {
	id     string
	pieces map[int]string
}

// judgeThread checks what stands in one conversation, in the platform's order.
func (s *scene) judgeThread(thread string, messages []*platform.Message) []string {
	var bad []string
	var all []*delivery // in the order of their first piece
	by := map[string]*delivery{}
	for _, m := range messages {
		if !m.ByApp {
			continue
		}
		if m.Live {
			bad = append(bad, fmt.Sprintf("%s: message %s is still live", thread, m.ID))
		}
		d := by[m.Delivery]
		if d == nil {
			d = &delivery{m.Delivery, map[int]string{}}
			by[m.Delivery] = d
			all = append(all, d)
		}
		if _, twice := d.pieces[m.Piece]; twice {
			bad = append(bad, fmt.Sprintf("%s: piece %d of %s stands twice: %q", thread, m.Piece, d.id, m.Text))
		}
		if m.Piece > 0 {
			if _, ok := d.pieces[m.Piece-1]; !ok {
				bad = append(bad, fmt.Sprintf("%s: piece %d of %s stands before piece %d", thread, m.Piece, d.id, m.Piece-1))
			}
		}
		d.pieces[m.Piece] = m.Text
	}
	var order []string
	count := map[string]int{}
	for _, d := range all {
		var text strings.Builder
		for i := range len(d.pieces) {
			text.WriteString(d.pieces[i])
		}
		for _, t := range tokens.FindAllString(text.String(), -1) {
			count[t]++
			order = append(order, t)
		}
		if strings.Contains(text.String(), "Line 1 ") && !strings.Contains(text.String(), fmt.Sprintf("Line %d ", longLines)) {
			bad = append(bad, fmt.Sprintf("%s: the long answer %s is not whole: %q", thread, d.id, text.String()))
		}
	}
	return append(bad, s.judgeOrder(thread, count, order)...)
}

// judgeOrder checks how often and in which order the tokens of a thread were answered.
func (s *scene) judgeOrder(thread string, count map[string]int, order []string) []string {
	var bad, want []string
	for _, w := range s.said {
		if w.thread != thread {
			continue
		}
		t := "#" + w.token
		if n := count[t]; n < w.least || n > w.most {
			bad = append(bad, fmt.Sprintf("%s: %s is covered by %d answers, want %d to %d", thread, t, n, w.least, w.most))
		}
		if count[t] > 0 {
			want = append(want, t)
		}
		delete(count, t)
	}
	for t, n := range count {
		bad = append(bad, fmt.Sprintf("%s: %s, which was not said here, stands %d times", thread, t, n))
	}
	if len(bad) == 0 && !slices.Equal(order, want) && (!s.torn || s.died == 0) {
		i := 0
		for i < len(want) && i < len(order) && order[i] == want[i] {
			i++
		}
		bad = append(bad, fmt.Sprintf("%s: answered in the order %v, said in the order %v (from the first difference on)", thread, few(order[i:]), few(want[i:])))
	}
	return bad
}

// judgeEffects checks that no call began twice that must not.
func judgeEffects(all []effect) []string {
	var bad []string
	begun := map[string]int{}
	for _, e := range all {
		key := e.Tool + " for #" + e.Token
		begun[key]++
		if begun[key] == 2 && !e.Repeatable {
			bad = append(bad, "the unrepeatable tool "+key+" began twice")
		}
	}
	return bad
}

// few is the beginning of a list.
func few(s []string) []string { return s[:min(len(s), 8)] }
