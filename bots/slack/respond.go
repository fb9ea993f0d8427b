package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"time"

	"herald/core/chat"
)

// Slack lets a response_url be used five times within 30 minutes. The last minute is left out, as clocks differ.
const (
	responseUses = 5
	responseLife = 29 * time.Minute
	// maxResponses bounds the memory; the oldest are forgotten, and what they would have answered is said in the channel.
	maxResponses = 10_000
)

// responses keeps the response_urls of interactions. They are secrets of this process: after a restart, or on another replica, an answer goes the
// ordinary way.
type responses struct {
	now func() time.Time

	mu    sync.Mutex
	urls  map[string]*response
	order []string
}

type response struct {
	url  string
	till time.Time
	uses int
}

func newResponses(now func() time.Time) *responses {
	return &responses{now: now, urls: map[string]*response{}}
}

func (r *responses) put(id, url string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.urls[id] != nil {
		return
	}
	now := r.now()
	for len(r.order) > 0 {
		old := r.urls[r.order[0]]
		if len(r.order) < maxResponses && old.till.After(now) {
			break
		}
		delete(r.urls, r.order[0])
		r.order = r.order[1:]
	}
	r.urls[id] = &response{url: url, till: now.Add(responseLife)}
	r.order = append(r.order, id)
}

// take gives an interaction's URL for one use.
func (r *responses) take(id string) (string, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	u := r.urls[id]
	if u == nil || u.uses >= responseUses || !u.till.After(r.now()) {
		return "", false
	}
	u.uses++
	return u.url, true
}

// respond posts to a response_url, for the person alone who clicked or typed the command. It is done here and not by the SDK, which drops Markdown there and fails on an answer without a type.
func (a *Adapter) respond(ctx context.Context, url, text, thread string) error {
	body := map[string]any{"text": text, "response_type": "ephemeral", "replace_original": false}
	if thread != "" {
		body["thread_ts"] = thread
	}
	raw, err := json.Marshal(body)
	if err != nil {
		return fmt.Errorf("answer an interaction: %w", err)
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(raw))
	if err != nil {
		return &chat.Refused{Code: "bad_response_url", Reason: "answer an interaction: Slack gave no address that can be used", Gone: true}
	}
	req.Header.Set("Content-Type", "application/json; charset=utf-8")
	res, err := a.http.Do(req)
	if err != nil {
		return sortError(ctx, "response_url", err)
	}
	defer func() { _ = res.Body.Close() }()
	answer, _ := io.ReadAll(io.LimitReader(res.Body, 4<<10))
	switch {
	case res.StatusCode >= 200 && res.StatusCode < 300 && !bytes.Contains(answer, []byte(`"ok":false`)):
		return nil
	case res.StatusCode == http.StatusTooManyRequests:
		return &chat.Outage{Reason: "answer an interaction: Slack limits the rate", RetryAfter: limitPause, NotSent: true}
	case res.StatusCode >= 500:
		return &chat.Outage{Reason: fmt.Sprintf("answer an interaction: status %d; whether it was carried out is unknown", res.StatusCode)}
	}
	return &chat.Refused{Code: "response_url", Reason: fmt.Sprintf("answer an interaction: Slack refuses with status %d: its time is over, or it was used five times", res.StatusCode), Gone: true}
}
