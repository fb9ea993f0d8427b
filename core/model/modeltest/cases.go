package modeltest

import (
	"strings"
	"time"

	"herald/core/model"
)

// Case is something that servers really send, and what a good driver makes of it.
type Case struct {
	Name  string
	Reply Reply
	// Text, Calls, Finish and Usage are the answer. A call with the arguments [Unreadable] must not be run.
	Text   string
	Calls  []Call
	Finish model.Finish
	Usage  model.Usage
	// Kind, when set, says that there is no answer but this failure; Status and RetryAfter belong to it, and Words stand in
	// its message.
	Kind       model.Kind
	Status     int
	RetryAfter time.Duration
	Words      string
}

// Unreadable are the arguments of a call in a [Case] that must come out as malformed.
const Unreadable = "unreadable"

// raw is a case of a body that is sent as it stands.
func raw(name, body string, want Case) Case {
	want.Name, want.Reply.Wire.Raw = name, body
	return want
}

// ev is an event with this JSON.
func ev(lines ...string) string { return "data: " + strings.Join(lines, "\n\ndata: ") + "\n\n" }

// Pieces of streams.
const (
	one   = `{"choices":[{"index":0,"delta":{"content":"one "}}]}`
	two   = `{"choices":[{"index":0,"delta":{"content":"two"}}]}`
	stop  = `{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`
	acall = `{"choices":[{"index":0,"delta":{},"finish_reason":"tool_calls"}]}`
	done  = "data: [DONE]\n\n"
	boom  = `{"error":{"message":"overloaded, try later","type":"overloaded_error","code":"overloaded"}}`
)

// Streams are streams whose framing, types or errors are not what the protocol says.
func Streams() []Case {
	ok := Case{Text: "one two", Finish: model.FinishStop}
	lost := Case{Kind: model.Unavailable, Words: "before the answer was complete"}
	broken := Case{Text: "one two", Kind: model.Unavailable, Words: "before the answer was complete"}
	overloaded := Case{Kind: model.Unavailable, Words: "overloaded, try later"}
	return append([]Case{
		raw("a plain stream", ev(one, two, stop)+done, ok),
		raw("no space behind the colon", "data:"+one+"\n\ndata:"+two+"\n\ndata:"+stop+"\n\ndata:[DONE]\n\n", ok),
		raw("CRLF line ends", strings.ReplaceAll(ev(one, two, stop)+done, "\n", "\r\n"), ok),
		raw("CR line ends", strings.ReplaceAll(ev(one, two, stop)+done, "\n", "\r"), ok),
		raw("event, id and retry lines", "event: message\nid: 7\nretry: 100\n"+ev(one)+"event: message\n"+ev(two, stop)+done, ok),
		raw("a byte order mark", "\ufeff"+ev(one, two, stop)+done, ok),
		raw("the last event without a line end", ev(one, two)+"data: "+stop, ok),
		raw("DONE without a line end", ev(one, two, stop)+"data: [DONE]", ok),
		raw("a finish reason without DONE", ev(one, two, stop), ok),
		raw("DONE without a finish reason", ev(one, two)+done, ok),
		raw("neither a finish reason nor DONE", ev(one, two), broken),
		raw("a finish reason that is empty", ev(one, two, `{"choices":[{"index":0,"delta":{},"finish_reason":""}]}`), broken),
		raw("DONE alone", done, lost),
		raw("400 comments in a row", ev(one)+strings.Repeat(": still here\n\n", 400)+ev(two, stop)+done, ok),
		raw("blank lines in a row", ev(one)+strings.Repeat("\n", 400)+ev(two, stop)+done, ok),
		raw("heartbeats without data", "data:\n\n"+ev(one)+"data: \n\n"+ev(two, stop)+done, ok),
		raw("heartbeats of null", ev("null", one, "null", two, stop)+done, ok),
		raw("an event in several data lines", "data: {\"choices\":\ndata: [{\"index\":0,\ndata: \"delta\":{\"content\":\"one two\"}}]}\n\n"+ev(stop)+done, ok),
		raw("an event in several data lines with CRLF", "data: {\"choices\":\r\ndata: [{\"delta\":{\"content\":\"one two\"}}]}\r\n\r\n"+ev(stop)+done, ok),
		raw("events without a blank line between them", "data: "+one+"\ndata: "+two+"\ndata: "+stop+"\ndata: [DONE]\n", ok),
		raw("text behind DONE", ev(one, two, stop)+done+ev(one), ok),
		raw("a ping event", "event: ping\n"+ev(`{"type":"ping"}`, one, two, stop)+done, ok),
		raw("a second finish event", ev(one, two, stop, `{"choices":[{"index":0,"delta":{},"finish_reason":"length"}]}`)+done, ok),
		raw("another choice that nobody asked for", ev(one, `{"choices":[{"index":1,"delta":{"content":"other"}}]}`, two, stop)+done, ok),

		raw("an error event", ev(boom)+done, overloaded),
		raw("an error event behind a comment", ": hello\n\n"+ev(boom)+done, overloaded),
		raw("an error event behind an event line", "event: x\n"+ev(boom)+done, overloaded),
		raw("an error event without a line end", "data: "+boom, overloaded),
		raw("an error event with blanks", ev(`{ "error" : {"message":"overloaded, try later"}}`), overloaded),
		raw("an error behind other members", ev(`{"id":"x","choices":[{"index":0,"delta":{"content":""},"finish_reason":"error"}],"error":{"code":502,"message":"overloaded, try later"}}`), overloaded),
		raw("an error that is text", ev(`{"error":"overloaded, try later"}`), overloaded),
		raw("an error of null", ev(`{"error":null,"choices":[{"index":0,"delta":{"content":"one two"}}]}`, stop)+done, ok),
		raw("an event named error", "event: error\n"+ev(`{"object":"error","message":"overloaded, try later","code":500}`), overloaded),
		raw("an event named error without JSON", "event: error\ndata: overloaded, try later", overloaded),
		raw("an object error without a name", ev(`{"object":"error","message":"overloaded, try later"}`), overloaded),
		raw("an error in a list", ev(`[{"error":{"code":503,"message":"overloaded, try later","status":"UNAVAILABLE"}}]`), overloaded),
		raw("an error in FastAPI's form", ev(`{"detail":"overloaded, try later"}`), overloaded),
		raw("a bare error in the middle", ev(one)+boom+"\n", Case{Text: "one ", Kind: model.Unavailable, Words: "overloaded, try later"}),
		raw("a rate limit in the stream", ev(`{"error":{"message":"Rate limit reached","type":"rate_limit_error"}}`), Case{Kind: model.RateLimit, Words: "Rate limit reached"}),
		raw("a wrong key in the stream", ev(`{"error":{"message":"no such key","code":401}}`), Case{Kind: model.Auth, Words: "no such key"}),
		raw("a long context in the stream", ev(`{"error":{"message":"This model's maximum context length is 8192 tokens","code":"context_length_exceeded"}}`), Case{Kind: model.ContextTooLong, Words: "8192"}),
		raw("a finish reason of error", ev(one, `{"choices":[{"index":0,"delta":{},"finish_reason":"error"}]}`), Case{Text: "one ", Kind: model.Unavailable, Words: "ended the answer with an error"}),
		raw("a filtered answer", ev(one, `{"choices":[{"index":0,"delta":{},"finish_reason":"content_filter"}]}`)+done, Case{Text: "one ", Kind: model.ContentFilter, Words: "content filter"}),
		raw("garbage", "data: \x00\xff{{{\n\n", Case{Kind: model.Unavailable, Words: "no JSON"}),
		raw("half an event at the end", ev(one)+`data: {"choices":[{"ind`, Case{Text: "one ", Kind: model.Unavailable, Words: "before the answer was complete"}),
		raw("lines of prose", "hello\nthere\n", lost),
	}, append(bodies(), drift()...)...)
}

