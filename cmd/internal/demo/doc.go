// Package demo shows Herald at work on one machine in under a minute: a small chat platform and a scripted model in its own
// process, and the service that ships as its child, which it kills in the middle of an answer.
//
// What it prints is what the platform saw. It asserts what it claims: a demo that would show a lost or a doubled answer fails.
package demo
