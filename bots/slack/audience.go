package slack

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"sync"
	"time"

	"herald/core/chat"
)

const (
	membersMethod = "conversations.members"
	peopleMethod  = "users.list"
	// audienceLife is how long what is known of a channel's readers is believed, guestLife how long who is a guest.
	audienceLife = 2 * time.Minute
	guestLife    = 30 * time.Minute
	// maxPages bounds how far lists are read, each page of pageSize.
	maxPages = 30
	pageSize = 1000
	// maxAudiences bounds the memory.
	maxAudiences = 10_000
)

// audiences knows which channels guests or people of another workspace read.
type audiences struct {
	mu     sync.Mutex
	known  map[string]audience
	guests map[string]bool
	till   time.Time
}

type audience struct {
	mixed bool
	till  time.Time
}

// Mixed reports whether guests or people of another workspace read the conversation. Where that cannot be told it is an error: whoever asks takes
// it for mixed.
func (a *Adapter) Mixed(ctx context.Context, c chat.Conversation) (bool, error) {
	as, now := &a.audiences, a.opt.Now()
	as.mu.Lock()
	k, ok := as.known[c.Channel]
	as.mu.Unlock()
	if ok && now.Before(k.till) {
		return k.mixed, nil
	}
	mixed, err := a.readers(ctx, c.Channel) // without the lock: one that hangs delays nobody else
	if err != nil {
		return true, fmt.Errorf("look who reads a channel: %w", err)
	}
	as.mu.Lock()
	defer as.mu.Unlock()
	if as.known == nil || len(as.known) >= maxAudiences {
		as.known = map[string]audience{}
	}
	as.known[c.Channel] = audience{mixed, now.Add(audienceLife)}
	return mixed, nil
}

// readers asks who reads a channel.
func (a *Adapter) readers(ctx context.Context, channel string) (mixed bool, err error) {
	var info struct {
		Channel struct {
			IM      bool   `json:"is_im"`
			User    string `json:"user"`
			Shared  bool   `json:"is_shared"`
			Ext     bool   `json:"is_ext_shared"`
			Org     bool   `json:"is_org_shared"`
			Pending bool   `json:"is_pending_ext_shared"`
		} `json:"channel"`
	}
	if err := a.call(ctx, a.opt.BotToken, infoMethod, url.Values{"channel": {channel}}, &info); err != nil {
		return false, err
	}
	ch := info.Channel
	if ch.Shared || ch.Ext || ch.Org || ch.Pending {
		return true, nil
	}
	guests, err := a.guests(ctx)
	if err != nil {
		return false, err
	}
	if ch.IM {
		return guests[ch.User], nil
	}
	if len(guests) == 0 {
		return false, nil
	}
	cursor := ""
	for range maxPages {
		var page struct {
			Members []string `json:"members"`
			Meta    paging   `json:"response_metadata"`
		}
		args := url.Values{"channel": {channel}, "limit": {fmt.Sprint(pageSize)}, "cursor": {cursor}}
		if err := a.call(ctx, a.opt.BotToken, membersMethod, args, &page); err != nil {
			return false, err
		}
		if slices.ContainsFunc(page.Members, func(u string) bool { return guests[u] }) {
			return true, nil
		}
		if cursor = page.Meta.Next; cursor == "" {
			return false, nil
		}
	}
	return false, fmt.Errorf("it has more than %d members", maxPages*pageSize)
}

// paging is where a list goes on.
type paging struct {
	Next string `json:"next_cursor"`
}

// guests are the guests of the workspace, and whoever belongs to another one.
func (a *Adapter) guests(ctx context.Context) (map[string]bool, error) {
	as := &a.audiences
	as.mu.Lock()
	known, till := as.guests, as.till
	as.mu.Unlock()
	if known != nil && a.opt.Now().Before(till) {
		return known, nil
	}
	out := map[string]bool{}
	cursor := ""
	for range maxPages {
		var page struct {
			Members []struct {
				ID         string `json:"id"`
				Bot        bool   `json:"is_bot"`
				Restricted bool   `json:"is_restricted"`
				Ultra      bool   `json:"is_ultra_restricted"`
				Stranger   bool   `json:"is_stranger"`
			} `json:"members"`
			Meta paging `json:"response_metadata"`
		}
		if err := a.call(ctx, a.opt.BotToken, peopleMethod, url.Values{"limit": {fmt.Sprint(pageSize)}, "cursor": {cursor}}, &page); err != nil {
			return nil, err
		}
		for _, u := range page.Members {
			if (u.Restricted || u.Ultra || u.Stranger) && !u.Bot {
				out[u.ID] = true
			}
		}
		if cursor = page.Meta.Next; cursor == "" {
			as.mu.Lock()
			as.guests, as.till = out, a.opt.Now().Add(guestLife)
			as.mu.Unlock()
			return out, nil
		}
	}
	return nil, fmt.Errorf("the workspace has more than %d people", maxPages*pageSize)
}
