package slack

import (
	"bytes"
	"encoding/json"
	"strings"
)

// frame is what comes over a socket.
type frame struct {
	Info struct {
		App string `json:"app_id"`
	} `json:"connection_info"`
	Type     string          `json:"type"`
	Envelope string          `json:"envelope_id"`
	Payload  json.RawMessage `json:"payload"`
	Reason   string          `json:"reason"`
	Attempt  int             `json:"retry_attempt"`
}

// decodeFrame never fails: of what it cannot read it saves the envelope's id, so that Slack does not send it for ever.
func decodeFrame(raw []byte) *frame {
	var f frame
	if err := json.Unmarshal(raw, &f); err == nil {
		return &f
	}
	var only struct {
		Envelope string `json:"envelope_id"`
	}
	if json.Unmarshal(raw, &only) != nil {
		only.Envelope = salvage(raw)
	}
	return &frame{Type: "malformed", Envelope: only.Envelope}
}

// salvage finds an envelope's id in what is no JSON.
func salvage(raw []byte) string {
	_, rest, ok := bytes.Cut(raw, []byte(`"envelope_id":"`))
	if !ok {
		return ""
	}
	id, _, ok := bytes.Cut(rest, []byte(`"`))
	if !ok || len(id) > 100 {
		return ""
	}
	return string(id)
}

// outer is the body of an event.
type outer struct {
	Type        string          `json:"type"`
	Challenge   string          `json:"challenge"`
	TeamID      string          `json:"team_id"`
	ContextTeam string          `json:"context_team_id"`
	App         string          `json:"api_app_id"`
	EventID     string          `json:"event_id"`
	EventTime   int64           `json:"event_time"`
	Event       json.RawMessage `json:"event"`
	// Authorizations name the install that the event is for.
	Authorizations []struct {
		TeamID string `json:"team_id"`
		UserID string `json:"user_id"`
	} `json:"authorizations"`
}

// team is the workspace that the event is for; in a shared channel that is not the one it happened in.
func (o *outer) team() string {
	if len(o.Authorizations) > 0 && o.Authorizations[0].TeamID != "" {
		return o.Authorizations[0].TeamID
	}
	if o.ContextTeam != "" {
		return o.ContextTeam
	}
	return o.TeamID
}

// event is an inner event. Parts whose form may change stay raw, so that they never cost the rest.
type event struct {
	Type        string `json:"type"`
	Channel     string `json:"channel"`
	ChannelType string `json:"channel_type"`
	EventTS     string `json:"event_ts"`
	DeletedTS   string `json:"deleted_ts"`
	Tab         string `json:"tab"`
	message
	Message  *message `json:"message"`
	Previous *message `json:"previous_message"`
	// Tokens are those that were revoked, by the ids of their users.
	Tokens struct {
		Bot []string `json:"bot"`
	} `json:"tokens"`
}

// message is a message as events and calls show it.
type message struct {
	Subtype     string          `json:"subtype,omitempty"`
	User        string          `json:"user"`
	BotID       string          `json:"bot_id"`
	AppID       string          `json:"app_id"`
	Text        string          `json:"text"`
	TS          string          `json:"ts"`
	Thread      string          `json:"thread_ts"`
	Team        string          `json:"team"`
	UserTeam    string          `json:"user_team"`
	SourceTeam  string          `json:"source_team"`
	Username    string          `json:"username"`
	Blocks      json.RawMessage `json:"blocks"`
	Attachments json.RawMessage `json:"attachments"`
	Files       json.RawMessage `json:"files"`
	Metadata    json.RawMessage `json:"metadata"`
	Edited      *edited         `json:"edited"`
	// AssistantThread and AppContext mark a message of the surface for AI apps.
	AssistantThread json.RawMessage `json:"assistant_thread"`
	AppContext      json.RawMessage `json:"app_context"`
	Streaming       string          `json:"streaming_state"`
	// LatestReply is the newest message of the thread that a message opened, where it is read back.
	LatestReply string `json:"latest_reply,omitempty"`
}

type edited struct {
	TS string `json:"ts"`
}

// file is what an event says about a file.
type file struct {
	ID   string `json:"id"`
	Name string `json:"name"`
	MIME string `json:"mimetype"`
	Size int64  `json:"size"`
}

// decodeEvent reads an inner event. When a part has an unknown form the rest is read without it.
func decodeEvent(raw json.RawMessage) (*event, bool) {
	var e event
	if json.Unmarshal(raw, &e) == nil {
		return &e, e.Type != ""
	}
	// encoding/json goes on after a field of a wrong type, so that all others are filled; what is not JSON at all leaves no type.
	return &e, e.Type != "" && json.Valid(raw)
}

// list decodes the elements of a JSON list one by one; those that cannot be read are left out.
func list[T any](raw json.RawMessage) (out []T) {
	var all []json.RawMessage
	if len(raw) == 0 || json.Unmarshal(raw, &all) != nil {
		return nil
	}
	for _, r := range all {
		var v T
		if json.Unmarshal(r, &v) == nil {
			out = append(out, v)
		}
	}
	return out
}

// slash is a slash command, as JSON over a socket and as a form over HTTP.
type slash struct {
	Command     string `json:"command"`
	Text        string `json:"text"`
	TeamID      string `json:"team_id"`
	App         string `json:"api_app_id"`
	Channel     string `json:"channel_id"`
	ChannelName string `json:"channel_name"`
	User        string `json:"user_id"`
	UserName    string `json:"user_name"`
	Trigger     string `json:"trigger_id"`
	ResponseURL string `json:"response_url"`
}

// interactive is a click or a form.
type interactive struct {
	Type        string `json:"type"`
	App         string `json:"api_app_id"`
	Trigger     string `json:"trigger_id"`
	ResponseURL string `json:"response_url"`
	Team        struct {
		ID string `json:"id"`
	} `json:"team"`
	User struct {
		ID       string `json:"id"`
		Name     string `json:"name"`
		UserName string `json:"username"`
		Team     string `json:"team_id"`
	} `json:"user"`
	Channel struct {
		ID   string `json:"id"`
		Name string `json:"name"`
	} `json:"channel"`
	Container struct {
		Channel   string `json:"channel_id"`
		MessageTS string `json:"message_ts"`
		Thread    string `json:"thread_ts"`
		Ephemeral bool   `json:"is_ephemeral"`
	} `json:"container"`
	Message json.RawMessage `json:"message"`
	Actions json.RawMessage `json:"actions"`
	View    json.RawMessage `json:"view"`
}

// action is one element of a click.
type action struct {
	ID       string `json:"action_id"`
	Type     string `json:"type"`
	Value    string `json:"value"`
	ActionTS string `json:"action_ts"`
	Selected struct {
		Value string `json:"value"`
	} `json:"selected_option"`
}

// padSeconds is the width of the seconds in an order; timestamps have ten digits until the year 2286.
const padSeconds = 11

// order makes a timestamp sort bytewise.
func order(ts string) string {
	whole, part, _ := strings.Cut(ts, ".")
	if whole == "" || len(whole) > padSeconds || strings.Trim(whole+part, "0123456789") != "" || len(part) > 9 {
		return ""
	}
	return strings.Repeat("0", padSeconds-len(whole)) + whole + "." + (part + "000000")[:max(6, len(part))]
}
