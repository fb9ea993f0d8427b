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

// surfaces knows which threads belong to the surface for AI apps, and where the status says that an answer is on its way.
type surfaces struct {
	mu      sync.Mutex
	threads map[string]bool
	order   []string
	// working are the calls that set a status and may still be under way: a status that lands after the answer must be taken back.
	working map[string]chan struct{}
}

func newSurfaces() *surfaces {
	return &surfaces{threads: map[string]bool{}, working: map[string]chan struct{}{}}
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

func (s *surfaces) has(c chat.Conversation) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.threads[c.Channel+"/"+c.Thread]
}

// begin notes that a status is being set; end is called when the call is over.
func (s *surfaces) begin(c chat.Conversation) (end func(), ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key := c.Key()
	if s.working[key] != nil {
		return nil, false
	}
	done := make(chan struct{})
	s.working[key] = done
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		close(done)
		delete(s.working, key)
	}, true
}

func (s *surfaces) pending(c chat.Conversation) chan struct{} {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.working[c.Key()]
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
	if end, ok := a.surfaces.begin(c); ok {
		a.aside(statusMethod, url.Values{"channel_id": {c.Channel}, "thread_ts": {c.Thread}, "status": {textThinking}}, end)
	}
	title, _, _ := strings.Cut(strings.TrimSpace(in.Text), "\n")
	if fresh && title != "" {
		a.aside(titleMethod, url.Values{"channel_id": {c.Channel}, "thread_ts": {c.Thread}, "title": {cutRunes(title, maxTitle)}}, nil)
	}
}

// answeredIn takes back a status that may land after the answer, which would have cleared it.
func (a *Adapter) answeredIn(c chat.Conversation) {
	pending := a.surfaces.pending(c)
	if pending == nil {
		return
	}
	a.lanes.spawn(func(ctx context.Context) {
		select {
		case <-pending:
		case <-ctx.Done():
			return
		}
		a.aside(statusMethod, url.Values{"channel_id": {c.Channel}, "thread_ts": {c.Thread}, "status": {""}}, nil)
	})
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
		defer func() { <-a.sides; over() }()
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
