package redis

import (
	"context"
	"fmt"
	"strings"
	"time"

	goredis "github.com/redis/go-redis/v9"

	"herald/core/store"
)

// pingEvery is how often a silent subscription is tried; a connection that died without a word is noticed after twice this.
const pingEvery = 15 * time.Second

// Hints calls f for each hint of any replica until ctx ends (nil) or the handle is closed. A broken subscription is made anew, with a growing
// pause; hints of that time are lost.
func (s *Store) Hints(ctx context.Context, ready chan<- struct{}, f func(store.Hint)) error {
	s.closing.RLock()
	if s.life.Err() != nil {
		s.closing.RUnlock()
		return fmt.Errorf("redis: listen to hints: %w", store.ErrClosed)
	}
	s.work.Add(1)
	s.closing.RUnlock()
	defer s.work.Done()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(s.life, cancel)()
	for failures := 0; ; {
		err := s.listen(ctx, func() {
			failures = 0
			if ready != nil {
				close(ready)
				ready = nil
			}
		}, f)
		if s.life.Err() != nil {
			return fmt.Errorf("redis: listen to hints: %w", store.ErrClosed)
		}
		if ctx.Err() != nil {
			return nil
		}
		failures++
		if failures == 1 {
			s.opt.Logger.Warn("lost the subscription to hints; polling goes on meanwhile", "store", s.target.String(), "error", err)
		}
		if !pause(ctx, failures+2) {
			continue
		}
	}
}

// listen subscribes and passes hints on until something fails or ctx ends.
func (s *Store) listen(ctx context.Context, subscribed func(), f func(store.Hint)) error {
	sub := s.client.Subscribe(ctx, s.keys.channel(s.id))
	closed := context.AfterFunc(ctx, func() { _ = sub.Close() })
	defer func() {
		if closed() {
			_ = sub.Close()
		}
	}()
	quiet := false
	for {
		msg, err := sub.ReceiveTimeout(ctx, pingEvery)
		if err != nil {
			// A time-out says only that nothing was said: the connection is asked, and given up when it stays silent.
			if !quiet && timedOut(err) && sub.Ping(ctx) == nil {
				quiet = true
				continue
			}
			return err
		}
		quiet = false
		switch m := msg.(type) {
		case *goredis.Subscription:
			subscribed()
		case *goredis.Message:
			if h, ok := decodeHint(m.Payload); ok {
				f(h)
			}
		}
	}
}

func timedOut(err error) bool {
	t, ok := err.(interface{ Timeout() bool })
	return ok && t.Timeout()
}

// A hint on the channel is "wake\nAGENDA\nMEMBER" or "topic\nTOPIC\nPAYLOAD".

func encodeHint(h store.Hint) string {
	if h.Agenda != "" {
		return "wake\n" + string(h.Agenda) + "\n" + string(h.Member)
	}
	return "topic\n" + h.Topic + "\n" + h.Payload
}

// decodeHint gives false for what another version may have sent: a hint can always be missed.
func decodeHint(text string) (store.Hint, bool) {
	kind, rest, _ := strings.Cut(text, "\n")
	first, second, ok := strings.Cut(rest, "\n")
	if !ok {
		return store.Hint{}, false
	}
	switch kind {
	case "wake":
		return store.Hint{Agenda: store.Agenda(first), Member: store.Member(second)}, true
	case "topic":
		return store.Hint{Topic: first, Payload: second}, true
	default:
		return store.Hint{}, false
	}
}
