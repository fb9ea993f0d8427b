package modeltest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"

	"herald/core/model"
)

// player sends one reply over HTTP.
type player struct {
	w     http.ResponseWriter
	r     *http.Request
	q     *wireQuery
	reply Reply
	key   string // what the client sent as its key

	buf   bytes.Buffer
	piece int
}

func (p *player) play() {
	wire := &p.reply.Wire
	for k, v := range wire.Header {
		p.w.Header()[http.CanonicalHeaderKey(k)] = v
	}
	if !p.wait(p.reply.FirstDelay) {
		return
	}
	switch {
	case wire.HangFirst:
		p.hang()
	case wire.Status != 0:
		p.w.Header().Set("Content-Type", orElse(wire.ContentType, "application/json"))
		p.w.WriteHeader(wire.Status)
		_, _ = io.WriteString(p.w, p.fill(wire.Body))
	case wire.Raw != "" || wire.ContentType != "":
		p.w.Header().Set("Content-Type", orElse(wire.ContentType, "text/event-stream"))
		_, _ = io.WriteString(p.w, p.fill(wire.Raw))
		if wire.CutRaw {
			p.cut()
		}
	case !p.q.stream:
		p.whole()
	default:
		p.stream()
	}
}

// fill puts the client's key where a provider would echo it.
func (p *player) fill(s string) string { return strings.ReplaceAll(s, "{key}", p.key) }

func (p *player) stream() {
	wire := &p.reply.Wire
	p.w.Header().Set("Content-Type", "text/event-stream")
	parts := pieces(p.reply.Text, p.reply.Chunks)
	for i := 0; i < len(parts) || wire.Endless; i++ {
		if i > 0 && !p.wait(p.reply.Delay) {
			return
		}
		text := p.reply.Text
		if i < len(parts) {
			text = parts[i]
		}
		p.delta(`{"content":` + quote(text) + `}`)
		if !p.after() {
			return
		}
	}
	for i, c := range p.reply.Calls {
		p.call(i, c)
		if !p.after() {
			return
		}
	}
	if wire.NoFinish {
		p.flush()
		return
	}
	p.event(`"choices":[{"index":0,"delta":{},"finish_reason":` + quote(wireFinish(p.reply.finish())) + `}]`)
	if p.q.usage && !p.reply.NoUsage {
		p.event(`"choices":[],"usage":` + p.usage())
	}
	if !wire.NoDone {
		p.buf.WriteString("data: [DONE]\n\n")
	}
	_, _ = p.w.Write(p.buf.Bytes()) // the end of the handler flushes it
}

// call sends a tool call as providers do: its name first, then its arguments in two pieces.
func (p *player) call(i int, c Call) {
	id := c.ID
	if id == "" {
		id = p.q.request.NewCallID()
	}
	args := orElse(c.Arguments, "{}")
	extra := ""
	if c.Extra != "" {
		extra = "," + c.Extra
	}
	p.delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}%s}]}`, i, quote(id), quote(c.Name), extra))
	for _, part := range pieces(args, 2) {
		p.delta(fmt.Sprintf(`{"tool_calls":[{"index":%d,"function":{"arguments":%s}}]}`, i, quote(part)))
	}
}

// after is called behind each piece: it sends where there are delays, hangs or cuts where the reply says so, and reports
// whether to go on.
func (p *player) after() bool {
	p.piece++
	wire := &p.reply.Wire
	switch {
	case wire.Hang == p.piece:
		p.flush()
		p.hang()
		return false
	case wire.Cut == p.piece:
		p.flush()
		p.cut()
		return false
	case p.reply.Delay > 0 || wire.Endless && p.buf.Len() > 64<<10:
		return p.flush()
	}
	return true
}

func (p *player) delta(delta string) {
	p.event(`"choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]`)
}

func (p *player) event(members string) {
	p.buf.WriteString(`data: {"id":"chatcmpl-test","object":"chat.completion.chunk","created":1,"model":"test",`)
	p.buf.WriteString(members)
	p.buf.WriteString("}\n\n")
}

func (p *player) flush() bool {
	_, err := p.w.Write(p.buf.Bytes())
	p.buf.Reset()
	if f, ok := p.w.(http.Flusher); ok {
		f.Flush()
	}
	return err == nil && p.r.Context().Err() == nil
}

// hang keeps the connection open until the client goes away.
func (p *player) hang() {
	p.w.Header().Set("Content-Type", "text/event-stream")
	p.flush()
	if !p.reply.Wire.Comments {
		<-p.r.Context().Done()
		return
	}
	const often = 5 * time.Millisecond
	for p.wait(often) {
		p.buf.WriteString(": still here\n\n")
		if !p.flush() {
			return
		}
	}
}

// cut breaks the connection.
func (p *player) cut() {
	p.flush()
	panic(http.ErrAbortHandler)
}

func (p *player) wait(d time.Duration) bool {
	if d <= 0 {
		return true
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-p.r.Context().Done():
		return false
	case <-t.C:
		return true
	}
}

// whole answers a request that asked for no stream.
func (p *player) whole() {
	type function struct {
		Name      string `json:"name"`
		Arguments string `json:"arguments"`
	}
	type call struct {
		ID       string   `json:"id"`
		Type     string   `json:"type"`
		Function function `json:"function"`
	}
	message := map[string]any{"role": "assistant", "content": p.reply.Text}
	var calls []call
	for _, c := range p.reply.Calls {
		calls = append(calls, call{orElse(c.ID, p.q.request.NewCallID()), "function", function{c.Name, orElse(c.Arguments, "{}")}})
	}
	if calls != nil {
		message["tool_calls"] = calls
	}
	b, err := json.Marshal(map[string]any{
		"id": "chatcmpl-test", "object": "chat.completion", "created": 1, "model": "test",
		"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": wireFinish(p.reply.finish())}},
		"usage":   json.RawMessage(p.usage()),
	})
	if err != nil {
		refuse(p.w, http.StatusInternalServerError, "server_error", "", err.Error())
		return
	}
	p.w.Header().Set("Content-Type", "application/json")
	_, _ = p.w.Write(b)
}

func (p *player) usage() string {
	u := p.reply.Usage
	if u == (model.Usage{}) {
		u = estimate(&p.q.request, &p.reply)
	}
	return fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
		u.Input, u.Output, u.Input+u.Output, u.Cached)
}

func wireFinish(f model.Finish) string {
	if f == model.FinishCalls {
		return "tool_calls"
	}
	return string(f)
}

func quote(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		return `""` // strings cannot fail
	}
	return string(b)
}

func orElse(s, other string) string {
	if s == "" {
		return other
	}
	return s
}
