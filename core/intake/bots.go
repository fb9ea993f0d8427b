package intake

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"math"
	"time"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
)

// The loop guard counts in the other bot's identity partition, so that it counts over all conversations and replicas, by the store's time.
const exchanges = "exchange"

// silence is the document that keeps a bot silent.
type silence struct {
	V     int       `json:"v"`
	Until time.Time `json:"until"`
}

func (e *event) exchangeIndex() string { return exchanges + "/" + e.in.App }

func (e *event) silenceKey() store.Key { return store.Key{Collection: "silence", Name: e.in.App} }

func (e *event) loopQueries() []store.Query {
	p := people.IdentityPartition(e.in.Sender.Identity)
	return []store.Query{
		store.Get{Partition: p, Key: e.silenceKey()},
		// The index is trimmed to the window with each exchange, so all of it is little.
		store.Scores{Partition: p, Index: e.exchangeIndex(), Min: 0, Max: math.MaxFloat64},
	}
}

// loops reports whether the loop guard silences the event. One that passes is counted; a redelivery counts once.
func (i *Intake) loops(ctx context.Context, e *event) (silent bool, err error) {
	p := people.IdentityPartition(e.in.Sender.Identity)
	var s silence
	if doc, ok := e.extra[0].Doc(); ok {
		if err := json.Unmarshal(doc.Value, &s); err != nil {
			return false, fmt.Errorf("read the silence of %s: %w", e.in.Sender.Identity, err)
		}
	}
	if e.now.Before(s.Until) {
		return true, nil
	}
	n := 0
	for _, x := range e.extra[1].Scored {
		if x.Member == e.key {
			return false, nil
		}
		if e.now.Sub(time.UnixMilli(int64(x.Score))) < e.policy.Window {
			n++
		}
	}
	c := store.Commit{ID: conversation.ID("intake.loop/", e.key), Partition: p, Ops: []store.Op{
		store.ScoreNow{Index: e.exchangeIndex(), Member: e.key},
		store.TrimOlder{Index: e.exchangeIndex(), Age: e.policy.Window},
	}}
	if n >= e.policy.Exchanges {
		silent = true
		s = silence{V: conversation.Version, Until: e.now.Add(e.policy.Silence)}
		value, err := json.Marshal(s)
		if err != nil {
			return false, fmt.Errorf("silence %s: %w", e.in.Sender.Identity, err)
		}
		c.ID, c.Ops = conversation.ID("intake.silence/", e.key), []store.Op{store.Put{Key: e.silenceKey(), Value: value}}
		i.log.LogAttrs(ctx, slog.LevelWarn, "a bot is silenced: it looks like a loop",
			slog.String("identity", string(e.in.Sender.Identity)), slog.Int("exchanges", n), slog.Time("until", s.Until))
	}
	if _, err := i.store.Commit(ctx, c); err != nil {
		return false, fmt.Errorf("count an exchange with %s: %w", e.in.Sender.Identity, err)
	}
	return silent, nil
}
