// Package turn is the engine: it performs the decisions of one session, one commit a step.
//
//	claim ─► load ─► settle what a dead process left ─► controls ─► waits ─► inbox
//	                                                                          │
//	      ┌───────────────────────────────────────────────────────────────────┘
//	      ▼
//	  session.Next ─► call the model (streamed to a live message)
//	      ▲        ├► run calls through the gate
//	      │        ├► push, pop, refuse
//	      └ commit ┤
//	               ├► park: commit the waits, release the claim
//	               └► end: answer, delivery, record and release in one commit
//
// What was decided but is not yet durable (messages taken in, an answer of the model whose calls have not begun) is kept as
// pending events and goes into the next commit, so that a plain turn is one commit after its claim. A commit that answers or
// starts a tool is guarded by the newest stop.
//
// The package must not know any platform, provider or store driver; it meets them as ports. It starts goroutines only where
// decisions may be performed side by side and for the watch that a stop is noticed by, and waits for all of them.
package turn
