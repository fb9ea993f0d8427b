package outbox

import (
	"errors"
	"fmt"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
)

// count notes that an attempt at piece i begins at the instant at.
func count(d *conversation.Delivery, i int, at time.Time) {
	p := &d.Pieces[i]
	p.Attempts++
	p.TriedAt, p.Clean, p.Receipt = at, false, nil
	d.NotBefore = time.Time{}
}

// sent notes the platform's receipt for piece i. unsure says that an earlier attempt may be the one that stands, so that a platform which
// can edit is told the text once more where it may differ.
func sent(d *conversation.Delivery, i int, r chat.Receipt, unsure bool, caps chat.Capabilities) {
	p := &d.Pieces[i]
	p.Settled = !unsure || !caps.Edits || !mayDiffer(d, p)
	p.Receipt = &r
	d.NotBefore = time.Time{}
}

// notFound notes that no attempt at piece i stands.
func notFound(d *conversation.Delivery, i int) { d.Pieces[i].Clean = true }

// edited notes that piece i shows its text since now.
func edited(d *conversation.Delivery, i int, now time.Time) {
	d.Pieces[i].Settled = true
	d.NotBefore = time.Time{}
	if i == 0 && !d.Resend.After(now) {
		d.Resend = time.Time{}
	}
}

// gone notes that the message of piece i was removed by somebody. What was shown once is not posted again; a text that nobody has seen
// is, as a piece of its own, because a platform may answer a known nonce with the message that is gone.
func gone(d *conversation.Delivery, i int) {
	p := d.Pieces[i]
	d.NotBefore, d.Resend = time.Time{}, time.Time{}
	d.Pieces[i].Settled = true
	if p.Settled {
		return
	}
	d.Pieces[i].Text = ""
	at := i + 1
	for j := at; j < len(d.Pieces); j++ {
		if d.Pieces[j].Attempts > 0 {
			at = len(d.Pieces) // the places of pieces that may stand must not change
			break
		}
	}
	pieces := append([]conversation.Piece(nil), d.Pieces[:at]...)
	pieces = append(pieces, conversation.Piece{Text: p.Text})
	d.Pieces = append(pieces, d.Pieces[at:]...)
}

// failure is what a failed call means.
type failure struct {
	// counts: it speaks against the delivery.
	counts bool
	// clean: it is certain that the call did nothing. gone: the message to be edited does not stand.
	clean, gone bool
	// dead: only an operator can help. whole: the demand to wait holds for the workspace.
	dead, whole bool
	after       time.Duration
	// code and text are for the dead letter and the log.
	code, text string
}

// crash is the error of an adapter that panicked.
type crash struct{ value any }

func (c *crash) Error() string { return fmt.Sprintf("the adapter panicked: %v", c.value) }

// grain is added to what a platform demands: instants are cut to whole milliseconds, the one from which a pause is counted and the one at
// which it ends, and a call must not come a fraction of one early.
const grain = 2 * time.Millisecond

// classify reads the error of an adapter. What it does not know is an outage whose outcome is unknown.
func classify(err error) failure {
	if r, ok := errors.AsType[*chat.Refused](err); ok {
		return failure{counts: true, clean: true, gone: r.Gone, code: r.Code, text: r.Reason}
	}
	if o, ok := errors.AsType[*chat.Outage](err); ok {
		f := failure{clean: o.NotSent, dead: o.Dead, whole: o.Whole, code: "outage", text: o.Reason}
		if o.RetryAfter > 0 {
			f.after = o.RetryAfter + grain
		}
		return f
	}
	if _, ok := errors.AsType[*crash](err); ok {
		return failure{counts: true, code: "panic", text: "the adapter panicked"}
	}
	return failure{code: "outage", text: "the outcome is not known"}
}

// failed notes what f says about d and when to go on. i is the piece that was sent, or [None] for an edit or a look-back, which leave
// nothing uncertain behind. unsure says that an earlier attempt at it may stand, about which this one's failure says nothing.
func failed(d *conversation.Delivery, i int, f failure, unsure bool, now time.Time, r Rules, spread float64) {
	if i != None && f.clean && !unsure {
		d.Pieces[i].Clean = true
	}
	var pause time.Duration
	switch {
	case f.counts:
		d.Refusals++
		pause = r.refusedPause(d.Refusals, spread)
	case f.dead:
		pause = r.deadPause(ageOf(d, now))
	default:
		pause = max(f.after, r.outagePause(ageOf(d, now), spread))
	}
	if f.counts && f.gone && d.Interaction != "" {
		// The invocation's response is out of reach: what is said late is an ordinary message.
		d.Interaction, d.Refusals, pause = "", d.Refusals-1, 0
	}
	d.NotBefore = now.Add(pause)
}
