// Package skills finds skills: folders with a file SKILL.md, settings between two lines "---" and instructions behind them, beside which
// references/, assets/ and scripts/ may stand.
//
// A skill is shared, from the operator's folders, or owned by one agent, from that agent's folder. Who owns it is a property of its
// registration: every question to a [Registry] names the agent that asks, and what another agent owns does not exist for it. The tools that
// agents use skills with are a [tool.Source]; they ask the registry at each call.
//
// A [Registry] looks at its folders again when it is asked, and swaps the whole set at once. A skill that is broken or half written keeps the
// version before it, and holds its name where there was none: no skill of another folder takes its place. [Registry.Problems] says what is
// wrong with every file that was found and is not in force.
//
// The package must not know agents' files, sessions, models' wire formats or platforms.
package skills
