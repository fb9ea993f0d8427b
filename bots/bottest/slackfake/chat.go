package slackfake

import (
	"encoding/json"
	"strings"
	"unicode/utf8"
)

// target finds the channel that a call speaks of, for writing when write is set. s.mu is held.
func (s *Server) target(c *call, id string, write bool) (*channel, *refusal) {
	ch := s.channels[id]
	if ch == nil && write {
		if u := s.users[id]; u != nil && !u.Bot && (c.in.Team == "" || u.Team == c.in.Team) {
			ch = s.dm(c.in.BotUser, id)
		} else if name, ok := strings.CutPrefix(id, "#"); ok {
			for _, each := range s.channels {
				if each.Name == name && each.Team == c.in.Team {
					ch = each
				}
			}
		}
	}
	member := ch != nil && c.in.sees(ch)
	switch {
	case id == "" || ch == nil || !c.in.reaches(ch), !member && (ch.Private || ch.IM || ch.MPIM):
		return nil, refuse("channel_not_found")
	case !write && !member:
		return nil, refuse("not_in_channel")
	case !write:
		return ch, nil
	case ch.Archived:
		return nil, refuse("is_archived")
	case ch.IM && s.users[ch.With].Deactivated:
		return nil, refuse("user_disabled")
	case ch.IM && c.app.NoMessagesTab:
		return nil, refuse("messages_tab_disabled")
	case !member && (c.in.Scopes == nil || !c.in.has("chat:write.public")):
		return nil, refuse("not_in_channel")
	case ch.AdminsOnly:
		return nil, refuse("restricted_action")
	}
	return ch, nil
}

// threadOf checks the thread of a post. s.mu is held.
func (ch *channel) threadOf(ts string) *refusal {
	switch root := ch.byTS[ts]; {
	case ts == "" && ch.ThreadsOnly:
		return refuse("restricted_action_thread_only_channel")
	case ts == "":
		return nil
	case ch.NoThreads:
		return refuse("restricted_action_non_threadable_channel")
	case strings.Count(ts, ".") != 1:
		return refuse("invalid_thread_ts")
	case root == nil || root.To != "" || root.Deleted && root.replies == 0:
		return refuse("thread_not_found")
	case root.Thread != "" && root.Thread != root.TS:
		return refuse("cannot_reply_to_message")
	}
	return nil
}

// content is what a message says, checked.
type content struct {
	text, markdown                string
	blocks, attachments, metadata json.RawMessage
}

// read takes a message's content from the arguments and holds it to the limits.
func (c *call) read() (content, *refusal) {
	out := content{text: c.args["text"], markdown: c.args["markdown_text"]}
	if out.markdown != "" && (out.text != "" || c.args["blocks"] != "") {
		return out, refuse("markdown_text_conflict")
	}
	if utf8.RuneCountInString(out.markdown) > maxMarkdown {
		return out, refuse("msg_too_long", "[ERROR] markdown_text must be no more than 12000 characters")
	}
	if no := checkBlocks(c.args["blocks"], inMessage); no != nil {
		return out, no
	}
	if no := checkMetadata(c.args["metadata"]); no != nil {
		return out, no
	}
	var list []json.RawMessage
	if given, ok := c.json("attachments", &list); given && (!ok || len(list) > 100) {
		return out, refuse("invalid_attachments")
	}
	out.attachments, out.metadata = c.raw("attachments"), c.raw("metadata")
	if len(list) == 0 {
		out.attachments = nil
	}
	if out.blocks = c.raw("blocks"); string(out.blocks) == "[]" {
		out.blocks = nil
	}
	if out.markdown != "" {
		out.text = out.markdown
	}
	if strings.TrimSpace(out.text) == "" && len(out.blocks) == 0 && len(out.attachments) == 0 {
		return out, refuse("no_text")
	}
	if utf8.RuneCountInString(out.text) > maxText {
		out.text = string([]rune(out.text)[:maxText]) // Slack cuts in silence; so a test can see what a careless app loses
	}
	return out, nil
}

func (s *Server) postMessage(c *call) (reply, *refusal) {
	ch, no := s.target(c, c.args["channel"], true)
	if no != nil {
		return nil, no
	}
	if no := ch.threadOf(c.args["thread_ts"]); no != nil {
		return nil, no
	}
	in, no := c.read()
	if no != nil {
		return nil, no
	}
	m := &Message{
		Thread: c.args["thread_ts"], Broadcast: c.flag("reply_broadcast"), Text: in.text, Markdown: in.markdown, Blocks: in.blocks,
		Attachments: in.attachments, Metadata: in.metadata, NoUnfurl: c.args["unfurl_links"] == "false" && c.args["unfurl_media"] == "false",
	}
	s.sent(c, ch, m)
	return reply{"channel": ch.ID, "ts": m.TS, "message": s.wire(ch, m, true)}, nil
}

