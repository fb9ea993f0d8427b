package slackfake

import "encoding/json"

// Message is one message as it stands in Slack.
type Message struct {
	Channel, TS string
	// Thread is the root's timestamp; a root has it once it has replies. Broadcast replies stand in the channel as well.
	Thread    string
	Broadcast bool
	// User wrote it; messages of a bot have BotID and App as well.
	User, BotID, App, Team string
	Subtype                string
	// Text is Slack's own form, escaped. Markdown is what was given as markdown_text or by a stream.
	Text, Markdown string
	Blocks         json.RawMessage
	Attachments    json.RawMessage
	Metadata       json.RawMessage
	Files          []string
	ClientMsgID    string
	// Edits counts edits; a stream's appends are not among them.
	Edits   int
	Deleted bool
	// To is who alone sees an ephemeral message. Interaction is the click or command that it answers by its response_url or acknowledgement.
	To, Interaction string
	// Stream is how far a streamed message is; empty for others. Appends counts its parts, the first included.
	Stream  StreamState
	Appends int
	// Chunks are the parts of a stream that are not text: tasks, plans, blocks.
	Chunks []json.RawMessage
	// Reactions are name → users.
	Reactions map[string][]string
	// NoUnfurl is true when the app asked for no unfurling of links and media.
	NoUnfurl bool

	replies  int
	repliers []string
	latest   string
	opened   int64 // of a stream: the instant, in microseconds
	editedBy string
	editedTS string
}

// wire is a message in JSON. The order of the fields is Slack's, as far as it matters to nobody.
type wire struct {
	Type            string          `json:"type"`
	Subtype         string          `json:"subtype,omitempty"`
	User            string          `json:"user,omitempty"`
	BotID           string          `json:"bot_id,omitempty"`
	AppID           string          `json:"app_id,omitempty"`
	Text            string          `json:"text"`
	TS              string          `json:"ts"`
	ClientMsgID     string          `json:"client_msg_id,omitempty"`
	Team            string          `json:"team,omitempty"`
	UserTeam        string          `json:"user_team,omitempty"`
	SourceTeam      string          `json:"source_team,omitempty"`
	ThreadTS        string          `json:"thread_ts,omitempty"`
	ParentUser      string          `json:"parent_user_id,omitempty"`
	ReplyCount      int             `json:"reply_count,omitempty"`
	ReplyUsersCount int             `json:"reply_users_count,omitempty"`
	ReplyUsers      []string        `json:"reply_users,omitempty"`
	LatestReply     string          `json:"latest_reply,omitempty"`
	Blocks          json.RawMessage `json:"blocks,omitempty"`
	Attachments     json.RawMessage `json:"attachments,omitempty"`
	Files           []any           `json:"files,omitempty"`
	Metadata        json.RawMessage `json:"metadata,omitempty"`
	Edited          *edited         `json:"edited,omitempty"`
	BotProfile      *botProfile     `json:"bot_profile,omitempty"`
	Reactions       []any           `json:"reactions,omitempty"`
	Hidden          bool            `json:"hidden,omitempty"`
	Streaming       string          `json:"streaming_state,omitempty"`
	Assistant       *assistantRef   `json:"assistant_app_thread,omitempty"`
	// Of events alone; the first two mark what a person writes on the surface for AI apps.
	AssistantThread any    `json:"assistant_thread,omitempty"`
	AppContext      any    `json:"app_context,omitempty"`
	Channel         string `json:"channel,omitempty"`
	ChannelType     string `json:"channel_type,omitempty"`
	EventTS         string `json:"event_ts,omitempty"`
	DeletedTS       string `json:"deleted_ts,omitempty"`
	Message         *wire  `json:"message,omitempty"`
	Previous        *wire  `json:"previous_message,omitempty"`
}

type (
	edited     struct{ User, TS string }
	botProfile struct{ ID, AppID, Name, Team string }
	// assistantRef marks the root of an assistant's thread.
	assistantRef struct {
		Title string `json:"title"`
	}
)

// MarshalJSON writes Slack's names.
func (e edited) MarshalJSON() ([]byte, error) {
	return encode(map[string]any{"user": e.User, "ts": e.TS})
}

// MarshalJSON writes Slack's names.
func (b botProfile) MarshalJSON() ([]byte, error) {
	return encode(map[string]any{"id": b.ID, "app_id": b.AppID, "name": b.Name, "team_id": b.Team, "deleted": false})
}

// wire is the message as calls and events show it. s.mu is held.
func (s *Server) wire(ch *channel, m *Message, metadata bool) *wire {
	w := &wire{
		Type: "message", Subtype: m.Subtype, User: m.User, BotID: m.BotID, AppID: m.App, Text: m.Text, TS: m.TS, ClientMsgID: m.ClientMsgID,
		Team: m.Team, ThreadTS: m.Thread, Blocks: m.Blocks, Attachments: m.Attachments,
	}
	if m.Deleted {
		return &wire{Type: "message", Subtype: "tombstone", User: "USLACKBOT", Text: "This message was deleted.", TS: m.TS, ThreadTS: m.Thread, Hidden: true}
	}
	if len(ch.SharedWith) > 0 && m.BotID == "" {
		w.UserTeam, w.SourceTeam = m.Team, m.Team
	}
	if m.replies > 0 {
		w.ReplyCount, w.ReplyUsers, w.ReplyUsersCount, w.LatestReply = m.replies, m.repliers, len(m.repliers), m.latest
	} else if m.Thread != "" && m.Thread != m.TS {
		if root := ch.byTS[m.Thread]; root != nil {
			w.ParentUser = root.User
		}
	}
	if metadata {
		w.Metadata = m.Metadata
	}
	if m.editedTS != "" {
		w.Edited = &edited{m.editedBy, m.editedTS}
	}
	if m.BotID != "" {
		if a := s.apps[m.App]; a != nil {
			w.BotProfile = &botProfile{m.BotID, a.ID, a.Name, m.Team}
		}
	}
	if m.Stream == Streaming {
		w.Streaming = "in_progress"
	} else if m.Stream != "" {
		w.Streaming = "completed"
	}
	for _, id := range m.Files {
		if f := s.files[id]; f != nil {
			w.Files = append(w.Files, s.wireFile(f))
		}
	}
	for name, users := range m.Reactions {
		if len(users) > 0 {
			w.Reactions = append(w.Reactions, map[string]any{"name": name, "users": users, "count": len(users)})
		}
	}
	if t := ch.sessions[m.TS]; t != nil && t.title != "" {
		w.Assistant = &assistantRef{t.title}
	}
	return w
}

// add gives a message its timestamp and place. s.mu is held.
func (s *Server) add(ch *channel, m *Message) {
	m.Channel, m.TS = ch.ID, s.nextTS()
	ch.byTS[m.TS] = m
	if m.Thread == m.TS {
		m.Thread = ""
	}
	if m.Thread == "" {
		ch.top = append(ch.top, m)
		ch.threads[m.TS] = []*Message{m}
		return
	}
	if m.Broadcast {
		ch.top = append(ch.top, m)
	}
	ch.threads[m.Thread] = append(ch.threads[m.Thread], m)
	root := ch.byTS[m.Thread]
	root.Thread = root.TS
	root.replies++
	root.latest = m.TS
	for _, u := range root.repliers {
		if u == m.User {
			return
		}
	}
	root.repliers = append(root.repliers, m.User)
}
