// Package inproc is what drivers of a store with one process share: the paces and the hints, which live as long as the process.
//
// Both may be forgotten at a restart without harm: a pace that begins anew is at worst corrected by the platform's own limit, and
// nothing rests on a hint. It must not know any driver, and keeps nothing on disk.
package inproc
