// Package agents finds agents: the built-in ones, which are part of the program, and those of the operator's folder, as a folder
// with meta.json and AGENT.md, a folder with AGENT.md alone, or one file. It writes new ones, changes single settings, and holds
// the scenarios that an agent is tried with.
//
// A [Registry] always has a usable set of agents. It looks at the folder again on each request, at the cost of a few stat
// calls, and swaps the whole set at once. A file that is broken or half written leaves the version before it in force, and
// [Registry.Problems] says so until it is mended.
//
// The package must not know sessions, tools, models or platforms: it says what a file asks for, and whoever runs the agent
// decides what that means.
package agents
