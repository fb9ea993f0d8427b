package terminal

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"herald/bots/console/proto"

	tea "charm.land/bubbletea/v2"
)

// Chat is a conversation until the person leaves (nil), the input ends (nil, after the last answer) or ctx ends (its cause). With opt.TTY it is a line editor with
// streamed answers; without, every line of the input is a message (a backslash at its end joins the next line to it), and the answers are printed in order
// as plain text. Errors: [ErrUnavailable] when the service cannot be reached at the start, [ErrRejected] for a line of a pipe that the service will not take.
func Chat(ctx context.Context, opt Options) error {
	opt = opt.withDefaults()
	if !opt.TTY {
		return pipe(ctx, opt)
	}
	c := NewClient(opt.Dial, opt.Place)
	defer c.Close()
	if _, err := c.History(ctx, 1); err != nil { // before the screen changes, so that the error stands alone
		return err
	}
	hist, err := openHistory(opt.HistoryFile)
	if err != nil {
		fmt.Fprintln(opt.Err, "herald: "+err.Error())
	}
	run, cancel := context.WithCancel(ctx)
	calls := &calls{ctx: run, client: c}
	model := newUI(calls, newRenderer(!opt.plainOnly()), hist, opt.Replay)
	p := tea.NewProgram(model, tea.WithInput(opt.In), tea.WithOutput(opt.Out), tea.WithEnvironment(opt.Environ), tea.WithoutSignalHandler())
	var follower sync.WaitGroup
	follower.Go(func() {
		err := c.Follow(run, func(r *proto.Record) error {
			p.Send(recordMsg{r})
			return nil
		}, func(err error) { p.Send(linkMsg{err}) })
		if run.Err() == nil {
			p.Send(endedMsg{err})
		}
	})
	follower.Go(func() { // an orderly end: the library does not wait for its reader when it is given a context that ends
		<-run.Done()
		p.Send(endedMsg{})
	})
	last, err := p.Run()
	cancel()
	follower.Wait()
	calls.wait()
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err != nil && !errors.Is(err, tea.ErrInterrupted) {
		return fmt.Errorf("run the terminal: %w", err)
	}
	if m, ok := last.(*ui); ok {
		return m.failed
	}
	return nil
}

// calls are what the screen asks of the service. The screen's own goroutines end when they like; wait waits for them.
type calls struct {
	ctx    context.Context //nolint:containedctx // the life of one Chat
	client *Client

	mu    sync.Mutex
	ended bool
	group sync.WaitGroup
}

// enter reports whether a call may still begin; leave ends it.
func (c *calls) enter() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return false
	}
	c.group.Add(1)
	return true
}

func (c *calls) wait() {
	c.mu.Lock()
	c.ended = true
	c.mu.Unlock()
	c.group.Wait()
}

func (c *calls) say(ctx context.Context, key, text string) tea.Cmd {
	return func() tea.Msg {
		if !c.enter() {
			return nil
		}
		defer c.group.Done()
		t, err := c.client.Say(ctx, key, text)
		return saidMsg{text: text, id: t.ID, err: err}
	}
}

func (c *calls) choose(action, label string) tea.Cmd {
	return func() tea.Msg {
		if !c.enter() {
			return nil
		}
		defer c.group.Done()
		_, err := c.client.Choose(c.ctx, NewKey(), action)
		return choseMsg{label, err}
	}
}

func (c *calls) history(limit int) tea.Cmd {
	return func() tea.Msg {
		if !c.enter() {
			return nil
		}
		defer c.group.Done()
		all, err := c.client.History(c.ctx, limit)
		return historyMsg{all, err}
	}
}

// What the screen is told.
type (
	recordMsg  struct{ r *proto.Record }
	linkMsg    struct{ err error }
	endedMsg   struct{ err error }
	printedMsg struct{}
	saidMsg    struct {
		text, id string
		err      error
	}
	choseMsg struct {
		label string
		err   error
	}
	historyMsg struct {
		all []proto.Record
		err error
	}
)
