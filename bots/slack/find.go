package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"time"

	"herald/core/chat"
)

const (
	// findPage is how many messages a look fetches at once, findPages how often it turns the page.
	findPage  = 200
	findPages = 25
	// clockSkew is by how much Slack's clock and the store's may differ.
	clockSkew = 2 * time.Minute
)

// Find looks for a post by its metadata among the app's messages since the instant before which it cannot stand. What only one person sees has
// no place in the history: it is said to be missing, so that it is sent again; twice does no harm there.
func (a *Adapter) Find(ctx context.Context, p *chat.Post) (chat.Receipt, bool, error) {
	if p.Interaction != "" || p.Only != "" {
		return chat.Receipt{}, false, ctx.Err()
	}
	ctx, cancel, err := a.begin(ctx, p)
	if err != nil {
		return chat.Receipt{}, false, err
	}
	defer cancel()
	who := a.who.Load()
	var found chat.Receipt
	err = a.walk(ctx, p.Conversation, p.After.Add(-clockSkew), func(m *message) bool {
		own := who == nil || who.wrote(m)
		if !own || !m.is(p) && !m.unnamedStream(p) {
			return true
		}
		found = chat.Receipt{MessageID: m.TS, At: at(m.TS)}
		return false
	})
	if no, ok := errors.AsType[*chat.Refused](err); ok && no.Code == "thread_not_found" {
		return chat.Receipt{}, false, nil // nothing stands in a thread that is gone
	}
	return found, err == nil && found.MessageID != "", err
}

// is reports whether m carries the name of p.
func (m *message) is(p *chat.Post) bool {
	var meta struct {
		Type    string `json:"event_type"`
		Payload struct {
			Delivery string `json:"delivery"`
			Piece    int    `json:"piece"`
		} `json:"event_payload"`
	}
	return len(m.Metadata) > 0 && json.Unmarshal(m.Metadata, &meta) == nil &&
		meta.Type == metadataType && meta.Payload.Delivery == p.DeliveryID && meta.Payload.Piece == p.Piece
}

// unnamedStream reports whether m may be the stream that p began: a stream has no name before its end, and there is one at a time in a thread.
func (m *message) unnamedStream(p *chat.Post) bool {
	return p.Piece == 0 && m.Streaming != "" && order(m.TS) >= order(stamp(p.After.Add(-clockSkew))) && !bytes.Contains(m.Metadata, []byte(metadataType))
}

// walk shows the messages of a conversation since an instant to see, until it returns false.
func (a *Adapter) walk(ctx context.Context, c chat.Conversation, since time.Time, see func(*message) bool) error {
	method := historyMethod
	args := url.Values{"channel": {c.Channel}, "limit": {strconv.Itoa(findPage)}, "include_all_metadata": {"true"}}
	if since.Year() > 2000 {
		args.Set("oldest", stamp(since))
	}
	if c.Thread != "" {
		method = repliesMethod
		args.Set("ts", c.Thread)
	}
	for range findPages {
		var page struct {
			Messages json.RawMessage `json:"messages"`
			More     bool            `json:"has_more"`
			Metadata struct {
				Cursor string `json:"next_cursor"`
			} `json:"response_metadata"`
		}
		if err := a.call(ctx, a.opt.BotToken, method, args, &page); err != nil {
			return err
		}
		for _, m := range list[message](page.Messages) {
			if !see(&m) {
				return nil
			}
		}
		if page.Metadata.Cursor == "" {
			return nil
		}
		args.Set("cursor", page.Metadata.Cursor)
	}
	return fmt.Errorf("look through %s of Slack: more than %d messages stand since %s", method, findPage*findPages, since.Format(time.RFC3339))
}