// sent makes a message of the app's stand and tells of it. s.mu is held.
func (s *Server) sent(c *call, ch *channel, m *Message) {
	m.User, m.BotID, m.App, m.Team = c.in.BotUser, c.in.BotID, c.app.ID, c.in.Team
	s.add(ch, m)
	s.clearStatus(ch, m)
	c.ts = m.TS
	s.counts.Sent++
	s.note(Record{Kind: Sent, Method: c.method, App: m.App, Team: m.Team, Channel: ch.ID, Thread: m.Thread, TS: m.TS, Text: m.Text})
	s.tellPost(ch, m, false)
}

// own finds a message of the app's that may be changed. s.mu is held.
func (s *Server) own(c *call, missing, foreign string) (*channel, *Message, *refusal) {
	ch := s.channels[c.args["channel"]]
	if ch == nil || !c.in.reaches(ch) {
		return nil, nil, refuse("channel_not_found")
	}
	switch m := ch.byTS[c.args["ts"]]; {
	case m == nil || m.Deleted || m.To != "":
		return nil, nil, refuse(missing)
	case m.BotID != c.in.BotID:
		return nil, nil, refuse(foreign)
	case ch.Archived:
		return nil, nil, refuse("is_archived")
	default:
		return ch, m, nil
	}
}

func (s *Server) updateMessage(c *call) (reply, *refusal) {
	ch, m, no := s.own(c, "message_not_found", "cant_update_message")
	if no != nil {
		return nil, no
	}
	if s.streaming(m) {
		return nil, refuse("streaming_state_conflict")
	}
	_, blocks := c.args["blocks"]
	_, attachments := c.args["attachments"]
	if blocks && c.args["text"] == "" && c.args["markdown_text"] == "" && c.args["blocks"] == "[]" {
		return nil, refuse("no_text")
	}
	in, no := c.read()
	if no != nil {
		return nil, no
	}
	if in.markdown == "" && utf8.RuneCountInString(in.text) > maxEdit {
		return nil, refuse("msg_too_long")
	}
	before := s.wire(ch, m, false)
	m.Text, m.Markdown = in.text, in.markdown
	if blocks || in.markdown != "" || c.args["text"] != "" {
		m.Blocks = in.blocks
	}
	if attachments {
		m.Attachments = in.attachments
	}
	if in.metadata != nil {
		m.Metadata = in.metadata
	}
	m.Edits++
	m.editedBy, m.editedTS = c.in.BotUser, s.nextTS()
	c.ts = m.TS
	s.counts.Edited++
	s.note(Record{Kind: Edited, Method: c.method, App: m.App, Team: m.Team, Channel: ch.ID, Thread: m.Thread, TS: m.TS, Text: m.Text})
	s.tellChange(ch, m, before)
	return reply{"channel": ch.ID, "ts": m.TS, "text": m.Text, "message": s.wire(ch, m, true)}, nil
}

func (s *Server) deleteMessage(c *call) (reply, *refusal) {
	ch, m, no := s.own(c, "message_not_found", "cant_delete_message")
	if no != nil {
		return nil, no
	}
	s.note(Record{Kind: Removed, Method: c.method, App: m.App, Team: m.Team, Channel: ch.ID, Thread: m.Thread, TS: m.TS})
	s.remove(ch, m)
	return reply{"channel": ch.ID, "ts": m.TS}, nil
}

func (s *Server) postEphemeral(c *call) (reply, *refusal) {
	ch, no := s.target(c, c.args["channel"], true)
	if no != nil {
		return nil, no
	}
	to := c.args["user"]
	switch {
	case s.users[to] == nil:
		return nil, refuse("user_not_found")
	case !ch.members[to]:
		return nil, refuse("user_not_in_channel")
	}
	in, no := c.read()
	if no != nil {
		return nil, no
	}
	m := &Message{Thread: c.args["thread_ts"], Text: in.text, Markdown: in.markdown, Blocks: in.blocks, Attachments: in.attachments}
	m.User, m.BotID, m.App, m.Team = c.in.BotUser, c.in.BotID, c.app.ID, c.in.Team
	s.whisper(ch, m, to)
	c.ts = m.TS
	return reply{"message_ts": m.TS}, nil
}

// whisper shows a message to one person. s.mu is held.
func (s *Server) whisper(ch *channel, m *Message, to string) {
	m.Channel, m.TS, m.To = ch.ID, s.nextTS(), to
	ch.whispers = append(ch.whispers, m)
	ch.byTS[m.TS] = m
	s.note(Record{Kind: Whispered, App: m.App, Team: m.Team, Channel: ch.ID, Thread: m.Thread, TS: m.TS, Text: m.Text, User: to, Event: m.Interaction})
}

func (s *Server) permalink(c *call) (reply, *refusal) {
	ch := s.channels[c.args["channel"]]
	if ch == nil || !c.in.reaches(ch) {
		return nil, refuse("channel_not_found")
	}
	m := ch.byTS[c.args["message_ts"]]
	if m == nil {
		return nil, refuse("message_not_found")
	}
	link := s.url + "/archives/" + ch.ID + "/p" + strings.Replace(m.TS, ".", "", 1)
	if m.Thread != "" && m.Thread != m.TS {
		link += "?thread_ts=" + m.Thread + "&cid=" + ch.ID
	}
	return reply{"channel": ch.ID, "permalink": link}, nil
}
