package terminal

import (
	"bufio"
	"bytes"
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"time"

	"herald/bots/console/proto"
)

// ErrUnavailable: the service does not answer on its socket.
var ErrUnavailable = errors.New("the service does not answer")

// ErrRejected: the service said no, and will say it again.
var ErrRejected = errors.New("the service rejected this")

// Client speaks with the console of a running service. It is safe for concurrent use.
type Client struct {
	http  *http.Client
	place string
}

// NewClient makes a client for a place; it makes no call.
func NewClient(dial func(ctx context.Context) (net.Conn, error), place string) *Client {
	return &Client{place: place, http: &http.Client{Transport: &http.Transport{
		DialContext:     func(ctx context.Context, _, _ string) (net.Conn, error) { return dial(ctx) },
		IdleConnTimeout: time.Minute,
	}}}
}

// Close drops idle connections.
func (c *Client) Close() { c.http.CloseIdleConnections() }

// NewKey names a line; the same key again is the same line.
func NewKey() string { return rand.Text() }

// Say sends a line. It returns when the line is durable. While the service is away it tries again, with the same key, until ctx ends.
func (c *Client) Say(ctx context.Context, key, text string) (proto.Taken, error) {
	return c.insist(ctx, proto.LinesPath(c.place), proto.Say{Key: key, Text: text})
}

// Choose answers a card, in the manner of Say.
func (c *Client) Choose(ctx context.Context, key, action string) (proto.Taken, error) {
	return c.insist(ctx, proto.ClicksPath(c.place), proto.Click{Key: key, Action: action})
}

// History gives the last records, oldest first.
func (c *Client) History(ctx context.Context, limit int) (all []proto.Record, err error) {
	return all, c.call(ctx, http.MethodGet, proto.HistoryPath(c.place, limit), nil, &all)
}

// Facts of the answer to a line.
func (c *Client) Facts(ctx context.Context, message string) (f proto.Facts, err error) {
	return f, c.call(ctx, http.MethodGet, proto.FactsPath(c.place, message), nil, &f)
}

// retryMin and retryMax bound the pause between attempts.
const (
	retryMin = 50 * time.Millisecond
	retryMax = 2 * time.Second
)

func (c *Client) insist(ctx context.Context, path string, in any) (t proto.Taken, err error) {
	for pause := retryMin; ; pause = min(2*pause, retryMax) {
		if err = c.call(ctx, http.MethodPost, path, in, &t); err == nil || errors.Is(err, ErrRejected) || ctx.Err() != nil {
			return t, err
		}
		if !wait(ctx, pause) {
			return t, err
		}
	}
}

// wait reports whether the pause passed before ctx ended.
func wait(ctx context.Context, pause time.Duration) bool {
	t := time.NewTimer(pause)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

func (c *Client) call(ctx context.Context, method, path string, in, out any) error {
	resp, err := c.do(ctx, method, path, in)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	if err := json.NewDecoder(resp.Body).Decode(out); err != nil {
		return fmt.Errorf("%w: its answer cannot be read: %w", ErrUnavailable, err)
	}
	return nil
}

// do makes a request; without an error the answer is a good one.
func (c *Client) do(ctx context.Context, method, path string, in any) (*http.Response, error) {
	var body io.Reader
	if in != nil {
		b, err := json.Marshal(in)
		if err != nil {
			return nil, fmt.Errorf("write a request of the terminal: %w", err)
		}
		body = bytes.NewReader(b)
	}
	req, err := http.NewRequestWithContext(ctx, method, "http://console"+path, body)
	if err != nil {
		return nil, fmt.Errorf("make a request of the terminal: %w", err)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		return nil, fmt.Errorf("%w (is it running? herald run starts it): %w", ErrUnavailable, err)
	}
	if resp.StatusCode == http.StatusOK {
		return resp, nil
	}
	defer resp.Body.Close()
	var t proto.Trouble
	raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
	if json.Unmarshal(raw, &t) != nil || t.Error == "" {
		t = proto.Trouble{Error: resp.Status, Retry: resp.StatusCode >= 500}
	}
	if t.Retry {
		return nil, fmt.Errorf("%w: %s", ErrUnavailable, t.Error)
	}
	return nil, fmt.Errorf("%w: %s", ErrRejected, t.Error)
}

// Follow calls f for each record from now on, in order, until ctx ends or f fails; the first is of kind [proto.Ready]. When the stream is lost it is opened
// again where it ended, and lost is told why (nil when it stands again). The first stream must open: its failure is returned.
func (c *Client) Follow(ctx context.Context, f func(*proto.Record) error, lost func(error)) error {
	var at uint64
	begun := false
	pause := retryMin
	for {
		err := c.stream(ctx, at, !begun, func(r *proto.Record) error {
			if r.Kind == proto.Ready {
				if begun {
					lost(nil)
					if r.Seq < at { // the transcript is not the one that it was
						at = r.Seq
					}
					return nil
				}
				at, begun = r.Seq, true
			}
			at, pause = max(at, r.Seq), retryMin
			return f(r)
		})
		failed, ok := errors.AsType[*stopped](err)
		switch {
		case ok:
			return failed.err
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case !begun || errors.Is(err, ErrRejected):
			return err
		}
		lost(err)
		if !wait(ctx, pause) {
			return context.Cause(ctx)
		}
		pause = min(2*pause, retryMax)
	}
}

// stopped carries the error of the caller's function through the stream.
type stopped struct{ err error }

func (s *stopped) Error() string { return s.err.Error() }

func (c *Client) stream(ctx context.Context, after uint64, now bool, f func(*proto.Record) error) error {
	resp, err := c.do(ctx, http.MethodGet, proto.StreamPath(c.place, after, now), nil)
	if err != nil {
		return err
	}
	defer resp.Body.Close()
	r := bufio.NewReader(resp.Body)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil {
			return fmt.Errorf("%w: the stream ended: %w", ErrUnavailable, err)
		}
		var rec proto.Record
		if err := json.Unmarshal(line, &rec); err != nil {
			return fmt.Errorf("%w: its stream cannot be read: %w", ErrUnavailable, err)
		}
		if err := f(&rec); err != nil {
			return &stopped{err}
		}
	}
}
