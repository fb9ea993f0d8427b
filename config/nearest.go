package config

import "strings"

// nearest returns the candidate that the word most likely meant, "" when none
// is near enough to be worth naming.
func nearest(word string, candidates []string) string {
	return nearestWithin(word, candidates, max(1, len(word)/3))
}

// nearestWithin is nearest for words that are allowed that many edits.
func nearestWithin(word string, candidates []string, most int) string {
	w := canonical(word)
	best, bestDistance := "", len(w)+1
	for _, c := range candidates {
		d := distance(w, canonical(c))
		if d < bestDistance {
			best, bestDistance = c, d
		}
	}
	if bestDistance <= most {
		return best
	}
	// "max_tokens" is many edits away from "max_output_tokens" and yet means it.
	for _, c := range candidates {
		if within(words(w), words(canonical(c))) || within(words(canonical(c)), words(w)) {
			return c
		}
	}
	return ""
}

// canonical makes spellings equal that differ only in case and separators.
func canonical(s string) string {
	return strings.NewReplacer("-", "_", "__", ".", " ", "_").Replace(strings.ToLower(s))
}

func words(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return r == '_' || r == '.' })
}

// within reports whether all of at least one word of a stand in b, and more
// than a single short one.
func within(a, b []string) bool {
	letters := 0
	for _, w := range a {
		if !contains(b, w) {
			return false
		}
		letters += len(w)
	}
	return letters >= 4
}

// distance counts the edits between two words: insert, delete, replace and the
// swap of two neighbours each count one. Long words are cut, so that a hostile
// key cannot cost more than a few microseconds.
func distance(a, b string) int {
	const most = 80
	ar, br := []rune(a[:min(len(a), most)]), []rune(b[:min(len(b), most)])
	before, last, now := make([]int, len(br)+1), make([]int, len(br)+1), make([]int, len(br)+1)
	for j := range last {
		last[j] = j
	}
	for i := 1; i <= len(ar); i++ {
		now[0] = i
		for j := 1; j <= len(br); j++ {
			cost := 1
			if ar[i-1] == br[j-1] {
				cost = 0
			}
			now[j] = min(last[j]+1, now[j-1]+1, last[j-1]+cost)
			if i > 1 && j > 1 && ar[i-1] == br[j-2] && ar[i-2] == br[j-1] {
				now[j] = min(now[j], before[j-2]+1)
			}
		}
		before, last, now = last, now, before
	}
	return last[len(br)]
}
