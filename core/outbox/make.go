package outbox

import (
	"cmp"
	"fmt"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// Pieces gives d its pieces: the parts of its final text as [chat.Adapter] cut them. What the pieces before know of messages that stand already is kept, and
// these are edited to their final text.
func Pieces(d *conversation.Delivery, parts []string) {
	pieces := make([]conversation.Piece, len(parts))
	for i, text := range parts {
		if i < len(d.Pieces) {
			pieces[i] = d.Pieces[i]
		}
		pieces[i].Text, pieces[i].Settled = text, false
	}
	d.Pieces = pieces
}

// Arm counts the first attempt at d, whose pieces are cut, so that the commit that writes it can also take the outbox's claim and the send
// can begin as soon as it stands. at is the store's time as the caller knows it. A delivery with a message that stands already or may
// stand needs no arming and is left as it is; Arm then answers false.
func Arm(d *conversation.Delivery, at time.Time) bool {
	if len(d.Pieces) == 0 || d.Live || d.Pieces[0].Attempts > 0 || d.Pieces[0].Receipt != nil {
		return false
	}
	count(d, 0, at)
	return true
}

// Express is what a commit needs that says d and takes the outbox of p for holder at once, so that [Worker.Express] can deliver it without
// reading it again: the operations, and guards that hold only while no other delivery waits, because that one would come first, and while
// nobody holds the outbox, because the attempt that d counts would be nobody's. standing says that d stands in the outbox already (it was
// live). When one of the guards does not hold, d is said by [conversation.Say] instead.
func Express(p store.Partition, d *conversation.Delivery, standing bool, holder string, lease time.Duration) ([]store.Guard, []store.Op) {
	others := 1
	if standing {
		others = 2
	}
	m := store.MemberOf(p, "")
	guards := []store.Guard{store.Fewer{Collection: conversation.Outgoing, N: others}, store.Free{Agenda: store.Outbox, Member: m}}
	return guards, append(conversation.Say(p, d), store.Take{Agenda: store.Outbox, Member: m, Holder: holder, Lease: lease})
}

// staleFormat is how the line for an old answer writes its time: in UTC, as no person's zone is known here.
const staleFormat = "2006-01-02 15:04 UTC"

// replace makes one line of an answer that is too old to be read as one. The whole text stays with the delivery, and a button or a command shows it.
func replace(d *conversation.Delivery, caps chat.Capabilities) {
	d.Replaced = d.Text
	d.Text = fmt.Sprintf("I wrote an answer at %s and could not deliver it in time.", d.MadeAt.UTC().Format(staleFormat))
	d.Card, d.Pieces = nil, nil
	if caps.Cards {
		d.Card = &chat.Card{Buttons: []chat.Button{{Action: conversation.ShowMark + d.ID, Label: "Show"}}}
		return
	}
	d.Text += fmt.Sprintf(" `%sshow %s` shows it.", cmp.Or(caps.CommandMark, "/"), d.ID)
}
