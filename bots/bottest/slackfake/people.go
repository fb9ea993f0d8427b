package slackfake

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
)

// Say is a message that a person writes. The zero values make an ordinary one of [Alice]'s in [General].
type Say struct {
	Channel string
	// Thread is the root's timestamp.
	Thread string
	// Broadcast shows a reply in the channel as well.
	Broadcast bool
	User      string
	// Text is as the person typed it: the characters & < > are escaped as Slack does, a mention such as <@U1> or <!here> stays one, a bare link
	// becomes one. Literal makes mentions text as well, Raw leaves all as it is.
	Text         string
	Literal, Raw bool
	// Blocks replace the rich_text block that the text would have; they may be malformed.
	Blocks json.RawMessage
	// Attachments such as a pasted table.
	Attachments json.RawMessage
	Subtype     string
	// Bot makes it a message of another app, with this bot id.
	Bot string
	// Files that the person puts to it.
	Files []Upload
	// Held keeps the events back until [Server.Deliver].
	Held bool
	// Copies is how often each event is delivered at once; 0 means once. With several sockets each copy takes another one.
	Copies int
}

// Told names what came of a deed.
type Told struct {
	Channel, Thread, TS string
	// Events are the events that it made, in order of delivery; for a mention in a channel the message and then the mention.
	Events []string
	// Files are the ids of the files that came with it.
	Files []string
}

// Say writes a message. Its timestamp is greater than all before. A channel or user that does not exist is a mistake of the test, and panics.
func (s *Server) Say(say Say) Told {
	say.Channel, say.User = cmp.Or(say.Channel, General), cmp.Or(say.User, Alice)
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, u := s.channels[say.Channel], s.users[say.User]
	if ch == nil || u == nil && say.Bot == "" {
		panic(fmt.Sprintf("slackfake: %s writes in %s: no such user or channel", say.User, say.Channel))
	}
	if say.Thread != "" && ch.byTS[say.Thread] == nil {
		panic(fmt.Sprintf("slackfake: %s replies to %s in %s: no such message", say.User, say.Thread, say.Channel))
	}
	m := &Message{
		Thread: say.Thread, Broadcast: say.Broadcast, User: say.User, Team: ch.Team, Subtype: say.Subtype, Blocks: say.Blocks,
		Attachments: say.Attachments, ClientMsgID: s.nextID("cmi-"),
	}
	if u != nil {
		m.Team = u.Team
	}
	if say.Bot != "" {
		m.BotID, m.Subtype, m.ClientMsgID = say.Bot, cmp.Or(say.Subtype, "bot_message"), ""
	}
	if m.Broadcast && m.Subtype == "" {
		m.Subtype = "thread_broadcast"
	}
	m.Text = say.Text
	if !say.Raw {
		m.Text = typed(say.Text, say.Literal)
	}
	if m.Blocks == nil && !s.opt.NoRichText && m.Text != "" {
		m.Blocks = richText(m.Text)
	}
	for _, up := range say.Files {
		f := s.upload(up, say.User)
		f.shared(ch.ID)
		m.Files = append(m.Files, f.id)
		m.Subtype = "file_share"
	}
	s.add(ch, m)
	told := Told{Channel: ch.ID, Thread: m.Thread, TS: m.TS, Files: m.Files, Events: s.tellPost(ch, m, say.Held)}
	for range say.Copies - 1 {
		for _, id := range told.Events {
			if !say.Held {
				s.deliver(s.deliveries[id])
			}
		}
	}
	for _, f := range m.Files {
		s.tellAll("file_shared", map[string]any{"file_id": f, "user_id": m.User, "channel_id": ch.ID, "file": map[string]any{"id": f}},
			place{ch: ch}, func(i *install) bool { return i.sees(ch) })
	}
	return told
}

// mine finds a message that stands. s.mu is held.
func (s *Server) mine(id, ts string) (*channel, *Message, error) {
	if ch := s.channels[id]; ch != nil {
		if m := ch.byTS[ts]; m != nil && !m.Deleted {
			return ch, m, nil
		}
	}
	return nil, nil, fmt.Errorf("find message %s in %s on the fake Slack: there is none that stands", ts, id)
}

