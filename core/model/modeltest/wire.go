package modeltest

import (
	"net/http"
)

// Wire says how a [Server] departs from a well-behaved answer. The zero Wire does not.
type Wire struct {
	// Status and Body answer with an HTTP error; Header is added to any answer (Retry-After).
	Status int
	Body   string
	Header http.Header
	// Raw is sent as the body instead of the reply, byte for byte, with ContentType (text/event-stream when empty).
	Raw         string
	ContentType string
	// HangFirst keeps the connection open without an answer, Hang after the piece with this number (from 1), until the
	// client goes away. Comments makes the hang send comment lines, as proxies do.
	HangFirst bool
	Hang      int
	Comments  bool
	// Cut breaks the connection after the piece with this number (from 1), in the middle of the body.
	Cut int
	// CutRaw breaks the connection after Raw.
	CutRaw bool
	// Endless repeats the text until the client goes away.
	Endless bool
	// NoDone leaves out the [DONE] line, NoFinish the finish reason and [DONE].
	NoDone, NoFinish bool
}
