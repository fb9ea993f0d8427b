// Package gate holds the rules of permission: which call of a tool runs, which one a person must decide, and which one never runs.
//
// [Set.Decide] is the one function that decides; what a model is shown ([Set.Hides]) is read from the same list. Everything here is
// pure: rules, the present instant, what was read of a person and of a bypass are passed in. Two things hold whatever the rules say:
// nothing lifts a deny, and where no rule matches, or the rules could not be read, a person decides.
//
// The package must not know where rules are kept, how a person is asked, or what a tool does with its arguments.
package gate
