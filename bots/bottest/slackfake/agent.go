package slackfake

import (
	"cmp"
	"encoding/json"
	"time"
	"unicode/utf8"
)

// agentThread is what an app has set of a thread.
type agentThread struct {
	status, title, state string
	until                time.Time
	prompts              json.RawMessage
}

// Thread is a thread as its status bar shows it.
type Thread struct {
	// Status is what the app is said to do; empty when it was cleared, by the app, its next message or time.
	Status string
	Title  string
	// Prompts are the suggested ones, as given. State is an agent's session: active, processing, suspended or closed.
	Prompts json.RawMessage
	State   string
}

// Thread is the state of a thread that the app has set.
func (v View) Thread(channel, thread string) Thread {
	ch := v.s.channels[channel]
	if ch == nil || ch.sessions[thread] == nil {
		return Thread{}
	}
	t := ch.sessions[thread]
	out := Thread{t.status, t.title, t.prompts, t.state}
	if !v.s.now().Before(t.until) {
		out.Status = ""
	}
	return out
}

func (ch *channel) session(thread string) *agentThread {
	t := ch.sessions[thread]
	if t == nil {
		t = &agentThread{}
		ch.sessions[thread] = t
	}
	return t
}

// clearStatus is what a post of the app does to the status of its thread. s.mu is held.
func (s *Server) clearStatus(ch *channel, m *Message) {
	if t := ch.sessions[m.Thread]; t != nil && t.status != "" {
		t.status = ""
		s.note(Record{Kind: StatusSet, App: m.App, Channel: ch.ID, Thread: m.Thread, Code: "cleared"})
	}
}

// agentPlace finds the thread of a call. s.mu is held.
func (s *Server) agentPlace(c *call, needThread bool) (*channel, *agentThread, *refusal) {
	id := cmp.Or(c.args["channel_id"], c.args["channel"])
	ch, no := s.target(c, id, true)
	if no != nil {
		return nil, nil, no
	}
	ts := c.args["thread_ts"]
	if ts == "" && needThread {
		return nil, nil, refuse("invalid_arguments", "[ERROR] missing required field: thread_ts")
	}
	if ts != "" {
		if no := ch.threadOf(ts); no != nil {
			return nil, nil, refuse("invalid_thread_ts")
		}
	}
	return ch, ch.session(ts), nil
}

func (s *Server) setStatus(c *call) (reply, *refusal) {
	ch, t, no := s.agentPlace(c, true)
	if no != nil {
		return nil, no
	}
	if _, ok := c.args["status"]; !ok {
		return nil, refuse("invalid_arguments", "[ERROR] missing required field: status")
	}
	var loading []string
	if given, ok := c.json("loading_messages", &loading); given && ok && len(loading) > 10 {
		return nil, refuse("invalid_arguments", "[ERROR] no more than 10 items allowed [json-pointer:/loading_messages]")
	}
	t.status, t.until = c.args["status"], s.now().Add(s.opt.StatusLife)
	s.note(Record{Kind: StatusSet, Method: c.method, App: c.app.ID, Team: c.in.Team, Channel: ch.ID, Thread: c.args["thread_ts"], Text: t.status})
	return nil, nil
}

func (s *Server) setTitle(c *call) (reply, *refusal) {
	_, t, no := s.agentPlace(c, true)
	if no != nil {
		return nil, no
	}
	if t.title = c.args["title"]; t.title == "" {
		return nil, refuse("invalid_arguments", "[ERROR] missing required field: title")
	}
	return nil, nil
}

func (s *Server) setPrompts(c *call) (reply, *refusal) {
	ch, t, no := s.agentPlace(c, !c.app.AgentView)
	if no != nil {
		return nil, no
	}
	var prompts []struct{ Title, Message string }
	given, ok := c.json("prompts", &prompts)
	if !ch.IM || !given || !ok || len(prompts) == 0 || len(prompts) > 4 {
		return nil, refuse("invalid_arguments", "[ERROR] 1 to 4 prompts in a direct message [json-pointer:/prompts]")
	}
	for _, p := range prompts {
		if p.Title == "" || p.Message == "" || utf8.RuneCountInString(p.Title) > 300 {
			return nil, refuse("invalid_arguments", "[ERROR] each prompt needs a title and a message [json-pointer:/prompts]")
		}
	}
	t.prompts = c.raw("prompts")
	s.touch()
	return nil, nil
}

