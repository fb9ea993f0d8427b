package slackfake

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) wireChannel(i *install, ch *channel) map[string]any {
	if ch.IM {
		return map[string]any{"id": ch.ID, "is_im": true, "user": ch.With, "is_archived": false, "context_team_id": ch.Team, "is_user_deleted": s.users[ch.With].Deactivated}
	}
	return map[string]any{
		"id": ch.ID, "name": ch.Name, "name_normalized": ch.Name, "is_channel": !ch.Private && !ch.MPIM, "is_group": ch.Private, "is_im": false,
		"is_mpim": ch.MPIM, "is_private": ch.Private || ch.MPIM, "is_archived": ch.Archived, "is_member": i.sees(ch), "is_general": ch.Name == "general",
		"is_shared": len(ch.SharedWith) > 0, "is_ext_shared": len(ch.SharedWith) > 0, "num_members": len(ch.members), "context_team_id": i.Team,
		"topic": map[string]any{"value": ch.Topic},
	}
}

// visible finds a channel that a bot may know of. s.mu is held.
func (s *Server) visible(c *call) (*channel, *refusal) {
	ch := s.channels[c.args["channel"]]
	if ch == nil || !c.in.reaches(ch) || (ch.Private || ch.IM || ch.MPIM) && !c.in.sees(ch) {
		return nil, refuse("channel_not_found")
	}
	return ch, nil
}

func (s *Server) channelInfo(c *call) (reply, *refusal) {
	ch, no := s.visible(c)
	if no != nil {
		return nil, no
	}
	return reply{"channel": s.wireChannel(c.in, ch)}, nil
}

// slice is one page of a list; the cursor is the place to go on at.
func (c *call) slice(n int) (from, to int, next string) {
	from = min(n, max(0, args{"n": c.args["cursor"]}.number("n", 0)))
	to = min(n, from+max(1, c.number("limit", 100)))
	if to < n {
		next = strconv.Itoa(to)
	}
	return from, to, next
}

func cursor(next string) reply { return reply{"next_cursor": next} }

func (s *Server) channelMembers(c *call) (reply, *refusal) {
	ch, no := s.visible(c)
	if no != nil {
		return nil, no
	}
	all := make([]string, 0, len(ch.members))
	for m := range ch.members {
		all = append(all, m)
	}
	slices.Sort(all)
	from, to, next := c.slice(len(all))
	return reply{"members": all[from:to], "response_metadata": cursor(next)}, nil
}

func (s *Server) channelList(c *call) (reply, *refusal) { return s.listChannels(c, false) }

// memberList lists the channels that the app itself is in.
func (s *Server) memberList(c *call) (reply, *refusal) { return s.listChannels(c, true) }

func (s *Server) listChannels(c *call, own bool) (reply, *refusal) {
	types := strings.Split(cmp.Or(c.args["types"], "public_channel"), ",")
	names := map[string]string{"channel": "public_channel", "group": "private_channel", "im": "im", "mpim": "mpim"}
	var all []*channel
	for _, ch := range s.channels {
		if !slices.Contains(types, names[ch.kind()]) || !c.in.reaches(ch) || ch.Archived && c.flag("exclude_archived") {
			continue
		}
		if ch.kind() == "channel" && !own || c.in.sees(ch) {
			all = append(all, ch)
		}
	}
	slices.SortFunc(all, func(a, b *channel) int { return strings.Compare(a.ID, b.ID) })
	from, to, next := c.slice(len(all))
	out := []any{}
	for _, ch := range all[from:to] {
		out = append(out, s.wireChannel(c.in, ch))
	}
	return reply{"channels": out, "response_metadata": cursor(next)}, nil
}

func (s *Server) channelOpen(c *call) (reply, *refusal) {
	if id := c.args["channel"]; id != "" {
		ch, no := s.visible(c)
		if no != nil {
			return nil, no
		}
		return reply{"channel": s.wireChannel(c.in, ch)}, nil
	}
	people := strings.FieldsFunc(c.args["users"], func(r rune) bool { return r == ',' || r == ' ' })
	if len(people) == 0 {
		return nil, refuse("users_list_not_supplied")
	}
	if len(people) > 8 {
		return nil, refuse("too_many_users")
	}
	for _, id := range people {
		switch u := s.users[id]; {
		case u == nil || c.in.Team != "" && u.Team != c.in.Team:
			return nil, refuse("user_not_found")
		case u.Bot:
			return nil, refuse("cannot_dm_bot")
		case u.Deactivated:
			return nil, refuse("user_disabled")
		}
	}
	if len(people) == 1 {
		return reply{"channel": s.wireChannel(c.in, s.dm(c.in.BotUser, people[0]))}, nil
	}
	slices.Sort(people)
	name := "mpdm-" + strings.Join(people, "--")
	for _, ch := range s.channels {
		if ch.MPIM && ch.Name == name {
			return reply{"channel": s.wireChannel(c.in, ch)}, nil
		}
	}
	ch := s.addChannel(Channel{ID: s.nextID("G"), Name: name, Team: c.in.Team, MPIM: true, Members: append(people, c.in.BotUser)})
	return reply{"channel": s.wireChannel(c.in, ch)}, nil
}

