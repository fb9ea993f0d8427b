// Package policy is the gate of an installation: it joins the rules of the configuration file with those that stand in the store to one
// list, and answers calls by it with what it read of the conversation, of the person's role and of what a person let through.
//
// [Keeper] is the gate; [Book] changes the rules in the store. The decision itself is made in package gate: this one reads, and must
// decide nothing that gate could. Documents:
//
//	partition system           gate/rules      the rules of the run time, and which of Herald's own were once seeded
//	partition conversation/…   session/bypass  what a person let through; written by clicks
//	                           session/context the run context
//	log "audit" of system                      each change of a rule, with who made it
package policy