// bodies are answers with status 200 that are no stream at all.
func bodies() []Case {
	body := func(name, kind, text string, want Case) Case {
		want.Reply.Wire.ContentType = kind
		return raw(name, text, want)
	}
	return []Case{
		body("a JSON completion", "application/json",
			"{\n \"choices\": [{\"index\":0,\"message\":{\"role\":\"assistant\",\"content\":\"one two\"},\"finish_reason\":\"stop\"}],\n \"usage\": {\"prompt_tokens\":3,\"completion_tokens\":2}}",
			Case{Text: "one two", Finish: model.FinishStop, Usage: model.Usage{Input: 3, Output: 2}}),
		body("a JSON completion without its content type", "text/event-stream",
			`{"choices":[{"message":{"content":"one two"},"finish_reason":"stop"}]}`, Case{Text: "one two", Finish: model.FinishStop}),
		body("a JSON completion with calls", "application/json",
			`{"choices":[{"message":{"content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"look","arguments":"{\"at\":1}"}}]},"finish_reason":"tool_calls"}]}`,
			Case{Calls: []Call{{Name: "look", Arguments: `{"at":1}`}}, Finish: model.FinishCalls}),
		body("a JSON error", "application/json", boom, Case{Kind: model.Unavailable, Words: "overloaded, try later"}),
		body("a JSON error in a list", "application/json", `[{"error":{"code":429,"message":"slow down","status":"RESOURCE_EXHAUSTED"}}]`, Case{Kind: model.RateLimit, Words: "slow down"}),
		body("half a JSON completion", "application/json", `{"choices":[{"message":{"content":"on`, Case{Kind: model.Unavailable, Words: "no model's answer"}),
		body("a page", "text/html", "<html><title>Sign in</title><body>to the hotel's network</body></html>", Case{Kind: model.Unavailable, Words: "Sign in to the hotel's network"}),
		body("nothing", "text/event-stream", "", Case{Kind: model.Unavailable, Words: "empty"}),
		body("blanks", "application/json", " \n\n ", Case{Kind: model.Unavailable, Words: "empty"}),
	}
}

