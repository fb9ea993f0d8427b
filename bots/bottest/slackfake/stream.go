package slackfake

import (
	"encoding/json"
	"unicode/utf8"
)

// StreamState is how far a streamed message is.
type StreamState string

// The states of a stream. Only a Streaming one can be written.
const (
	Streaming     StreamState = "streaming"
	Stopped       StreamState = "stopped"         // by the app
	StoppedByUser StreamState = "stopped_by_user" // the person pressed stop
	Expired       StreamState = "expired"         // by itself, after its time
)

// streaming reports whether a message is an open stream; it expires one whose time is over. s.mu is held.
func (s *Server) streaming(m *Message) bool {
	if m.Stream == Streaming && s.now().UnixMicro()-m.opened >= s.opt.StreamLife.Microseconds() {
		m.Stream = Expired
		s.touch()
	}
	return m.Stream == Streaming
}

// chunk is a part of a stream.
type chunk struct {
	Type   string   `json:"type"`
	Text   string   `json:"text"`
	ID     string   `json:"id"`
	Title  string   `json:"title"`
	Status string   `json:"status"`
	Blocks []object `json:"blocks"`
}

// part reads what a stream's call adds: text, and the chunks that are not text.
func (c *call) part() (add string, others []json.RawMessage, no *refusal) {
	add = c.args["markdown_text"]
	if utf8.RuneCountInString(add) > maxMarkdown {
		return "", nil, refuse("msg_too_long", "[ERROR] markdown_text must be no more than 12000 characters")
	}
	var raws []json.RawMessage
	given, ok := c.json("chunks", &raws)
	if !ok {
		return "", nil, refuse("invalid_chunks")
	}
	if given && add != "" {
		return "", nil, refuse("markdown_text_conflict")
	}
	blocks, length := 0, 0
	for _, raw := range raws {
		var k chunk
		if json.Unmarshal(raw, &k) != nil {
			return "", nil, refuse("invalid_chunks")
		}
		switch {
		case k.Type == "markdown_text":
			add += k.Text
			length += utf8.RuneCountInString(k.Text)
			continue
		case k.Type == "task_update" && k.ID != "" && k.Title != "", k.Type == "plan_update" && k.Title != "":
		case k.Type == "blocks":
			blocks += len(k.Blocks)
		default:
			return "", nil, refuse("invalid_chunks")
		}
		others = append(others, raw)
	}
	if length > maxMarkdown {
		return "", nil, refuse("msg_too_long", "[ERROR] markdown_text must be no more than 12000 characters")
	}
	if blocks > maxBlocks {
		return "", nil, refuse("msg_blocks_too_long")
	}
	return add, others, nil
}

func (s *Server) startStream(c *call) (reply, *refusal) {
	ch, no := s.target(c, c.args["channel"], true)
	if no != nil {
		return nil, no
	}
	if c.args["thread_ts"] == "" {
		return nil, refuse("invalid_arguments", "[ERROR] missing required field: thread_ts")
	}
	if no := ch.threadOf(c.args["thread_ts"]); no != nil {
		return nil, no
	}
	switch {
	case ch.IM:
	case c.args["recipient_team_id"] == "":
		return nil, refuse("missing_recipient_team_id")
	case c.args["recipient_user_id"] == "":
		return nil, refuse("missing_recipient_user_id")
	case s.users[c.args["recipient_user_id"]] == nil:
		return nil, refuse("user_not_found")
	}
	if mode := c.args["task_display_mode"]; mode != "" && mode != "plan" && mode != "timeline" {
		return nil, refuse("invalid_arguments", "[ERROR] must be one of plan, timeline [json-pointer:/task_display_mode]")
	}
	add, others, no := c.part()
	if no != nil {
		return nil, no
	}
	m := &Message{Thread: c.args["thread_ts"], Text: add, Markdown: add, Chunks: others, Stream: Streaming, Appends: 1, NoUnfurl: true}
	m.opened = s.now().UnixMicro()
	s.sent(c, ch, m)
	s.after(s.opt.StreamLife, func() { s.streaming(m) })
	return reply{"channel": ch.ID, "ts": m.TS}, nil
}

// open finds the stream of a call. s.mu is held.
func (s *Server) openStream(c *call) (*channel, *Message, *refusal) {
	ch, m, no := s.own(c, "message_not_found", "message_not_owned_by_app")
	if no != nil {
		return nil, nil, no
	}
	c.ts = m.TS
	if m.Stream == StoppedByUser {
		return nil, nil, refuse("stopped_by_user")
	}
	if !s.streaming(m) {
		return nil, nil, refuse("message_not_in_streaming_state")
	}
	return ch, m, nil
}

func (s *Server) appendStream(c *call) (reply, *refusal) {
	ch, m, no := s.openStream(c)
	if no != nil {
		return nil, no
	}
	add, others, no := c.part()
	if no != nil {
		return nil, no
	}
	if add == "" && len(others) == 0 {
		return nil, refuse("no_text")
	}
	s.grow(c, ch, m, add, others)
	return reply{"channel": ch.ID, "ts": m.TS}, nil
}

// grow adds to a stream. s.mu is held.
func (s *Server) grow(c *call, ch *channel, m *Message, add string, others []json.RawMessage) {
	before := s.wire(ch, m, false)
	m.Markdown += add
	m.Text = m.Markdown
	m.Chunks = append(m.Chunks, others...)
	m.Appends++
	s.counts.Edited++
	s.note(Record{Kind: Edited, Method: c.method, App: m.App, Team: m.Team, Channel: ch.ID, Thread: m.Thread, TS: m.TS, Text: add})
	s.tellChange(ch, m, before)
}

func (s *Server) stopStream(c *call) (reply, *refusal) {
	ch, m, no := s.openStream(c)
	if no != nil {
		return nil, no
	}
	add, others, no := c.part()
	if no != nil {
		return nil, no
	}
	if no := checkBlocks(c.args["blocks"], inMessage); no != nil {
		return nil, no
	}
	if no := checkMetadata(c.args["metadata"]); no != nil {
		return nil, no
	}
	m.Stream = Stopped
	if m.Blocks = c.raw("blocks"); string(m.Blocks) == "[]" {
		m.Blocks = nil
	}
	if meta := c.raw("metadata"); meta != nil {
		m.Metadata = meta
	}
	s.grow(c, ch, m, add, others)
	return reply{"channel": ch.ID, "ts": m.TS, "message": s.wire(ch, m, true)}, nil
}

// StopStream is a person's press on the stop button of a streamed message. With the feature agent_view the app is told of it.
func (s *Server) StopStream(channel, ts, user string) (Told, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	ch, m, err := s.mine(channel, ts)
	if err != nil {
		return Told{}, err
	}
	var ids []string
	if s.streaming(m) {
		m.Stream = StoppedByUser
		ids = s.tellAll("agent_session_stopped", map[string]any{
			"channel": ch.ID, "thread_ts": m.Thread, "user": user, "streaming_message_ts": []string{ts},
		}, place{ch, m.Thread, m.TS, ""}, func(i *install) bool { return i.App == m.App && i.app.AgentView })
		s.touch()
	}
	return Told{Channel: channel, Thread: m.Thread, TS: ts, Events: ids}, nil
}
