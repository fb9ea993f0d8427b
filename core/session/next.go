package session

import (
	"slices"
	"strconv"
	"time"
)

// Decision is one thing to do now. ID names it; what is under way is told to [Next] by it and not given again.
type Decision struct {
	ID    string
	Do    Do
	Frame string
	// Call is the call to run or to refuse.
	Call string
	// Text is the final answer of Answer and Pop, and why of Refuse and Fail.
	Text string
	// Status is how a popped frame ended.
	Status Status
	// Until is the end of the earliest wait of Park, zero when none has one.
	Until time.Time
}

// Do is what a decision asks for.
type Do string

// What can be asked for.
const (
	CallModel Do = "call model"
	RunCall   Do = "run call"
	Refuse    Do = "refuse call" // end the call without running it
	PopFrame  Do = "pop frame"
	Park      Do = "park"   // commit, release the claim and wait for a click, an answer or Until
	Say       Do = "answer" // end the turn with Text, or as cancelled or failed as the state says
	Fail      Do = "fail"   // end the turn honestly, Text says why
)

// Options are what Next must know besides the state.
type Options struct {
	// Busy holds the ids of decisions that are being performed in this process.
	Busy map[string]bool
	// Again holds the ids of calls that had begun in a process that is gone and may be repeated; see [Recover].
	Again map[string]bool
	// MaxRounds bounds the model calls of a frame in a turn; 0 means [MaxRounds]. Rounds are the bounds of frames that have one of their own.
	MaxRounds int
	Rounds    map[string]int
}

// Next is what to do now: decisions that may be performed side by side. It is empty while everything that can go on is under way,
// and between turns.
func Next(s *State, o Options) []Decision {
	if s.Turn == nil || s.Closed {
		return nil
	}
	if s.Turn.Cancel != nil || s.Turn.Failure != nil {
		if len(o.Busy) > 0 {
			return nil // what runs is cancelled and ends first, so that its outcome is in the log
		}
		return []Decision{{ID: "end/" + s.Turn.ID, Do: Say}}
	}
	var ds []Decision
	for i := range s.Frames {
		ds = append(ds, s.nextOf(&s.Frames[i], o)...)
	}
	ds = slices.DeleteFunc(ds, func(d Decision) bool { return o.Busy[d.ID] })
	if len(ds) > 0 || len(o.Busy) > 0 {
		return ds
	}
	if len(s.Waits) > 0 {
		return []Decision{{ID: "park/" + s.Turn.ID, Do: Park, Until: earliest(s.Waits)}}
	}
	return []Decision{{ID: "end/" + s.Turn.ID, Do: Fail, Text: "the conversation was left in a state from which nothing follows"}}
}

func (s *State) nextOf(f *Frame, o Options) []Decision {
	if open := slices.IndexFunc(f.Calls, func(c CallState) bool { return !c.Ended() }); open >= 0 {
		return s.nextCalls(f, open, o)
	}
	limit := o.MaxRounds
	if own := o.Rounds[f.ID]; own > 0 {
		limit = own
	}
	if limit <= 0 {
		limit = MaxRounds
	}
	switch {
	case f.Final != nil && f.Parent == "":
		return []Decision{{ID: "end/" + s.Turn.ID, Do: Say, Frame: f.ID, Text: *f.Final}}
	case f.Final != nil:
		return []Decision{{ID: "pop/" + f.ID, Do: PopFrame, Frame: f.ID, Text: *f.Final, Status: Done}}
	case !f.Unseen:
		return nil
	case f.Rounds >= limit:
		return s.exhausted(f, "it had used its "+strconv.Itoa(limit)+" rounds without coming to an answer")
	case f.Same >= MaxRepeats:
		return s.exhausted(f, "it asked for the same thing "+strconv.Itoa(f.Same)+" times in a row")
	default:
		return []Decision{{ID: ModelID(f), Do: CallModel, Frame: f.ID}}
	}
}

func (s *State) exhausted(f *Frame, why string) []Decision {
	if f.Parent == "" {
		return []Decision{{ID: "end/" + s.Turn.ID, Do: Fail, Frame: f.ID, Text: why}}
	}
	return []Decision{{ID: "pop/" + f.ID, Do: PopFrame, Frame: f.ID, Text: "The agent " + f.Agent + " gave no answer: " + why + ".", Status: Exhausted}}
}