// drift are values of types that the protocol does not have in these places.
func drift() []Case {
	ok := Case{Text: "one two", Finish: model.FinishStop}
	call := Case{Calls: []Call{{Name: "look", Arguments: `{"at":1}`}}, Finish: model.FinishCalls}
	return []Case{
		raw("content as parts", ev(`{"choices":[{"index":0,"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}]},{"type":"text","text":"one two"}]}}]}`, stop)+done, ok),
		raw("content as a list of strings", ev(`{"choices":[{"index":0,"delta":{"content":["one ","two"]}}]}`, stop)+done, ok),
		raw("content as a part", ev(`{"choices":[{"index":0,"delta":{"content":{"type":"text","text":"one two"}}}]}`, stop)+done, ok),
		raw("content as a number", ev(`{"choices":[{"index":0,"delta":{"content":12}}]}`, stop)+done, Case{Text: "12", Finish: model.FinishStop}),
		raw("null where there is nothing", ev(`{"choices":null}`, `{"choices":[{"index":null,"delta":null,"finish_reason":null}]}`,
			`{"choices":[{"index":0,"delta":{"content":null,"tool_calls":null,"role":null},"finish_reason":null}],"usage":null}`, one, two, stop)+done, ok),
		raw("choices that are missing, empty or one", ev(`{"id":"x"}`, `{"choices":[],"prompt_filter_results":[{"prompt_index":0}]}`, one, `{"choices":{"delta":{"content":"two"}}}`, stop)+done, ok),
		raw("odd types where nothing depends on them", ev(`{"id":7,"created":"today","model":null,"object":1,"system_fingerprint":{},"choices":[{"index":"0","delta":{"role":5,"content":"one two"},"logprobs":"x"}]}`, stop)+done, ok),
		raw("a finish reason that is a number", ev(one, two, `{"choices":[{"index":0,"delta":{},"finish_reason":1}]}`)+done, ok),
		raw("usage in decimals and strings", ev(one, two, stop, `{"choices":[],"usage":{"prompt_tokens":7.0,"completion_tokens":"3","prompt_tokens_details":{"cached_tokens":2.0}}}`)+done,
			Case{Text: "one two", Finish: model.FinishStop, Usage: model.Usage{Input: 7, Cached: 2, Output: 3}}),
		raw("usage that grows with each event", ev(
			`{"choices":[{"index":0,"delta":{"content":"one "}}],"usage":{"prompt_tokens":7,"completion_tokens":1}}`,
			`{"choices":[{"index":0,"delta":{"content":"two"},"finish_reason":"stop"}],"usage":{"prompt_tokens":7,"completion_tokens":2}}`,
			`{"choices":[],"usage":null}`)+done, Case{Text: "one two", Finish: model.FinishStop, Usage: model.Usage{Input: 7, Output: 2}}),
		raw("usage of DeepSeek", ev(one, two, stop, `{"choices":[],"usage":{"prompt_tokens":7,"completion_tokens":2,"prompt_cache_hit_tokens":5,"prompt_cache_miss_tokens":2}}`)+done,
			Case{Text: "one two", Finish: model.FinishStop, Usage: model.Usage{Input: 7, Cached: 5, Output: 2}}),
		raw("usage of Groq", ev(one, two, stop, `{"choices":[],"x_groq":{"id":"r","usage":{"prompt_tokens":7,"completion_tokens":2}}}`)+done,
			Case{Text: "one two", Finish: model.FinishStop, Usage: model.Usage{Input: 7, Output: 2}}),
		raw("arguments as an object", ev(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"look","arguments":{"at":1}}}]}}]}`, acall)+done, call),
		raw("an index that is text", ev(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":"0","id":"a","function":{"name":"look","arguments":"{\"at\""}}]}}]}`,
			`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":"0","function":{"arguments":":1}"}}]}}]}`, acall)+done, call),
		raw("an id that is a number", ev(`{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":1,"function":{"name":"look","arguments":"{\"at\":1}"}}]}}]}`, acall)+done, call),
		raw("a call that is no list", ev(`{"choices":[{"index":0,"delta":{"tool_calls":{"index":0,"id":"a","function":{"name":"look","arguments":"{\"at\":1}"}}}}]}`, acall)+done, call),
		raw("the form before tool_calls", ev(`{"choices":[{"index":0,"delta":{"function_call":{"name":"look","arguments":"{\"at\""}}}]}`,
			`{"choices":[{"index":0,"delta":{"function_call":{"arguments":":1}"}},"finish_reason":"function_call"}]}`)+done, call),
	}
}
