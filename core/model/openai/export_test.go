package openai

import (
	"bytes"
	"encoding/json"
	"io"

	"herald/core/model"
)

// Normalise runs the normaliser over a body to its end.
func Normalise(body []byte) ([]byte, error) {
	return io.ReadAll(newNormaliser(bytes.NewReader(body), "text/event-stream", func() {}))
}

// Folder is the accumulator alone.
type Folder struct{ f *fold }

// NewFolder is an accumulator for a request.
func NewFolder(r *model.Request) *Folder {
	n, err := newNames(r.Tools)
	if err != nil {
		panic(err)
	}
	d := &driver{o: Options{Name: "small", MaxAnswerBytes: DefaultMaxAnswerBytes}}
	return &Folder{newFold(d, r, n)}
}

// Add takes one event.
func (f *Folder) Add(raw []byte) (string, error) { return f.f.add(raw) }

// Flush is the text held back.
func (f *Folder) Flush() string { return f.f.flush() }

// Answer is the answer so far.
func (f *Folder) Answer() (*model.Answer, error) { return f.f.answer() }

// Screen shows text in the pieces given.
func Screen(key string, tools bool, pieces ...string) (shown string, calls int) {
	s := newScreen(key, tools)
	for _, p := range pieces {
		shown += s.write(p)
	}
	shown += s.flush()
	return shown, len(s.calls)
}

// SplitJSON is what the scanner takes as the first object of a text.
func SplitJSON(text string) (object string, complete bool) {
	var s scanner
	n := s.feed(text)
	return text[:n], s.complete && json.Valid([]byte(text[:n]))
}
