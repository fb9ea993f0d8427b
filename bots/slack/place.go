package slack

import (
	"strconv"
	"strings"
	"time"

	"herald/core/chat"
)

// workspace names a team for core.
func workspace(team string) chat.Workspace { return chat.Workspace(string(Platform) + ":" + team) }

// identity names an account for core.
func identity(team, user string) chat.IdentityID {
	return chat.IdentityID(string(workspace(team)) + "/" + user)
}

// userOf is the account in an identity.
func userOf(id chat.IdentityID) string {
	_, user, _ := strings.Cut(string(id), "/")
	return user
}

// invocation names an interaction for core: by Slack's id and by who caused it, so that any process can answer that person.
func invocation(trigger, user string) string { return trigger + ":" + user }

// invoker is who caused an interaction; "" when its name does not say.
func invoker(id string) string {
	i := strings.LastIndexByte(id, ':')
	if i < 0 {
		return ""
	}
	return id[i+1:]
}

// place is where a message stands for core. In a channel a thread is a conversation, and a message outside of threads opens one. In a direct
// message one conversation is open, except where the surface for AI apps makes each message the root of a thread.
func place(team, channel string, direct, surface bool, ts, thread string) chat.Conversation {
	c := chat.Conversation{Workspace: workspace(team), Channel: channel, Thread: thread}
	if thread == "" && (!direct || surface) {
		c.Thread = ts
	}
	return c
}

// wrote reports whether a message is the app's own.
func (s *self) wrote(m *message) bool {
	return m.User == s.user || m.BotID != "" && m.BotID == s.bot
}

// at is the instant of a timestamp; the zero time when it is none.
func at(ts string) time.Time {
	whole, part, _ := strings.Cut(ts, ".")
	s, err := strconv.ParseInt(whole, 10, 64)
	if err != nil {
		return time.Time{}
	}
	micros, err := strconv.ParseInt((part + "000000")[:6], 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(s, micros*1000).UTC()
}

// stamp is the timestamp of an instant.
func stamp(t time.Time) string {
	micros := t.UnixMicro()
	return strconv.FormatInt(micros/1_000_000, 10) + "." + strconv.FormatInt(1_000_000+micros%1_000_000, 10)[1:]
}
