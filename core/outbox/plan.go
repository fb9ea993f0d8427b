package outbox

import (
	"time"

	"herald/core/chat"
	"herald/core/conversation"
)

// Action is what to do next with a delivery.
type Action string

// The actions.
const (
	// Leave: it is being written still; it does not hold up others.
	Leave Action = "leave"
	// Wait until Step.Until. It holds up the later deliveries of its conversation unless Step.Pass is set.
	Wait Action = "wait"
	// Cut the text into pieces.
	Cut Action = "cut"
	// Replace the text by one line, because it is too old to be read as an answer.
	Replace Action = "replace"
	// Find out whether an earlier attempt left Step.Piece on the platform.
	Find Action = "find"
	// Send Step.Piece, after its attempt was counted.
	Send Action = "send"
	// Edit Step.Piece, which stands, so that it shows its text.
	Edit Action = "edit"
	// Settle it: everything stands.
	Settle Action = "settle"
	// Bury it with Step.Reason.
	Bury Action = "bury"
)

// Step is a decision about one delivery.
type Step struct {
	Do    Action
	Piece int
	Until time.Time
	// Pass: later deliveries need not wait for this one.
	Pass bool
	// Again: the piece stays settled; it is only edited once more.
	Again bool
	// Double: an earlier attempt may stand and there is no way to find out.
	Double bool
	Reason Reason
}

// None is the piece of a [Plan] that has no attempt counted ahead.
const None = -1

// Plan decides what to do next with d at the store's instant now. armed is the piece whose attempt this holder has counted in the store
// and not used yet, or [None].
func Plan(d *conversation.Delivery, now time.Time, caps chat.Capabilities, r Rules, armed int) Step {
	r = r.withDefaults()
	age := ageOf(d, now)
	switch {
	case d.Live:
		return Step{Do: Leave}
	case shown(d) && !d.Uncut:
		return again(d, now, caps, r)
	case d.Refusals >= r.MaxAttempts:
		return Step{Do: Bury, Reason: ReasonRefused}
	case age >= r.MaxAge:
		return Step{Do: Bury, Reason: ReasonExpired}
	case d.NotBefore.After(now):
		return Step{Do: Wait, Until: d.NotBefore}
	case r.StaleAfter > 0 && age >= r.StaleAfter && d.Kind == conversation.Answer && d.Replaced == "" && untouched(d):
		return Step{Do: Replace}
	case len(d.Pieces) == 0, d.Uncut:
		return Step{Do: Cut}
	}
	for i := range d.Pieces {
		if p := &d.Pieces[i]; !p.Settled {
			return pieceStep(d, i, now, caps, r, armed)
		}
	}
	return Step{Do: Settle} // not reached: shown covers it
}

// pieceStep decides about the first piece that does not stand as it should.
func pieceStep(d *conversation.Delivery, i int, now time.Time, caps chat.Capabilities, r Rules, armed int) Step {
	p := &d.Pieces[i]
	timeout := caps.SendTimeout
	if timeout <= 0 {
		timeout = r.SendTimeout
	}
	tried := p.TriedAt.Add(timeout)
	switch {
	case p.Receipt != nil && caps.Edits:
		return Step{Do: Edit, Piece: i}
	case armed == i, certain(p):
		return Step{Do: Send, Piece: i}
	case tried.After(now):
		return Step{Do: Wait, Piece: i, Until: tried}
	case caps.Nonce && nonceHolds(d, p, now.Add(timeout), caps.NonceFor):
		return Step{Do: Send, Piece: i}
	case caps.LookBack:
		return Step{Do: Find, Piece: i}
	default:
		return Step{Do: Send, Piece: i, Double: true}
	}
}

// again decides about a delivery that is shown whole: one whose turn changed hands is edited once more after the old lease's end.
func again(d *conversation.Delivery, now time.Time, caps chat.Capabilities, r Rules) Step {
	switch {
	case d.Resend.IsZero() || !caps.Edits || d.Refusals >= r.MaxAttempts:
		return Step{Do: Settle}
	case d.Resend.After(now):
		return Step{Do: Wait, Until: d.Resend, Pass: true}
	case d.NotBefore.After(now):
		return Step{Do: Wait, Until: d.NotBefore, Pass: true}
	default:
		return Step{Do: Edit, Piece: 0, Again: true}
	}
}

// shown reports whether every piece stands as it should.
func shown(d *conversation.Delivery) bool {
	for i := range d.Pieces {
		if !d.Pieces[i].Settled {
			return false
		}
	}
	return len(d.Pieces) > 0
}

// untouched reports whether it is certain that nothing of d stands.
func untouched(d *conversation.Delivery) bool {
	for i := range d.Pieces {
		if p := &d.Pieces[i]; p.Receipt != nil || !certain(p) {
			return false
		}
	}
	return true
}

// certain reports whether no attempt at p can stand. A receipt that cannot be edited any more counts as none: it is posted anew.
func certain(p *conversation.Piece) bool { return p.Attempts == 0 || p.Clean || p.Receipt != nil }

// nonceHolds reports whether a send that ends before end still falls into the window of the nonce of the first attempt. Only the last
// attempt's instant is kept: with several, the window counts from the instant before which none can have been.
func nonceHolds(d *conversation.Delivery, p *conversation.Piece, end time.Time, window time.Duration) bool {
	first := p.TriedAt
	if p.Attempts > 1 {
		first = d.After
	}
	return !first.IsZero() && end.Before(first.Add(window))
}

// mayDiffer reports whether a message that an earlier attempt left may show another text than the piece: a live message that was posted
// before its text was final.
func mayDiffer(d *conversation.Delivery, p *conversation.Piece) bool {
	return p.TriedAt.Before(d.MadeAt) || p.Attempts > 1 && d.After.Before(d.MadeAt)
}

// ageOf is how long ago the text became final; 0 when that is not known.
func ageOf(d *conversation.Delivery, now time.Time) time.Duration {
	if d.MadeAt.IsZero() {
		return 0
	}
	return max(now.Sub(d.MadeAt), 0)
}
