package model

import (
	"fmt"
	"slices"
	"strings"
)

// Strength rates a model, or says what strength an agent needs. The empty Strength is unrated, or no demand.
type Strength string

// The strengths, from weak to strong. There is no other spelling.
const (
	VeryLow  Strength = "very_low"
	Low      Strength = "low"
	Average  Strength = "average"
	High     Strength = "high"
	VeryHigh Strength = "very_high"
)

// Strengths lists them from weak to strong.
func Strengths() []Strength { return []Strength{VeryLow, Low, Average, High, VeryHigh} }

// ParseStrength reads a strength; "" is none. Any other word is an error that lists the five.
func ParseStrength(s string) (Strength, error) {
	if s == "" || slices.Contains(Strengths(), Strength(s)) {
		return Strength(s), nil
	}
	words := make([]string, 0, len(Strengths()))
	for _, w := range Strengths() {
		words = append(words, string(w))
	}
	return "", fmt.Errorf("strength %q is none of %s", s, strings.Join(words, ", "))
}

// tier says how well a model of strength have serves a demand: 0 exactly, 1 stronger than asked, 3 weaker or unrated.
// (2 was a model of the wrong scope, which no longer forms a tier.)
func tier(want, have Strength) int {
	all := Strengths()
	switch w, h := slices.Index(all, want), slices.Index(all, have); {
	case want == "" || w == h && h >= 0:
		return 0
	case h > w:
		return 1
	default:
		return 3
	}
}