// Edit is a person's edit of their message.
func (s *Server) Edit(channel, ts, text string) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m, err := s.mine(channel, ts)
	if err != nil {
		return Told{}, err
	}
	before := s.wire(ch, m, false)
	m.Text = typed(text, false)
	m.Blocks = nil
	if !s.opt.NoRichText {
		m.Blocks = richText(m.Text)
	}
	m.Edits++
	m.editedBy, m.editedTS = m.User, s.nextTS()
	return Told{Channel: channel, Thread: m.Thread, TS: ts, Events: s.tellChange(ch, m, before)}, nil
}

// Unfurl is what Slack does some time after a message with a link: an attachment comes to it, and a message_changed goes out.
func (s *Server) Unfurl(channel, ts string) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m, err := s.mine(channel, ts)
	if err != nil {
		return Told{}, err
	}
	before := s.wire(ch, m, false)
	m.Attachments = json.RawMessage(`[{"id":1,"title":"A page","from_url":"https://example.com/","fallback":"A page"}]`)
	return Told{Channel: channel, Thread: m.Thread, TS: ts, Events: s.tellChange(ch, m, before)}, nil
}

// Delete removes a message, a person's or the app's.
func (s *Server) Delete(channel, ts string) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m, err := s.mine(channel, ts)
	if err != nil {
		return Told{}, err
	}
	return Told{Channel: channel, Thread: m.Thread, TS: ts, Events: s.remove(ch, m)}, nil
}

// React adds a person's reaction to a message.
func (s *Server) React(channel, ts, user, name string) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m, err := s.mine(channel, ts)
	if err != nil {
		return Told{}, err
	}
	return Told{Channel: channel, Thread: m.Thread, TS: ts, Events: s.react(ch, m, user, name, "reaction_added")}, nil
}

func (s *Server) react(ch *channel, m *Message, user, name, event string) []string {
	if m.Reactions == nil {
		m.Reactions = map[string][]string{}
	}
	if event == "reaction_added" {
		m.Reactions[name] = append(m.Reactions[name], user)
	} else {
		m.Reactions[name] = slices.DeleteFunc(m.Reactions[name], func(u string) bool { return u == user })
	}
	return s.tellAll(event, map[string]any{
		"user": user, "reaction": name, "item_user": m.User, "item": map[string]any{"type": "message", "channel": ch.ID, "ts": m.TS},
	}, place{ch, m.Thread, m.TS, ""}, func(i *install) bool { return i.sees(ch) })
}

// Join makes an account a member of a channel, also the bot; Leave ends it.
func (s *Server) Join(channel, user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.join(s.channels[channel], user)
}

func (s *Server) join(ch *channel, user string) []string {
	if ch.members[user] {
		return nil
	}
	ch.members[user] = true
	return s.tellAll("member_joined_channel", map[string]any{"user": user, "channel": ch.ID, "channel_type": "C", "team": ch.Team},
		place{ch: ch}, func(i *install) bool { return i.sees(ch) })
}

// Leave takes an account out of a channel.
func (s *Server) Leave(channel, user string) []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch := s.channels[channel]
	ids := s.tellAll("member_left_channel", map[string]any{"user": user, "channel": ch.ID, "channel_type": "C", "team": ch.Team},
		place{ch: ch}, func(i *install) bool { return i.sees(ch) })
	delete(ch.members, user)
	return ids
}

// Revoke ends an install from the other side: its token is revoked and the app is told so (tokens_revoked and, when it was uninstalled, app_uninstalled).
func (s *Server) Revoke(token string, uninstall bool) (ids []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.tokens[token]
	if i == nil {
		return nil
	}
	only := func(o *install) bool { return o == i }
	ids = s.tellAll("tokens_revoked", map[string]any{"tokens": map[string]any{"oauth": []string{}, "bot": []string{i.BotUser}}}, place{}, only)
	if uninstall {
		ids = append(ids, s.tellAll("app_uninstalled", map[string]any{}, place{}, only)...)
	}
	i.dead = "token_revoked"
	return ids
}
