package slack

import (
	"cmp"
	"context"
	"errors"
	"net/url"
	"slices"
	"strings"
	"time"

	"herald/core/chat"
)

const memberMethod = "users.conversations"

// home is a channel or a direct message that the app is in.
type home struct {
	ID      string `json:"id"`
	IM      bool   `json:"is_im"`
	Deleted bool   `json:"is_user_deleted"`
}

// backfillOpened looks through the channels and direct messages that the app is in for what was begun there during a gap: a mention that
// opened a thread, a first direct message. read are the conversations that were read back already.
func (a *Adapter) backfillOpened(ctx context.Context, who *self, app string, from time.Time, read map[chat.Conversation]bool) {
	if from.IsZero() || ctx.Err() != nil {
		return
	}
	since := from.Add(-clockSkew)
	if oldest := a.opt.Now().Add(-backfillSpan); since.Before(oldest) {
		since = oldest
	}
	all, err := a.homes(ctx)
	if err != nil {
		if ctx.Err() == nil {
			a.opt.Count("backfill_failed")
			a.log.Warn("after a gap the channels cannot be read back; a mention that opened a thread meanwhile may be missing", "error", err)
		}
		return
	}
	order := likely(all, who.workspace, read)
	calls, handed, failed, left := 0, 0, 0, 0
	for _, h := range order {
		if calls == backfillChannels {
			left++
			continue
		}
		if calls++; !sleep(ctx, a.opt.BackfillPace) {
			return
		}
		found, more, err := a.opening(ctx, who, h, since)
		if more {
			left++
		}
		for _, m := range found {
			if err != nil {
				break
			}
			c := place(who.team, h.ID, h.IM, m.surface() || a.surfaces.has(h.ID, m.TS), m.TS, m.Thread)
			if read[c] {
				continue
			}
			if m.LatestReply == "" {
				var ok bool
				if ok, err = a.handBack(ctx, who, app, c, m); ok {
					handed++
				}
				continue
			}
			read[c] = true
			if calls == backfillChannels {
				left++
				continue
			}
			if calls++; !sleep(ctx, a.opt.BackfillPace) {
				return
			}
			var n int
			n, more, err = a.readBack(ctx, who, app, c, since)
			if handed += n; more {
				left++
			}
		}
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			failed++
			a.opt.Count("backfill_failed")
			a.log.Warn("a channel could not be read back after a gap; a mention that opened a thread there meanwhile may be missing", "channel", h.ID, "error", err)
		}
	}
	for range left {
		a.opt.Count("backfill_left_out")
	}
	a.log.Info("looked for threads that were opened during a gap", "channels", len(order), "calls", calls, "handed_on", handed, "failed", failed, "beyond_the_bound", left)
}

// homes asks Slack where the app is a member.
func (a *Adapter) homes(ctx context.Context) (out []home, err error) {
	args := url.Values{"types": {"public_channel,private_channel,mpim,im"}, "exclude_archived": {"true"}, "limit": {"999"}}
	for n := 0; n < maxPages; {
		var page struct {
			Channels []home `json:"channels"`
			Meta     paging `json:"response_metadata"`
		}
		for try := 0; ; try++ {
			if err = a.call(ctx, a.opt.BotToken, memberMethod, args, &page); err == nil {
				break
			}
			if _, no := errors.AsType[*chat.Refused](err); no || try == backfillTries || !sleep(ctx, a.pause(try, err)) {
				return nil, err
			}
		}
		out = append(out, page.Channels...)
		if page.Meta.Next == "" {
			break
		}
		n++
		args.Set("cursor", page.Meta.Next)
	}
	return out, nil
}

// likely puts first where something was kept lately, and then channels and direct messages by turns, so that many of one kind do not crowd the
// other out. A direct message that is one conversation and was read back is left out.
func likely(all []home, w chat.Workspace, read map[chat.Conversation]bool) []home {
	active := map[string]bool{}
	for c := range read {
		active[c.Channel] = true
	}
	var kinds [2][]home
	seen := map[string]bool{}
	for _, h := range all {
		if h.ID == "" || h.Deleted || seen[h.ID] || h.IM && read[chat.Conversation{Workspace: w, Channel: h.ID}] {
			continue
		}
		seen[h.ID] = true
		kind := 0
		if h.IM {
			kind = 1
		}
		kinds[kind] = append(kinds[kind], h)
	}
	type ranked struct {
		home
		rank int
	}
	var out []ranked
	for _, list := range kinds {
		n := 0
		for _, h := range list {
			if active[h.ID] {
				out = append(out, ranked{h, -1})
				continue
			}
			out = append(out, ranked{h, n})
			n++
		}
	}
	slices.SortStableFunc(out, func(x, y ranked) int { return cmp.Compare(x.rank, y.rank) })
	plain := make([]home, len(out))
	for i, r := range out {
		plain[i] = r.home
	}
	return plain
}

// opening finds what may have begun a conversation in a channel since an instant, oldest first: what mentions Herald, every message that has
// a thread, and in a direct message everything that a person wrote. A message without an own thread has no LatestReply.
func (a *Adapter) opening(ctx context.Context, who *self, h home, since time.Time) (found []message, more bool, err error) {
	c := chat.Conversation{Workspace: who.workspace, Channel: h.ID}
	seen := 0
	err = a.rewalk(ctx, c, since, func() { found, more, seen = nil, false, 0 }, func(m *message) bool {
		if order(m.TS) < order(stamp(since)) {
			return true
		}
		if seen++; seen > backfillLook {
			more = true
			return false
		}
		if m.Thread != "" && m.Thread != m.TS {
			m.LatestReply = "" // shown in the channel, too; its thread is another message's
		}
		talk := h.IM || m.LatestReply != "" || strings.Contains(m.Text, "<@"+who.user)
		if !talk || who.wrote(m) && m.LatestReply == "" {
			return true
		}
		if len(found) == backfillMessages {
			more = true
			return false
		}
		found = append(found, *m)
		return true
	})
	if ctx.Err() != nil {
		return nil, false, ctx.Err()
	}
	slices.SortFunc(found, func(x, y message) int { return cmp.Compare(order(x.TS), order(y.TS)) })
	return found, more, err
}
