package terminal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"herald/bots/console/proto"
)

// Result is the answer to one question.
type Result struct {
	Answer  string `json:"answer"`
	Session string `json:"session"`
	Tokens  Tokens `json:"tokens"`
	// Cost is nil when it is unknown.
	Cost *float64 `json:"cost"`
	// Failure is the kind of what went wrong when the answer only says so; see [proto.Facts].
	Failure string `json:"failure,omitempty"`
}

// Tokens that the answer took.
type Tokens struct {
	Input  int `json:"input"`
	Output int `json:"output"`
}

// Once sends text and waits for the final answer of exactly this message, however long the service takes; ctx bounds it. Questions with choices and other
// posts meanwhile are told on opt.Err. Nothing is written to opt.Out: see [Result.Print]. Errors: [ErrUnavailable], [ErrRejected], ctx's cause.
func Once(ctx context.Context, opt Options, text string) (Result, error) {
	opt = opt.withDefaults()
	c := NewClient(opt.Dial, opt.Place)
	defer c.Close()
	a := newAsker(ctx, c, opt.Err)
	defer a.close()
	return a.ask(ctx, text)
}

// Print writes the answer alone, or all as one line of JSON. As text it is cleaned, as it may be shown on a terminal.
func (r Result) Print(w io.Writer, asJSON bool) error {
	if asJSON {
		e := json.NewEncoder(w)
		e.SetEscapeHTML(false) // nobody puts it into a page
		if err := e.Encode(r); err != nil {
			return fmt.Errorf("write the answer as JSON: %w", err)
		}
		return nil
	}
	_, err := fmt.Fprintln(w, strings.TrimRight(Clean(r.Answer), "\n"))
	return err
}

// asker asks questions one after the other over one stream.
type asker struct {
	client  *Client
	err     io.Writer
	records chan *proto.Record
	ended   chan error
	stop    context.CancelFunc
}

func newAsker(ctx context.Context, c *Client, errs io.Writer) *asker {
	ctx, cancel := context.WithCancel(ctx)
	a := &asker{client: c, err: errs, records: make(chan *proto.Record), ended: make(chan error, 1), stop: cancel}
	go func() {
		a.ended <- c.Follow(ctx, func(r *proto.Record) error {
			select {
			case a.records <- r:
				return nil
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}, func(err error) {
			if err != nil {
				fmt.Fprintln(errs, Clean("herald: "+err.Error()+"; waiting for it"))
			}
		})
	}()
	return a
}

// close ends the stream and waits for it.
func (a *asker) close() {
	a.stop()
	<-a.ended
}

// next gives the next record, or why there will be none.
func (a *asker) next() (*proto.Record, error) {
	select {
	case r := <-a.records:
		return r, nil
	case err := <-a.ended:
		a.ended <- err
		return nil, err
	}
}

// ready waits until the stream stands, so that no answer can be missed.
func (a *asker) ready() error {
	for {
		r, err := a.next()
		if err != nil || r.Kind == proto.Ready {
			return err
		}
	}
}

func (a *asker) ask(ctx context.Context, text string) (Result, error) {
	if err := a.ready(); err != nil {
		return Result{}, err
	}
	return a.question(ctx, text)
}

// question sends a line and waits for its answer. The stream is read meanwhile: an answer may be there before the line's receipt.
func (a *asker) question(ctx context.Context, text string) (Result, error) {
	type sent struct {
		t   proto.Taken
		err error
	}
	ctx, cancel := context.WithCancel(ctx)
	done := make(chan sent, 1)
	go func() {
		t, err := a.client.Say(ctx, NewKey(), text)
		done <- sent{t, err}
	}()
	reply := done // nil once it was read
	defer func() {
		cancel()
		if reply != nil {
			<-reply
		}
	}()
	t := newTalk()
	var id string
	var early []*proto.Record
	for {
		var final *proto.Record
		select {
		case s := <-reply:
			reply = nil
			if s.err != nil {
				return Result{}, s.err
			}
			id = s.t.ID
			for _, r := range early {
				if covers(r, id) {
					return a.result(ctx, id, r), nil
				}
				a.aside(r)
			}
			continue
		case r := <-a.records:
			final = t.take(r)
		case err := <-a.ended:
			a.ended <- err
			if err == nil {
				err = errors.New("the stream ended")
			}
			return Result{}, err
		}
		switch {
		case final == nil:
		case final.Card != nil && len(final.Covers) == 0:
			fmt.Fprintln(a.err, cardText(final.Card, ""))
		case id == "":
			early = append(early, final)
		case covers(final, id):
			return a.result(ctx, id, final), nil // also a failed answer, whose card only offers to try again
		default:
			a.aside(final)
		}
	}
}

// aside tells of a post that answers something else.
func (a *asker) aside(r *proto.Record) { fmt.Fprintln(a.err, strings.TrimRight(Clean(r.Text), "\n")) }

// covers reports whether a post answers a line.
func covers(r *proto.Record, id string) bool { return r.ReplyTo == id || slices.Contains(r.Covers, id) }

func (a *asker) result(ctx context.Context, id string, r *proto.Record) Result {
	out := Result{Answer: r.Text}
	f, err := a.client.Facts(ctx, id)
	if err != nil {
		return out // a command's answer has none
	}
	out.Session, out.Cost, out.Failure = f.Session, f.Cost, f.Failure
	out.Tokens = Tokens{Input: f.InputTokens, Output: f.OutputTokens}
	return out
}

// cardText is a question as plain text; how says how to answer.
func cardText(c *proto.Card, how string) string {
	var b strings.Builder
	if c.Title != "" {
		b.WriteString("? " + Clean(c.Title))
	}
	for _, f := range c.Fields {
		b.WriteString("\n  " + Clean(f.Name) + ": " + Clean(f.Value))
	}
	for i, ch := range c.Choices {
		fmt.Fprintf(&b, "\n  [%d] %s", i+1, Clean(ch.Label))
	}
	if how != "" {
		b.WriteString("\n  " + how)
	}
	return strings.TrimPrefix(b.String(), "\n")
}
