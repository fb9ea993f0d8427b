package outbox_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"time"

	"herald/core/chat"
)

// message is what a person sees.
type message struct {
	id, text, delivery, nonce string
	piece                     int
	conv                      chat.Conversation
	at                        time.Time
	gone                      bool
	edits                     int
}

// fault is what goes wrong with a call.
type fault string

const (
	fine     fault = ""
	lost     fault = "done, reply lost"
	refuse   fault = "refused"
	vanish   fault = "gone"
	limit    fault = "rate limit"
	limitAll fault = "rate limit of the workspace"
	away     fault = "outage, nothing done"
	unknown  fault = "outage, outcome unknown, nothing done"
	dead     fault = "dead token"
	hang     fault = "hang, nothing done"
	hangDone fault = "hang, done"
	boom     fault = "panic"
	boomDone fault = "panic, done"
	noID     fault = "receipt without id"
)

// call is one call of the adapter.
type call struct {
	n    int
	op   string // send, edit, find, cut
	post *chat.Post
}

// platform is a chat platform and its adapter at once.
type platform struct {
	caps       chat.Capabilities
	retryAfter time.Duration
	// faults decides about each call; nil lets all pass.
	faults func(call) fault

	mu       sync.Mutex
	messages []*message
	calls    []call
	times    []time.Time
}

var _ chat.Adapter = (*platform)(nil)

func newPlatform(caps chat.Capabilities) *platform {
	if caps.SendTimeout == 0 {
		caps.SendTimeout = 10 * time.Second
	}
	return &platform{caps: caps, retryAfter: 7 * time.Second}
}

var (
	withNonce    = chat.Capabilities{Edits: true, Nonce: true, NonceFor: 5 * time.Minute}
	withLookBack = chat.Capabilities{Edits: true, LookBack: true}
	withBoth     = chat.Capabilities{Edits: true, LookBack: true, Nonce: true, NonceFor: 5 * time.Minute}
	withNothing  = chat.Capabilities{}
)

func (p *platform) Capabilities(chat.Conversation) chat.Capabilities { return p.caps }

// Cut cuts at bars.
func (p *platform) Cut(_ chat.Conversation, text string) []string {
	if p.note("cut", nil) == boom {
		panic("cut")
	}
	return strings.Split(text, "|")
}

func (p *platform) note(op string, post *chat.Post) fault {
	p.mu.Lock()
	c := call{len(p.calls) + 1, op, post}
	p.calls = append(p.calls, c)
	p.times = append(p.times, time.Now())
	f := p.faults
	p.mu.Unlock()
	if f == nil {
		return fine
	}
	return f(c)
}

// before is the error of faults that do nothing.
func (p *platform) before(ctx context.Context, f fault) error {
	switch f {
	case refuse:
		return &chat.Refused{Code: "not_in_channel", Reason: "invite the app"}
	case vanish:
		return &chat.Refused{Code: "message_not_found", Reason: "it was removed", Gone: true}
	case limit, limitAll:
		return &chat.Outage{Reason: "too fast", RetryAfter: p.retryAfter, NotSent: true, Whole: f == limitAll}
	case away:
		return &chat.Outage{Reason: "connection refused", NotSent: true}
	case unknown:
		return &chat.Outage{Reason: "reset"}
	case dead:
		return &chat.Outage{Reason: "the token was revoked", NotSent: true, Dead: true}
	case hang:
		<-ctx.Done()
		return ctx.Err()
	case boom:
		panic("boom")
	}
	return nil
}

func (p *platform) after(ctx context.Context, f fault) error {
	switch f {
	case lost:
		return &chat.Outage{Reason: "connection reset"}
	case hangDone:
		<-ctx.Done()
		return ctx.Err()
	case boomDone:
		panic("boom")
	}
	return nil
}

func (p *platform) Send(ctx context.Context, post *chat.Post) (chat.Receipt, error) {
	f := p.note("send", post)
	if err := p.before(ctx, f); err != nil {
		return chat.Receipt{}, err
	}
	m := p.post(post)
	if err := p.after(ctx, f); err != nil {
		return chat.Receipt{}, err
	}
	if f == noID {
		return chat.Receipt{}, nil
	}
	return chat.Receipt{MessageID: m.id, At: m.at}, nil
}

func (p *platform) post(post *chat.Post) *message {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.caps.Nonce {
		for _, m := range p.messages {
			if m.nonce == post.Nonce() && m.conv == post.Conversation && time.Since(m.at) < p.caps.NonceFor {
				return m
			}
		}
	}
	m := &message{
		id: fmt.Sprintf("m%d", len(p.messages)+1), text: post.Text, delivery: post.DeliveryID, nonce: post.Nonce(),
		piece: post.Piece, conv: post.Conversation, at: time.Now(),
	}
	p.messages = append(p.messages, m)
	return m
}

func (p *platform) Edit(ctx context.Context, post *chat.Post, r chat.Receipt, _ bool) error {
	f := p.note("edit", post)
	if err := p.before(ctx, f); err != nil {
		return err
	}
	p.mu.Lock()
	var m *message
	for _, o := range p.messages {
		if o.id == r.MessageID && !o.gone {
			m = o
			m.text = post.Text
			m.edits++
		}
	}
	p.mu.Unlock()
	if m == nil {
		return &chat.Refused{Code: "message_not_found", Reason: "it was removed", Gone: true}
	}
	return p.after(ctx, f)
}

func (p *platform) Find(ctx context.Context, post *chat.Post) (chat.Receipt, bool, error) {
	f := p.note("find", post)
	if err := p.before(ctx, f); err != nil {
		return chat.Receipt{}, false, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, m := range p.messages {
		if m.delivery == post.DeliveryID && m.piece == post.Piece && m.conv == post.Conversation && !m.gone {
			return chat.Receipt{MessageID: m.id, At: m.at}, true, nil
		}
	}
	return chat.Receipt{}, false, nil
}

// shown is what stands in a conversation, in order.
func (p *platform) shown(c chat.Conversation) []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []string
	for _, m := range p.messages {
		if m.conv == c && !m.gone {
			out = append(out, m.text)
		}
	}
	return out
}

// all is every message in the order of their posts, as they are now.
func (p *platform) all() []message {
	p.mu.Lock()
	defer p.mu.Unlock()
	out := make([]message, len(p.messages))
	for i, m := range p.messages {
		out[i] = *m
	}
	return out
}

// locked runs f while nobody else looks.
func (p *platform) locked(f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	f()
}

// fail sets what goes wrong from now on.
func (p *platform) fail(f func(call) fault) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = f
}

// count is how often op was called.
func (p *platform) count(op string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := 0
	for _, c := range p.calls {
		if c.op == op {
			n++
		}
	}
	return n
}

// at is the instants of the calls of op.
func (p *platform) at(op string) []time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []time.Time
	for i, c := range p.calls {
		if c.op == op {
			out = append(out, p.times[i])
		}
	}
	return out
}

// first makes the first n calls of op go wrong in a way.
func first(n int, op string, f fault) func(call) fault {
	var mu sync.Mutex
	return func(c call) fault {
		mu.Lock()
		defer mu.Unlock()
		if c.op != op || n == 0 {
			return fine
		}
		n--
		return f
	}
}
