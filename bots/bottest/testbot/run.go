package testbot

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"time"

	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// Run hands on events until ctx ends; then it returns nil when all that was begun has ended. It opens the stream again whenever it is lost. An
// error means that it can never work (no receiver, the token is dead).
func (b *Bot) Run(ctx context.Context) error {
	if b.opt.Receiver == nil {
		return errors.New("run the test bot: it has no receiver")
	}
	// The lanes outlive a stream: what is under way when it breaks is finished, in order, before what the platform sends again.
	lanes := newLanes(ctx, b)
	defer lanes.end()
	pause := b.opt.ReconnectMin
	for {
		opened := time.Now()
		err := b.stream(ctx, lanes)
		if ctx.Err() != nil {
			return nil
		}
		if o, ok := errors.AsType[*chat.Outage](err); ok && o.Dead {
			return fmt.Errorf("run the test bot: %w", err)
		}
		if time.Since(opened) > b.opt.ReconnectMax {
			pause = b.opt.ReconnectMin
		}
		b.log.Warn("the stream of the test platform ended; it is opened again", "err", err, "pause", pause)
		t := time.NewTimer(pause/2 + rand.N(pause/2+1)) //nolint:gosec // spreading, not secrecy
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return nil
		}
		pause = min(2*pause, b.opt.ReconnectMax)
	}
}

// stream opens one stream and reads it until it ends.
func (b *Bot) stream(ctx context.Context, lanes *lanes) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, b.base+wire.StreamPath, nil)
	if err != nil {
		return fmt.Errorf("open the stream: %w", err)
	}
	req.Header.Set("Connection", "Upgrade")
	req.Header.Set("Upgrade", wire.StreamProtocol)
	resp, err := b.http.Do(req)
	if err != nil {
		return unanswered(ctx, wire.StreamPath, err)
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusSwitchingProtocols {
		raw, _ := io.ReadAll(io.LimitReader(resp.Body, 64<<10))
		return troubled(wire.StreamPath, resp, raw)
	}
	conn, ok := resp.Body.(io.ReadWriteCloser)
	if !ok {
		return errors.New("open the stream: the HTTP client gives no connection to write to")
	}
	acks := newAcks(conn)
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	defer conn.Close()
	sc := bufio.NewScanner(conn)
	sc.Buffer(make([]byte, 64<<10), wire.MaxLine)
	for sc.Scan() {
		var ev wire.Event
		if err := json.Unmarshal(sc.Bytes(), &ev); err != nil {
			b.log.Error("an event of the test platform is not JSON and stays unacknowledged", "err", err)
			continue
		}
		in, err := b.inbound(&ev)
		if err != nil {
			b.log.Error("an event of the test platform cannot be read and stays unacknowledged", "err", err)
			continue
		}
		lanes.add(job{ev.ID, in, acks})
	}
	if err := sc.Err(); err != nil {
		return fmt.Errorf("read the stream: %w", err)
	}
	return errors.New("read the stream: the platform ended it")
}
