package terminal

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
)

// pipe is a conversation without a terminal: a line, its answer, the next line.
func pipe(ctx context.Context, opt Options) error {
	c := NewClient(opt.Dial, opt.Place)
	defer c.Close()
	a := newAsker(ctx, c, opt.Err)
	defer a.close()
	if err := a.ready(); err != nil {
		return err
	}
	lines := readLines(ctx, opt.In)
	for n := 0; ; n++ {
		var in typed
		select {
		case in = <-lines:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
		if in.err != nil {
			if errors.Is(in.err, io.EOF) {
				return nil
			}
			return fmt.Errorf("read the messages: %w", in.err)
		}
		if isQuit(in.text) {
			return nil
		}
		r, err := a.question(ctx, in.text)
		if err != nil {
			return err
		}
		if n > 0 {
			fmt.Fprintln(opt.Out)
		}
		if err := r.Print(opt.Out, false); err != nil {
			return fmt.Errorf("write the answer: %w", err)
		}
	}
}

func isQuit(s string) bool { s = strings.TrimSpace(s); return s == "/quit" || s == "/exit" }

type typed struct {
	text string
	err  error
}

// readLines reads messages until the input ends; blank lines are none. Where the input knows deadlines the reader ends with ctx; a read that cannot
// be broken off ends with the process.
func readLines(ctx context.Context, in io.Reader) <-chan typed {
	out := make(chan typed)
	give := func(t typed) bool {
		select {
		case out <- t:
			return true
		case <-ctx.Done():
			return false
		}
	}
	if d, ok := in.(interface{ SetReadDeadline(t time.Time) error }); ok {
		context.AfterFunc(ctx, func() { _ = d.SetReadDeadline(time.Unix(1, 0)) })
	}
	go func() {
		r := bufio.NewReader(in)
		var text strings.Builder
		for {
			line, err := r.ReadString('\n')
			line = strings.TrimRight(line, "\r\n")
			more := strings.HasSuffix(line, `\`) && err == nil
			if more {
				line = strings.TrimSuffix(line, `\`) + "\n"
			}
			text.WriteString(line)
			if more {
				continue
			}
			if strings.TrimSpace(text.String()) != "" && !give(typed{text: text.String()}) {
				return
			}
			text.Reset()
			if err != nil {
				give(typed{err: err})
				return
			}
		}
	}()
	return out
}