// nextCalls gives the calls that may run: side by side only when all of the answer are read-only, or all are delegations.
func (s *State) nextCalls(f *Frame, first int, o Options) []Decision {
	all := func(p func(c CallState) bool) bool {
		return !slices.ContainsFunc(f.Calls, func(c CallState) bool { return !p(c) })
	}
	width := 1
	if all(func(c CallState) bool { return c.ReadOnly }) || all(func(c CallState) bool { return c.Delegates }) {
		width = MaxParallel
	}
	var ds []Decision
	for _, c := range f.Calls[first:] {
		if c.Ended() {
			continue
		}
		if width--; width < 0 {
			break
		}
		id := CallID(c.ID)
		switch {
		case c.Malformed != "":
			ds = append(ds, Decision{ID: id, Do: Refuse, Frame: f.ID, Call: c.ID, Text: c.Malformed})
		case c.Waits != "" || c.Child != "":
		case c.Begun && !o.Again[c.ID]:
		default:
			ds = append(ds, Decision{ID: id, Do: RunCall, Frame: f.ID, Call: c.ID})
		}
	}
	return ds
}

// ModelID names the next model call of a frame: the same until its answer is in the log.
func ModelID(f *Frame) string { return "model/" + f.ID + "/" + strconv.Itoa(f.Answers+1) }

// CallID names the running of a call.
func CallID(call string) string { return "call/" + call }

func earliest(ws []Wait) (t time.Time) {
	for _, w := range ws {
		if !w.End.IsZero() && (t.IsZero() || w.End.Before(t)) {
			t = w.End
		}
	}
	return t
}

// UnknownText is what the model is told of a call that had begun in a process that died.
const UnknownText = "The service was restarted while this call was running. Whether it took effect is not known. It was not run again; find out, or ask the person, before repeating it."

// Recover settles what had begun in a process that is gone: calls that must not be repeated end as unknown, the others are named
// in again, to be run once more under the same id.
func Recover(s *State) (events []Event, again map[string]bool) {
	for _, f := range s.Frames {
		for _, c := range f.Calls {
			if !c.Begun || c.Ended() || c.Child != "" || c.Waits != "" {
				continue
			}
			if c.Repeatable {
				if again == nil {
					again = make(map[string]bool)
				}
				again[c.ID] = true
				continue
			}
			events = append(events, Finish(f.ID, c.ID, Unknown, UnknownText))
		}
	}
	return events, again
}

// Finish is the event that ends a call.
func Finish(frame, call string, status Status, text string) Event {
	return Event{Kind: CallFinished, ID: "result/" + call, Frame: frame, Result: &Result{Call: call, Status: status, Text: text}}
}

// EndWait is the events of a wait's outcome: the first one, and the end of the call where the wait was all that it did or a person
// refused it. An approved call is left for Next to give.
func EndWait(s *State, o Outcome) []Event {
	i := slices.IndexFunc(s.Waits, func(w Wait) bool { return w.ID == o.Wait })
	if i < 0 {
		return nil
	}
	w := s.Waits[i]
	f, c := s.Call(w.Call)
	if c == nil {
		return nil
	}
	es := []Event{{Kind: WaitEnded, ID: "waited/" + w.ID, Frame: f.ID, Outcome: &o}}
	switch o.Result {
	case Approved:
		return es
	case Replied:
		return append(es, Finish(f.ID, c.ID, Done, o.Text))
	case Elapsed:
		return append(es, Finish(f.ID, c.ID, Done, "The time that was waited for has come."))
	case Refused:
		return append(es, Finish(f.ID, c.ID, Rejected, RefusalText(ByPerson, o.Text)))
	default:
		if w.Kind == Approval {
			return append(es, Finish(f.ID, c.ID, Denied, RefusalText(ByTime, "")))
		}
		return append(es, Finish(f.ID, c.ID, Rejected, "Nobody answered in time. Go on without it, or say what is missing."))
	}
}