func (s *Server) setSession(c *call) (reply, *refusal) {
	if !c.app.AgentView {
		return nil, refuse("feature_not_enabled")
	}
	ch, t, no := s.agentPlace(c, true)
	if no != nil {
		return nil, no
	}
	switch state := c.args["status"]; state {
	case "active", "processing", "suspended", "closed":
		t.state = state
	default:
		return nil, refuse("invalid_arguments", "[ERROR] must be one of active, processing, suspended, closed [json-pointer:/status]")
	}
	s.note(Record{Kind: StatusSet, Method: c.method, App: c.app.ID, Team: c.in.Team, Channel: ch.ID, Thread: c.args["thread_ts"], Text: t.state})
	return nil, nil
}

func (s *Server) renameSession(c *call) (reply, *refusal) {
	if !c.app.AgentView {
		return nil, refuse("feature_not_enabled")
	}
	return s.setTitle(c)
}

// OpenDM is a person's look at the app's direct message: app_home_opened with the tab of messages goes out. Told names its channel.
func (s *Server) OpenDM(user, bot string) Told { return s.openTab(user, bot, "messages") }

// OpenHome is a person's look at the app's home tab.
func (s *Server) OpenHome(user, bot string) Told { return s.openTab(user, bot, "home") }

func (s *Server) openTab(person, bot, tab string) Told {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.installOf(bot)
	ch := s.dm(i.BotUser, person)
	return Told{Channel: ch.ID, Events: s.tellAll("app_home_opened", map[string]any{"user": person, "channel": ch.ID, "tab": tab},
		place{ch: ch}, func(o *install) bool { return o == i })}
}

// installOf is the install of a bot user; "" names the first one. s.mu is held.
func (s *Server) installOf(bot string) *install {
	for _, i := range s.installs {
		if bot == "" || i.BotUser == bot {
			return i
		}
	}
	panic("slackfake: no install has the bot user " + bot)
}

// surface is how an event marks what a person writes to an app whose direct messages are an agent's. s.mu is held.
func (ch *channel) surface(i *install, m *Message) (context, thread any) {
	switch {
	case i.app.AgentView:
		entities := []any{}
		if ch.looking != "" {
			entities = append(entities, map[string]any{"type": "slack#/types/channel_id", "value": ch.looking})
		}
		return map[string]any{"entities": entities}, nil
	case i.app.AssistantView && m.Thread != "":
		return nil, map[string]any{"action_token": "token-" + m.TS}
	}
	return nil, nil
}

// OpenAssistant starts a thread of the feature assistant_view: a thread's root of the app's own comes to be, and assistant_thread_started goes out.
func (s *Server) OpenAssistant(person, bot string) Told {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.installOf(bot)
	ch := s.dm(i.BotUser, person)
	m := &Message{User: i.BotUser, BotID: i.BotID, App: i.App, Team: i.Team, Subtype: "assistant_app_thread", Text: "New Assistant Thread"}
	s.add(ch, m)
	return Told{Channel: ch.ID, Thread: m.TS, TS: m.TS, Events: s.tellAll("assistant_thread_started", map[string]any{
		"assistant_thread": map[string]any{"user_id": person, "channel_id": ch.ID, "thread_ts": m.TS, "context": map[string]any{}},
	}, place{ch, m.TS, m.TS, ""}, func(o *install) bool { return o == i })}
}

// LookAt is a person's change to another channel while an assistant's thread or the agent's direct message is open: assistant_thread_context_changed, or for an
// app with agent_view app_context_changed, goes out.
func (s *Server) LookAt(person, bot, thread, channel string) Told {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := s.installOf(bot)
	ch := s.dm(i.BotUser, person)
	only := func(o *install) bool { return o == i }
	ch.looking = channel
	if i.app.AgentView {
		return Told{Channel: ch.ID, Events: s.tellAll("app_context_changed", map[string]any{
			"user": person, "channel": ch.ID, "context": map[string]any{"entities": []any{map[string]any{"type": "slack#/types/channel_id", "value": channel}}},
		}, place{ch: ch}, only)}
	}
	return Told{Channel: ch.ID, Thread: thread, Events: s.tellAll("assistant_thread_context_changed", map[string]any{
		"assistant_thread": map[string]any{
			"user_id": person, "channel_id": ch.ID, "thread_ts": thread, "context": map[string]any{"channel_id": channel, "team_id": i.Team},
		},
	}, place{ch, thread, "", ""}, only)}
}
