package openai

import (
	"encoding/json"
	"strings"

	"herald/core/model"
)

// fold assembles an answer from the events of its stream.
type fold struct {
	d     *driver
	r     *model.Request
	names *names

	text strings.Builder
	// reasoning is never shown. Some providers want it back beside the calls that followed from it.
	reasoning strings.Builder
	calls     calls
	finish    string
	usage     model.Usage
	screen    screen
}

func newFold(d *driver, r *model.Request, names *names) *fold {
	return &fold{d: d, r: r, names: names, screen: newScreen(d.o.Key, len(r.Tools) > 0)}
}

// add takes one event and is the text that can be shown now.
func (f *fold) add(raw []byte) (string, error) {
	c, err := decodeChunk(raw)
	if err != nil {
		return "", notJSON(raw)
	}
	f.count(c.Usage)
	if c.XGroq != nil {
		f.count(c.XGroq.Usage)
	}
	var shown strings.Builder
	for i := range c.Choices {
		ch := &c.Choices[i]
		if ch.Index.set && ch.Index.n != 0 {
			continue // one answer was asked for
		}
		for _, d := range []*delta{ch.Delta, ch.Message} {
			if d == nil {
				continue
			}
			shown.WriteString(f.screen.write(string(d.Content) + string(d.Refusal)))
			if f.reasoning.Len()+len(d.Reasoning) <= maxReasoning {
				f.reasoning.WriteString(string(d.Reasoning))
			}
			if err := f.addCalls(d); err != nil {
				return "", err
			}
		}
		if reason := string(ch.FinishReason); f.finish == "" && reason != "null" {
			f.finish = reason // a second one, as some servers send, says nothing more
		}
	}
	f.text.WriteString(shown.String())
	if f.text.Len()+f.calls.bytes+f.screen.held() > f.d.o.MaxAnswerBytes {
		return "", tooLong("the answer is too long")
	}
	return shown.String(), nil
}

func (f *fold) addCalls(d *delta) error {
	for i := range d.ToolCalls {
		if err := f.calls.add(&d.ToolCalls[i]); err != nil {
			return err
		}
	}
	if d.FunctionCall != nil {
		return f.calls.add(&callDelta{Function: *d.FunctionCall})
	}
	return nil
}

// count takes the greatest of each figure: servers send usage once, at the end, cumulatively with each event, or null.
func (f *fold) count(u *usage) {
	if u == nil {
		return
	}
	f.usage.Input = max(f.usage.Input, u.Prompt.n)
	f.usage.Output = max(f.usage.Output, u.Completion.n)
	f.usage.Cached = max(f.usage.Cached, u.CacheHit.n)
	if u.Details != nil {
		f.usage.Cached = max(f.usage.Cached, u.Details.Cached.n)
	}
}

// finished reports whether the model has said why it stopped.
func (f *fold) finished() bool { return f.finish != "" }

// empty reports whether nothing at all has come.
func (f *fold) empty() bool {
	return f.finish == "" && f.text.Len() == 0 && f.screen.held() == 0 && len(f.calls.slots) == 0
}

// flush is the text that was held back and is shown after all.
func (f *fold) flush() string {
	rest := f.screen.flush()
	f.text.WriteString(rest)
	return rest
}

// answer is the whole answer, or why there is none.
func (f *fold) answer() (*model.Answer, error) {
	finish := normalFinish(f.finish)
	switch finish {
	case finishFiltered:
		return nil, &failure{kind: model.ContentFilter, message: "the provider's content filter stopped the answer"}
	case finishFailed:
		return nil, &failure{kind: model.Unavailable, message: "the provider ended the answer with an error"}
	}
	cut := finish == model.FinishLength
	a := &model.Answer{Text: f.text.String(), Finish: finish, Usage: f.usage, Model: f.d.o.Name}
	a.Usage.Cached = min(a.Usage.Cached, a.Usage.Input)
	a.Calls = f.calls.finish(f.r.NewCallID, f.names, cut, f.d.redact.exact, f.d.wrapExtra)
	if len(a.Calls) > 0 && f.reasoning.Len() > 0 {
		a.Calls[0].Extra = f.d.wrapReasoning(a.Calls[0].Extra, f.reasoning.String())
	}
	for _, t := range f.screen.calls {
		a.Calls = append(a.Calls, t.read(f.r, cut, f.d.redact.exact)...)
	}
	if len(a.Calls) > 0 && finish == model.FinishStop {
		a.Finish = model.FinishCalls // the reason is advice, the calls are facts
	}
	return a, nil
}

// Reasons that end in no answer.
const (
	finishFiltered model.Finish = "filtered"
	finishFailed   model.Finish = "failed"
)

// normalFinish brings the providers' reasons into one form. What is not known is a stop.
func normalFinish(reason string) model.Finish {
	switch strings.ToLower(reason) {
	case "length", "max_tokens", "model_length", "max_output_tokens", "token_limit":
		return model.FinishLength
	case "content_filter", "contentfilter", "safety", "prohibited_content", "recitation", "blocklist", "refusal":
		return finishFiltered
	case "error", "network_error", "insufficient_system_resource", "engine_overloaded":
		return finishFailed
	default:
		return model.FinishStop
	}
}

// maxReasoning bounds the reasoning that is kept for the provider; more of it is left out whole pieces at a time.
const maxReasoning = 64 << 10

// extra is what [model.Call.Extra] holds for this driver: a provider's opaque data with the name of its host, so that it goes
// back there and nowhere else.
type extra struct {
	Host    string          `json:"host"`
	Content json.RawMessage `json:"extra_content,omitempty"`
	// Reasoning belongs to the message and stands with its first call.
	Reasoning string `json:"reasoning_content,omitempty"`
}

func (d *driver) wrapExtra(content json.RawMessage) json.RawMessage {
	if len(content) == 0 || !json.Valid(content) {
		return nil
	}
	return extra{Host: d.host, Content: content}.encode()
}

func (d *driver) wrapReasoning(raw json.RawMessage, reasoning string) json.RawMessage {
	return extra{Host: d.host, Content: d.ownExtra(raw).Content, Reasoning: d.redact.exact(reasoning)}.encode()
}

func (e extra) encode() json.RawMessage {
	b, err := json.Marshal(e)
	if err != nil {
		return nil // the content is valid, so this cannot be; without it the call still runs
	}
	return b
}

// ownExtra is the opaque data of a call that came from this provider, else nothing.
func (d *driver) ownExtra(raw json.RawMessage) extra {
	var e extra
	if len(raw) == 0 || json.Unmarshal(raw, &e) != nil || e.Host != d.host {
		return extra{}
	}
	return e
}
