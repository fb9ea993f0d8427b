package slack

import (
	"context"
	"errors"
	"strings"
	"sync"
	"time"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

const (
	startMethod  = "chat.startStream"
	appendMethod = "chat.appendStream"
	stopMethod   = "chat.stopStream"
	// maxStreams bounds the memory of open streams, maxWriters that of who wrote which message.
	maxStreams = 4_096
	maxWriters = 16_384
	// streamsPerMinute stays below Slack's 20 for the whole workspace; what is beyond grows by edits.
	streamsPerMinute = 15
)

// streams knows the streams that this process opened. Another process, or this one after a restart, finds out by Slack's answers that a message is
// one.
type streams struct {
	now func() time.Time

	mu      sync.Mutex
	open    map[string]string // message → what was written into it
	started []time.Time
	// without are channels in which Slack refuses streams.
	without map[string]bool
	// writers are the people who wrote recent messages: outside of direct messages a stream names whom it answers.
	writers map[string]chat.IdentityID
	order   []string
}

func newStreams(now func() time.Time) *streams {
	return &streams{now: now, open: map[string]string{}, without: map[string]bool{}, writers: map[string]chat.IdentityID{}}
}

func streamKey(c chat.Conversation, id string) string { return c.ChannelKey() + "/" + id }

// wrote remembers who wrote a message.
func (s *streams) wrote(in *chat.Inbound) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := streamKey(in.Conversation, in.MessageID)
	if _, ok := s.writers[key]; ok {
		return
	}
	if len(s.order) >= maxWriters {
		delete(s.writers, s.order[0])
		s.order = s.order[1:]
	}
	s.writers[key] = in.Sender.Identity
	s.order = append(s.order, key)
}

// may reports whether a post may be a stream now, and takes a place in the budget; team and user are whom it answers, empty in direct messages.
func (s *streams) may(p *chat.Post) (team, user string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := s.now()
	for len(s.started) > 0 && now.Sub(s.started[0]) >= time.Minute {
		s.started = s.started[1:]
	}
	c := p.Conversation
	if c.Thread == "" || p.Changes || p.Card != nil || s.without[c.ChannelKey()] || len(s.started) >= streamsPerMinute || len(s.open) >= maxStreams {
		return "", "", false
	}
	who, known := s.writers[streamKey(c, p.ReplyTo)]
	if known {
		home, account, _ := strings.Cut(string(who), "/")
		team, user = strings.TrimPrefix(home, string(Platform)+":"), account
	} else if !strings.HasPrefix(c.Channel, "D") {
		return "", "", false
	}
	s.started = append(s.started, now)
	return team, user, true
}

func (s *streams) set(key, text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open[key] = text
}

func (s *streams) get(key string) (string, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	text, ok := s.open[key]
	return text, ok
}

func (s *streams) end(key string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, key)
}

func (s *streams) refuse(c chat.Conversation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.without[c.ChannelKey()] = true
}

// sendStream begins a live message as a stream. ok is false when it must be an ordinary message: nothing stands then.
func (a *Adapter) sendStream(ctx context.Context, p *chat.Post) (r chat.Receipt, ok bool, err error) {
	team, user, may := a.streams.may(p)
	text := settled(p.Text)
	if !may || text == "" {
		return r, false, nil
	}
	opts := []slackgo.MsgOption{slackgo.MsgOptionTS(p.Conversation.Thread), slackgo.MsgOptionMarkdownText(text)}
	if user != "" {
		opts = append(opts, slackgo.MsgOptionRecipientTeamID(team), slackgo.MsgOptionRecipientUserID(user))
	}
	_, ts, err := a.api.StartStreamContext(ctx, p.Conversation.Channel, opts...)
	r, err = a.receipt(ctx, startMethod, "", ts, err)
	if err == nil {
		a.streams.set(streamKey(p.Conversation, r.MessageID), text)
		return r, true, nil
	}
	if _, no := errors.AsType[*chat.Refused](err); no {
		a.log.Info("Slack refuses a stream here; answers grow by edits", "channel", p.Conversation.Channel, "error", err)
		a.streams.refuse(p.Conversation)
		return chat.Receipt{}, false, nil
	}
	if o, out := errors.AsType[*chat.Outage](err); out && o.NotSent && !o.Dead {
		return chat.Receipt{}, false, nil // its budget is used up, that of messages may not be
	}
	return chat.Receipt{}, true, err
}