func (s *Server) channelJoin(c *call) (reply, *refusal) {
	ch, no := s.visible(c)
	switch {
	case no != nil:
		return nil, no
	case ch.kind() != "channel":
		return nil, refuse("method_not_supported_for_channel_type")
	case ch.Archived:
		return nil, refuse("is_archived")
	}
	s.join(ch, c.in.BotUser)
	return reply{"channel": s.wireChannel(c.in, ch)}, nil
}

func (s *Server) wireUser(u *user) map[string]any {
	out := map[string]any{
		"id": u.ID, "team_id": u.Team, "name": u.Name, "real_name": u.Real, "deleted": u.Deactivated, "is_admin": u.Admin, "is_bot": u.Bot,
		"is_restricted": u.Guest || u.SingleChannel, "is_ultra_restricted": u.SingleChannel, "tz": u.TZ, "tz_offset": u.TZOffset,
		"profile": map[string]any{"real_name": u.Real, "display_name": u.Name, "email": u.Email, "team": u.Team},
	}
	if u.Locale != "" {
		out["locale"] = u.Locale
	}
	return out
}

func (s *Server) userInfo(c *call) (reply, *refusal) {
	u := s.users[c.args["user"]]
	if u == nil {
		return nil, refuse("user_not_found")
	}
	out := s.wireUser(u)
	if !c.flag("include_locale") {
		delete(out, "locale")
	}
	if c.in.Team != "" && u.Team != c.in.Team {
		out["is_stranger"] = true
		delete(out["profile"].(map[string]any), "email")
	}
	return reply{"user": out}, nil
}

func (s *Server) userList(c *call) (reply, *refusal) {
	var all []*user
	for _, u := range s.users {
		if c.in.Team == "" || u.Team == c.in.Team {
			all = append(all, u)
		}
	}
	slices.SortFunc(all, func(a, b *user) int { return strings.Compare(a.ID, b.ID) })
	from, to, next := c.slice(len(all))
	out := []any{}
	for _, u := range all[from:to] {
		out = append(out, s.wireUser(u))
	}
	return reply{"members": out, "response_metadata": cursor(next)}, nil
}

func (s *Server) botInfo(c *call) (reply, *refusal) {
	for _, i := range s.installs {
		if i.BotID == c.args["bot"] {
			return reply{"bot": map[string]any{"id": i.BotID, "app_id": i.App, "user_id": i.BotUser, "name": i.app.Name, "deleted": i.dead != ""}}, nil
		}
	}
	return nil, refuse("bot_not_found")
}

func (s *Server) teamInfo(c *call) (reply, *refusal) {
	t := s.teams[cmp.Or(c.args["team"], c.in.Team)]
	if t == nil {
		return nil, refuse("team_not_found")
	}
	out := map[string]any{"id": t.ID, "name": t.Name, "domain": t.Domain}
	if t.Enterprise != "" {
		out["enterprise_id"] = t.Enterprise
	}
	return reply{"team": out}, nil
}

// reacted finds the message of a reaction. s.mu is held.
func (s *Server) reacted(c *call) (*channel, *Message, *refusal) {
	ch, no := s.target(c, c.args["channel"], false)
	if no != nil {
		return nil, nil, no
	}
	m := ch.byTS[c.args["timestamp"]]
	switch {
	case m == nil || m.Deleted || m.To != "":
		return nil, nil, refuse("message_not_found")
	case strings.Trim(c.args["name"], "abcdefghijklmnopqrstuvwxyz0123456789_+-:'") != "" || c.args["name"] == "":
		return nil, nil, refuse("invalid_name")
	}
	return ch, m, nil
}

func (s *Server) reactionAdd(c *call) (reply, *refusal) {
	ch, m, no := s.reacted(c)
	if no != nil {
		return nil, no
	}
	if slices.Contains(m.Reactions[c.args["name"]], c.in.BotUser) {
		return nil, refuse("already_reacted")
	}
	s.react(ch, m, c.in.BotUser, c.args["name"], "reaction_added")
	return nil, nil
}

func (s *Server) reactionRemove(c *call) (reply, *refusal) {
	ch, m, no := s.reacted(c)
	if no != nil {
		return nil, no
	}
	if !slices.Contains(m.Reactions[c.args["name"]], c.in.BotUser) {
		return nil, refuse("no_reaction")
	}
	s.react(ch, m, c.in.BotUser, c.args["name"], "reaction_removed")
	return nil, nil
}
