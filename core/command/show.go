package command

import (
	"context"
	"fmt"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
)

// show gives the whole text of a delivery that its age had replaced by one line. A text that was for one person alone exists for that person only.
func show(ctx context.Context, c Call) (string, error) {
	if len(c.Args) == 0 {
		return fmt.Sprintf(showMissing, c.mark()), nil
	}
	ref := c.Args[0]
	var queries []store.Query
	for _, p := range c.places() {
		queries = append(queries,
			store.Get{Partition: p, Key: store.Key{Collection: conversation.Sent, Name: ref}},
			store.Get{Partition: p, Key: store.Key{Collection: conversation.Outgoing, Name: ref}})
	}
	answers, err := c.Read.Read(ctx, queries...)
	if err != nil {
		return "", fmt.Errorf("show %q of %s: %w", quote(ref), c.Where, err)
	}
	for _, a := range answers {
		doc, ok := a.Doc()
		if !ok {
			continue
		}
		var d conversation.Delivery
		if err := conversation.Decode(doc, &d); err != nil {
			return "", fmt.Errorf("show %q of %s: %w", quote(ref), c.Where, err)
		}
		if d.Replaced != "" && visible(&d, c.Person) {
			return d.Replaced, nil
		}
	}
	return fmt.Sprintf(showUnknown, quote(ref)), nil
}

// visible reports whether the caller may know of the delivery.
func visible(d *conversation.Delivery, p people.Person) bool {
	return d.Only == "" || d.Only == p.Identity
}
