// Package agents finds agents: the built-in ones, which are part of the program, and those of the operator's folder, where
// each agent is a folder whose name is its id, with a file AGENT.md: settings between two lines "---", then the prompt.
//
// A [Registry] always has a usable set of agents. It looks at the folder again on each request, at the cost of a few stat
// calls, and swaps the whole set at once. A file that is broken or half written leaves the version before it in force, and
// [Registry.Problems] says so until it is mended.
//
// The package must not know sessions, tools, models or platforms: it says what a file asks for, and whoever runs the agent
// decides what that means.
package agents
