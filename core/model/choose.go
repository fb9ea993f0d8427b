package model

import (
	"cmp"
	"slices"
)

// DefaultPriority is the priority of a model for which none is configured.
const DefaultPriority = 100

// Auto is the name that stands for the choice by strength, as does the empty name.
const Auto = "auto"

// Configured is a model that the operator has configured.
type Configured struct {
	// Name is the operator's name for it; unique.
	Name  string
	Model Model
	// Provider is the name of its provider in the configuration, for messages to the operator; it may be empty.
	Provider string
	// Strength rates it; empty is unrated.
	Strength Strength
	// Scope is a kind of task that it is good at; it decides only between models that are otherwise equal.
	Scope string
	// Priority orders models of one tier, the lowest first. See [DefaultPriority].
	Priority int
	// ContextTokens is what its context holds; 0 is unknown.
	ContextTokens int
	// Images: it takes pictures. One that does not is told that there are some and is not shown them.
	Images bool
	Prices Prices
}

// Order sorts the models for a demand, the best first: by how well the strength fits, then priority, then scope, then the order
// in which they are configured. It leaves its argument as it is.
func Order(models []Configured, want Strength, scope string) []Configured {
	sorted := slices.Clone(models)
	misses := func(c Configured) int {
		if scope == "" || c.Scope == scope {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(sorted, func(a, b Configured) int {
		return cmp.Or(
			cmp.Compare(tier(want, a.Strength), tier(want, b.Strength)),
			cmp.Compare(a.Priority, b.Priority),
			cmp.Compare(misses(a), misses(b)),
		)
	})
	return sorted
}
