// Package people knows who speaks: identities (accounts on platforms), persons (humans inside Herald), roles, and the
// footprint that says where a person's words stand.
//
//	partition          collection/name    what
//	identity/<id>      identity/self      the account and the person that it names; inserted if absent
//	person/<id>        person/self        the person; made by whoever finds the name and no person
//	person/<id>        index "footprint"  partitions that hold words of the person or data about them, by time of the note
//	system             people/admins      who is an admin, one document
//
// What an event must know of its sender is a [Lookup]: questions that can be part of a larger read, and a pure function
// that understands the answers. Only what is not settled yet costs a write.
//
// This package must not know platforms, conversations or what a role may do; it says who somebody is.
package people
