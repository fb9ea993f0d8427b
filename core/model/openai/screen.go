package openai

import (
	"strings"
)

// tag is markup by which models write tool calls or thoughts into their text when the server does not parse it.
type tag struct {
	open, close string
	// thought is swallowed at the beginning of an answer only; the others at the beginning of a line, where tools were offered.
	thought bool
	// follows are the bytes of which one must come next, after white space; any when empty. Prose about a tag differs here.
	follows string
}

// longestHold bounds what is held back behind a tag that is followed by nothing but white space.
const longestHold = 256

func tags() []tag {
	return []tag{
		{open: "<tool_call>", close: "</tool_call>", follows: "{[<"},
		{open: "<tool_calls>", close: "</tool_calls>", follows: "{[<"},
		{open: "<function_call>", close: "</function_call>", follows: "{[<"},
		{open: "<function=", close: "</function>"},
		{open: "[TOOL_CALLS]"},
		{open: "<|python_tag|>", close: "<|eom_id|>"},
		{open: "<|tool_calls_section_begin|>", close: "<|tool_calls_section_end|>"},
		{open: "<｜tool▁calls▁begin｜>", close: "<｜tool▁calls▁end｜>"},
		{open: "<think>", close: "</think>", thought: true},
	}
}

// screen decides what of the text may be shown: no raw tool call, no thought, no echo of the key. It holds back what may be
// the beginning of one, and nothing else. Text inside a code fence is shown as it is.
type screen struct {
	key   string
	tools bool
	tags  []tag

	pending string // not yet decided
	inside  *tag
	body    strings.Builder
	calls   []written

	shown     bool // something that is no white space was shown
	midLine   bool
	ticks     int
	fenced    bool
	swallowed int
}

// written is a tool call that stood in the text.
type written struct{ open, body string }

func newScreen(key string, tools bool) screen {
	if len(key) < leastSecret {
		key = ""
	}
	return screen{key: key, tools: tools, tags: tags()}
}

// held is how many bytes are kept back or swallowed.
func (s *screen) held() int { return len(s.pending) + s.swallowed }

// write takes a piece of text and returns what can be shown.
func (s *screen) write(text string) string {
	if text == "" {
		return ""
	}
	s.pending += text
	return s.run(false)
}

// flush decides what is still held back: the text has ended.
func (s *screen) flush() string {
	out := s.run(true)
	if s.inside != nil {
		s.body.WriteString(s.pending)
		s.pending = ""
		s.leave()
	}
	return out
}

func (s *screen) run(end bool) string {
	var out strings.Builder
	for s.pending != "" {
		if s.inside != nil {
			if !s.swallow() {
				break
			}
			continue
		}
		i, n, as := s.scan(end)
		out.WriteString(s.pending[:i])
		s.pending = s.pending[i+n:]
		out.WriteString(as)
		if n == 0 {
			break
		}
	}
	return out.String()
}

// scan looks for the first thing in the pending text that is not plainly to be shown: it stands at i and is n bytes long (0
// when it must wait for more text, or there is none); as is shown in its place. A tag is entered.
func (s *screen) scan(end bool) (i, n int, as string) {
	for i = 0; i < len(s.pending); i++ {
		b := s.pending[i]
		if b == '<' || b == '[' {
			t, n, wait := s.match(s.pending[i:], end)
			if wait {
				return i, 0, ""
			}
			if t != nil {
				s.inside = t
				return i, n, ""
			}
		}
		if s.key != "" && b == s.key[0] {
			rest := s.pending[i:]
			if strings.HasPrefix(rest, s.key) {
				s.note('x')
				return i, len(s.key), redacted
			}
			if !end && strings.HasPrefix(s.key, rest) {
				return i, 0, ""
			}
		}
		s.note(b)
	}
	return i, 0, ""
}

// match looks for a tag at the beginning of rest.
func (s *screen) match(rest string, end bool) (t *tag, n int, wait bool) {
	for i := range s.tags {
		t := &s.tags[i]
		if t.thought && s.shown || !t.thought && (!s.tools || s.fenced || s.midLine) {
			continue
		}
		if !strings.HasPrefix(rest, t.open) {
			if !end && strings.HasPrefix(t.open, rest) {
				return nil, 0, true
			}
			continue
		}
		if t.follows == "" {
			return t, len(t.open), false
		}
		next := strings.TrimLeft(rest[len(t.open):], " \t\r\n")
		switch {
		case next == "" && !end && len(rest) < longestHold:
			return nil, 0, true
		case next != "" && strings.IndexByte(t.follows, next[0]) >= 0:
			return t, len(t.open), false
		}
	}
	return nil, 0, false
}

// swallow takes pending text into the body of the present tag, up to its end. It reports whether the tag has ended.
func (s *screen) swallow() bool {
	end := s.inside.close
	if end != "" {
		if i := strings.Index(s.pending, end); i >= 0 {
			s.body.WriteString(s.pending[:i])
			s.pending = s.pending[i+len(end):]
			s.leave()
			return true
		}
	}
	keep := partial(s.pending, end)
	s.body.WriteString(s.pending[:len(s.pending)-keep])
	s.swallowed += len(s.pending) - keep
	s.pending = s.pending[len(s.pending)-keep:]
	return false
}

func (s *screen) leave() {
	if !s.inside.thought {
		s.calls = append(s.calls, written{s.inside.open, strings.TrimSpace(s.body.String())})
	}
	s.body.Reset()
	s.inside = nil
}

// partial is how many bytes at the end of text may be the beginning of end.
func partial(text, end string) int {
	for n := min(len(text), len(end)-1); n > 0; n-- {
		if strings.HasPrefix(end, text[len(text)-n:]) {
			return n
		}
	}
	return 0
}

// note keeps track of where in the text the shown byte stands.
func (s *screen) note(b byte) {
	if b == '`' {
		if s.ticks++; s.ticks == 3 {
			s.fenced = !s.fenced
		}
	} else {
		s.ticks = 0
	}
	switch b {
	case '\n':
		s.midLine = false
	case ' ', '\t', '\r':
	default:
		s.midLine, s.shown = true, true
	}
}