// growStream shows more of a text in an open stream. done is false when the message is no stream of this process.
func (a *Adapter) growStream(ctx context.Context, p *chat.Post, r chat.Receipt) (done bool, err error) {
	key := streamKey(p.Conversation, r.MessageID)
	was, open := a.streams.get(key)
	if !open {
		return false, nil
	}
	more, fits := strings.CutPrefix(settled(p.Text), was)
	if !fits || more == "" {
		return true, nil // the final text puts it right
	}
	_, ts, err := a.api.AppendStreamContext(ctx, p.Conversation.Channel, r.MessageID, slackgo.MsgOptionMarkdownText(more))
	if s, ok := errors.AsType[slackgo.SlackErrorResponse](err); ok && streamOver(s.Err) {
		a.streams.end(key)
		if s.Err == "stopped_by_user" {
			return true, &chat.Refused{Code: s.Err, Reason: "the person has stopped the answer"}
		}
		return false, nil // its time is over: it goes on by edits
	}
	if _, err = a.receipt(ctx, appendMethod, "", ts, err); err != nil {
		if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.NotSent {
			a.streams.end(key) // what stands in it is not known any more
		}
		return true, err
	}
	a.streams.set(key, was+more)
	return true, nil
}

// endStream ends a stream with its whole text. done is false when the text must still be put right by an edit.
func (a *Adapter) endStream(ctx context.Context, p *chat.Post, r chat.Receipt) (done bool, err error) {
	key := streamKey(p.Conversation, r.MessageID)
	was, open := a.streams.get(key)
	if !open {
		return false, nil
	}
	opts := []slackgo.MsgOption{name(p, false)}
	more, fits := strings.CutPrefix(p.Text, was)
	fits = fits && p.Card == nil
	if fits && more != "" {
		opts = append(opts, slackgo.MsgOptionMarkdownText(more))
	}
	_, ts, err := a.api.StopStreamContext(ctx, p.Conversation.Channel, r.MessageID, opts...)
	if s, ok := errors.AsType[slackgo.SlackErrorResponse](err); ok && (streamOver(s.Err) || verdicts[s.Err].kind == refused) {
		a.streams.end(key)
		return false, nil
	}
	if _, err = a.receipt(ctx, stopMethod, "", ts, err); err != nil {
		if o, ok := errors.AsType[*chat.Outage](err); !ok || !o.NotSent {
			a.streams.end(key) // the next attempt edits, which is right whatever became of this one
		}
		return true, err
	}
	a.streams.end(key)
	return fits, nil
}

// streamOver reports whether an error word says that a stream has ended.
func streamOver(code string) bool {
	return code == "message_not_in_streaming_state" || code == "stopped_by_user"
}

// settled is the part of a growing text that will most likely not be rendered otherwise when more comes: whole lines, and of the line under way what ends
// at a blank outside of all marks. Where it is wrong after all, the final text is put in by an edit.
func settled(text string) string {
	line := strings.LastIndexByte(text, '\n') + 1
	end, brackets := line, 0
	odd := map[byte]bool{}
	for i := line; i < len(text); i++ {
		switch c := text[i]; c {
		case '\\':
			i++ // what follows is a plain character
		case '|':
			return text[:line] // perhaps a table
		case '*', '_', '~', '`':
			if odd[c] = !odd[c]; !odd[c] {
				delete(odd, c)
			}
		case '[', '<':
			brackets++
		case ']', '>':
			brackets--
		case ' ':
			if len(odd) == 0 && brackets <= 0 {
				end = i + 1
			}
		}
	}
	return text[:end]
}
