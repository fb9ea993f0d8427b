package model

import (
	"fmt"
	"slices"
)

// pictures reports whether the request shows any.
func (r *Request) pictures() bool {
	return slices.ContainsFunc(r.Messages, func(m Message) bool { return len(m.Images) > 0 })
}

// withoutPictures is the request for a model that takes none: it says how many there are and why they are not shown.
func (r *Request) withoutPictures(name string) *Request {
	if !r.pictures() {
		return r
	}
	out := *r
	out.Messages = slices.Clone(r.Messages)
	for i := range out.Messages {
		m := &out.Messages[i]
		if n := len(m.Images); n > 0 {
			m.Text += fmt.Sprintf("\n\n[Pictures: %d. You cannot see them, because the model %q takes no pictures; an admin can choose one that does and set models.NAME.images. Say so if it matters.]", n, name)
			m.Images = nil
		}
	}
	return &out
}

// blind is 1 for a model that takes no pictures.
func blind(c Configured) int {
	if c.Images {
		return 0
	}
	return 1
}
