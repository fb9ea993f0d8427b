// Package stack is the engine's own tools: delegation, clarification, todos, the scratchpad, lists and activation. They follow rules of
// their own, by the place of the frame that asks; an agent's selection neither names nor leaves them out.
//
// The tools decide nothing about a session and write nothing: they check what was asked and say what it comes to (a frame to push, a
// wait, a line of the scratchpad, a debt), and the engine commits that. The package must not know the engine, a store or where agents
// come from.
package stack
