package outbox

import (
	"context"
	"net/url"
	"sync"
	"time"

	"herald/core/chat"
	"herald/core/store"
)

// Method is a kind of call that a platform counts by itself.
type Method string

// The methods.
const (
	Sends Method = "send"
	Edits Method = "edit"
	Finds Method = "find"
)

// Paces are the paces that a platform allows: at most one call each Every. Zero lifts a pace and costs no round trip. Each burst is the
// number of calls at once after a rest; 0 is one.
type Paces struct {
	// Channel is for sends to one channel, over all its threads.
	Channel      time.Duration
	ChannelBurst int
	// Send, Edit and Find are for a whole workspace.
	Send, Edit, Find                time.Duration
	SendBurst, EditBurst, FindBurst int
}

// For is the paces that a call of m in c must keep.
func (p Paces) For(c chat.Conversation, m Method) []store.Pace {
	var out []store.Pace
	add := func(key string, every time.Duration, burst int) {
		if every > 0 {
			out = append(out, store.Pace{Key: key, Every: every, Burst: max(burst, 1)})
		}
	}
	switch m {
	case Sends:
		add(channelKey(c, m), p.Channel, p.ChannelBurst)
		add(workspaceKey(c, m), p.Send, p.SendBurst)
	case Edits:
		add(workspaceKey(c, m), p.Edit, p.EditBurst)
	case Finds:
		add(workspaceKey(c, m), p.Find, p.FindBurst)
	}
	return out
}

func channelKey(c chat.Conversation, m Method) string {
	return "channel/" + c.ChannelKey() + "/" + string(m)
}

func workspaceKey(c chat.Conversation, m Method) string {
	return "workspace/" + url.PathEscape(string(c.Workspace)) + "/" + string(m)
}

// Pacer hands out the places in the paces of platforms. Places of one pace are given in the order in which they were asked for, and
// each conversation asks for one at a time: so the conversations of a channel take turns. It is safe for concurrent use.
type Pacer struct {
	store store.Store
	paces func(chat.Conversation) Paces

	mu sync.Mutex
	// holds are the demands to wait that this process was told, by key: they are kept also where no pace is set.
	holds map[string]time.Time
}

// NewPacer makes a pacer over st. paces gives the paces of a conversation's platform; nil lifts all.
func NewPacer(st store.Store, paces func(chat.Conversation) Paces) *Pacer {
	if paces == nil {
		paces = func(chat.Conversation) Paces { return Paces{} }
	}
	return &Pacer{store: st, paces: paces, holds: map[string]time.Time{}}
}

// Reserve takes a place for a call of m in c and returns how long to wait for it. When that would be longer than most, ok is false and wait says how
// long it would have been; a negative most takes any. Errors are the store's.
func (p *Pacer) Reserve(ctx context.Context, c chat.Conversation, m Method, most time.Duration) (wait time.Duration, ok bool, err error) {
	paces := p.paces(c).For(c, m)
	for _, key := range []string{channelKey(c, m), workspaceKey(c, m)} {
		if p.held(key) && !has(paces, key) {
			paces = append(paces, store.Pace{Key: key, Burst: 1})
		}
	}
	if len(paces) == 0 {
		return 0, true, nil
	}
	return p.store.Reserve(ctx, most, paces...)
}

func has(paces []store.Pace, key string) bool {
	for _, p := range paces {
		if p.Key == key {
			return true
		}
	}
	return false
}

// Hold closes the pace of m in c for d, as the platform demands: that of the channel, or with whole that of the workspace.
func (p *Pacer) Hold(ctx context.Context, c chat.Conversation, m Method, whole bool, d time.Duration) error {
	key := channelKey(c, m)
	if whole {
		key = workspaceKey(c, m)
	}
	until := time.Now().Add(d)
	p.mu.Lock()
	for k, t := range p.holds {
		if len(p.holds) < 64 {
			break
		}
		if t.Before(time.Now()) {
			delete(p.holds, k)
		}
	}
	if p.holds[key].Before(until) {
		p.holds[key] = until
	}
	p.mu.Unlock()
	return p.store.Hold(ctx, key, d)
}

func (p *Pacer) held(key string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	until, ok := p.holds[key]
	if ok && !until.After(time.Now()) {
		delete(p.holds, key)
		return false
	}
	return ok
}

// TryEdit shows the present text of a live message when there is a place in the pace at once. Otherwise the edit is left out and done is
// false: the next one shows more. A demand to wait that the platform answers with is kept. ctx must end with the caller's claim: nothing
// is edited after it.
func (p *Pacer) TryEdit(ctx context.Context, a chat.Adapter, post *chat.Post, r chat.Receipt) (done bool, err error) {
	if _, ok, err := p.Reserve(ctx, post.Conversation, Edits, 0); err != nil || !ok {
		return false, err
	}
	if err := ctx.Err(); err != nil {
		return false, err
	}
	if err := a.Edit(ctx, post, r, false); err != nil {
		if f := classify(err); f.after > 0 {
			_ = p.Hold(ctx, post.Conversation, Edits, f.whole, f.after) // the edit's own error says more
		}
		return false, err
	}
	return true, nil
}
