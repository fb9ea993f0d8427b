package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"
	"sync"
	"time"

	"herald/core/chat"
)

const (
	statusMethod  = "assistant.threads.setStatus"
	titleMethod   = "assistant.threads.setTitle"
	promptsMethod = "assistant.threads.setSuggestedPrompts"

	// asides is how many calls beside the answers run at once; what comes beyond is left out, for nothing rests on it.
	asides = 16
	// asideWait is how long such a call may take.
	asideWait = 5 * time.Second
	// maxTitle is the length of a thread's title.
	maxTitle = 60
	// maxSurfaces bounds the memory of threads of the surface for AI apps.
	maxSurfaces = 16_384
)

// The fixed texts of the surface for AI apps.
const (
	textThinking = "is thinking…"
	textPrompts  = "Three things to try"
)

// Prompt is a proposal that Slack shows where a conversation begins.
type Prompt struct {
	Title   string `json:"title"`
	Message string `json:"message"`
}

// Prompts are the proposals of a new conversation; the manifest names the same.
func Prompts() []Prompt {
	return []Prompt{
		{"What can you do?", "What can you help me with?"},
		{"Remember something", "Remember that I prefer short answers."},
		{"Explain a text", "Explain the following text to me in simple words:"},
	}
}

// surfaces knows which threads belong to the surface for AI apps, and what their status says.
type surfaces struct {
	mu      sync.Mutex
	threads map[string]bool
	order   []string
	// statuses are the threads whose status is being set, each by one call at a time: two at once could land in either order.
	statuses map[string]*status
}

// status is what the status of a thread is to say. again: it changed, or a message may have cleared it, since the call under way began.
type status struct {
	text  string
	again bool
}

func newSurfaces() *surfaces {
	return &surfaces{threads: map[string]bool{}, statuses: map[string]*status{}}
}

func (s *surfaces) add(channel, thread string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := channel + "/" + thread
	if s.threads[key] {
		return
	}
	if len(s.order) >= maxSurfaces {
		delete(s.threads, s.order[0])
		s.order = s.order[1:]
	}
	s.threads[key] = true
	s.order = append(s.order, key)
}

func (s *surfaces) has(channel, thread string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads[channel+"/"+thread]
}

// want says what the status of a conversation is to be. begin is true when the caller must set it: no call is under way that another one would follow.
func (s *surfaces) want(c chat.Conversation, text string) (begin bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if st := s.statuses[c.Key()]; st != nil {
		st.text, st.again = text, true
		return false
	}
	s.statuses[c.Key()] = &status{text: text}
	return true
}

// next is what the status must be set to now. After a call was made (over) it is done unless something came since.
func (s *surfaces) next(c chat.Conversation, over bool) (text string, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.statuses[c.Key()]
	if over && !st.again {
		delete(s.statuses, c.Key())
		return "", false
	}
	st.again = false
	return st.text, true
}

// pending reports whether a call that sets a status is under way.
func (s *surfaces) pending(c chat.Conversation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.statuses[c.Key()] != nil
}

// opened handles the events that say that somebody looks at an empty conversation: proposals are shown there.
func (a *Adapter) opened(e *event) {
	var t struct {
		Channel string `json:"channel_id"`
		Thread  string `json:"thread_ts"`
	}
	switch e.Type {
	case "assistant_thread_started":
		if json.Unmarshal(e.AssistantThread, &t) != nil || t.Channel == "" || t.Thread == "" {
			return
		}
		a.surfaces.add(t.Channel, t.Thread)
	case "app_home_opened":
		if e.Tab != "messages" || e.Channel == "" {
			return
		}
		t.Channel = e.Channel
	default:
		return
	}
	prompts, err := json.Marshal(Prompts())
	if err != nil {
		return
	}
	args := url.Values{"channel_id": {t.Channel}, "title": {textPrompts}, "prompts": {string(prompts)}}
	if t.Thread != "" {
		args.Set("thread_ts", t.Thread)
	}
	a.aside(promptsMethod, args, nil)
}

// greet sets status and title of a thread on the surface for AI apps when a message was taken; fresh says that it is the thread's first.
func (a *Adapter) greet(in *chat.Inbound, fresh bool) {
	c := in.Conversation
	if a.surfaces.want(c, textThinking) {
		a.setStatus(c, false)
	}
	title, _, _ := strings.Cut(strings.TrimSpace(in.Text), "\n")
	if fresh && title != "" {
		a.aside(titleMethod, url.Values{"channel_id": {c.Channel}, "thread_ts": {c.Thread}, "title": {cutRunes(title, maxTitle)}}, nil)
	}
}

// answeredIn says that a message was posted, which clears the status. One that is on its way may land behind it and is taken back then, unless another
// message has come since that is to be answered.
func (a *Adapter) answeredIn(c chat.Conversation) {
	if a.surfaces.pending(c) && a.surfaces.want(c, "") {
		a.setStatus(c, false)
	}
}

// setStatus sets the status of a thread, until it says what was wanted last.
func (a *Adapter) setStatus(c chat.Conversation, over bool) {
	text, ok := a.surfaces.next(c, over)
	if !ok {
		return
	}
	args := url.Values{"channel_id": {c.Channel}, "thread_ts": {c.Thread}, "status": {text}}
	a.aside(statusMethod, args, func() { a.setStatus(c, true) })
}

// aside makes a call that nothing rests on. end, when given, is called when it is over or was left out.
func (a *Adapter) aside(method string, args url.Values, end func()) {
	over := func() {
		if end != nil {
			end()
		}
	}
	select {
	case a.sides <- struct{}{}:
	default:
		a.opt.Count("aside_left_out")
		over()
		return
	}
	begun := a.lanes.spawn(func(ctx context.Context) {
		defer over()
		defer func() { <-a.sides }()
		ctx, cancel := context.WithTimeout(ctx, asideWait)
		defer cancel()
		var answer struct{}
		if err := a.call(ctx, a.opt.BotToken, method, args, &answer); err != nil {
			a.log.Debug("a call beside the answers failed", "method", method, "error", err)
		}
	})
	if !begun {
		<-a.sides
		over()
	}
}
