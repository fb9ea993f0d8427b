package modeltest

import (
	"net/http"
	"strings"
	"time"

	"herald/core/model"
)

// Errors are failures as the providers word them. {key} in a body is the client's key.
func Errors() []Case {
	status := func(name string, code int, body string, want Case) Case {
		want.Name, want.Status = name, code
		want.Reply.Wire.Status, want.Reply.Wire.Body = code, body
		return want
	}
	after := func(c Case, name, value string, d time.Duration) Case {
		c.Name += ", " + name + " " + value
		c.Reply.Wire.Header, c.RetryAfter = http.Header{name: {value}}, d
		return c
	}
	limited := status("a rate limit", 429, `{"error":{"message":"Rate limit reached for requests","type":"requests","code":"rate_limit_exceeded"}}`, Case{Kind: model.RateLimit, Words: "Rate limit reached"})
	long := func(name string, code int, body string) Case {
		return status("too long: "+name, code, body, Case{Kind: model.ContextTooLong})
	}
	return []Case{
		status("OpenAI: wrong key", 401, `{"error":{"message":"Incorrect API key provided: {key}. You can find your API key at …","type":"invalid_request_error","param":null,"code":"invalid_api_key"}}`, Case{Kind: model.Auth, Words: "Incorrect API key"}),
		status("no rights", 403, `{"error":{"message":"Your project has no access to this model","type":"invalid_request_error"}}`, Case{Kind: model.Auth, Words: "no access"}),
		limited,
		after(limited, "Retry-After", "20", 20*time.Second),
		after(limited, "Retry-After", "1.5", 1500*time.Millisecond),
		after(limited, "Retry-After-Ms", "250", 250*time.Millisecond),
		after(limited, "Retry-After", "never", 0),
		status("OpenAI: no credit", 429, `{"error":{"message":"You exceeded your current quota, please check your plan and billing details.","type":"insufficient_quota","code":"insufficient_quota"}}`, Case{Kind: model.Quota}),
		status("DeepSeek: no credit", 402, `{"error":{"message":"Insufficient Balance","type":"unknown_error","param":null,"code":"invalid_request_error"}}`, Case{Kind: model.Quota}),
		status("Gemini: rate limit with a delay", 429, `[{"error":{"code":429,"message":"You exceeded your current quota, please check your plan and billing details.","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34s"}]}}]`, Case{Kind: model.RateLimit, RetryAfter: 34 * time.Second}),
		status("throttling that speaks of tokens", 429, `{"message":"Too many tokens, please wait before trying again."}`, Case{Kind: model.RateLimit, Words: "Too many tokens"}),
		status("throttling that speaks of tokens in a 400", 400, `{"error":{"message":"Throttling: too many tokens per minute"}}`, Case{Kind: model.RateLimit}),

		long("OpenAI", 400, `{"error":{"message":"This model's maximum context length is 128000 tokens. However, your messages resulted in 130000 tokens.","type":"invalid_request_error","code":"context_length_exceeded"}}`),
		long("Anthropic", 400, `{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 210000 tokens > 200000 maximum"}}`),
		long("Gemini", 400, `[{"error":{"code":400,"message":"The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}]`),
		long("vLLM", 400, `{"object":"error","message":"This model's maximum context length is 4096 tokens. However, you requested 5000 tokens","type":"BadRequestError","param":null,"code":400}`),
		long("llama.cpp", 400, `{"error":{"code":400,"message":"the request exceeds the available context size","type":"exceed_context_size_error"}}`),
		long("by status", 413, `Request Entity Too Large`),
		long("a proxy's code as text", 400, `{"error":{"message":"litellm.ContextWindowExceededError: reduce the length of the messages","type":null,"param":null,"code":"400"}}`),

		status("Azure: filter", 400, `{"error":{"message":"The response was filtered due to the prompt triggering Azure OpenAI's content management policy.","type":null,"param":"prompt","code":"content_filter","status":400,"innererror":{"code":"ResponsibleAIPolicyViolation"}}}`, Case{Kind: model.ContentFilter}),
		status("a bad request", 400, `{"error":{"message":"Unknown parameter: 'foo'","type":"invalid_request_error","param":"foo","code":"unknown_parameter"}}`, Case{Kind: model.BadRequest, Words: "Unknown parameter"}),
		status("Ollama: no such model", 404, `{"error":"model 'llama9' not found"}`, Case{Kind: model.BadRequest, Words: "model 'llama9' not found"}),
		status("FastAPI: unprocessable", 422, `{"detail":[{"loc":["body","messages"],"msg":"field required","type":"value_error.missing"}]}`, Case{Kind: model.BadRequest, Words: "field required"}),
		status("a param that is no text", 400, `{"error":{"message":["one","two"],"type":"invalid_request_error","param":{"a":1},"code":17}}`, Case{Kind: model.BadRequest, Words: "one, two"}),
		status("a page from a gateway", 502, "<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>", Case{Kind: model.Unavailable, Words: "502 Bad Gateway"}),
		status("no body", 503, "", Case{Kind: model.Unavailable, Words: "Service Unavailable"}),
		status("Anthropic: overloaded", 529, `{"type":"error","error":{"type":"overloaded_error","message":"Overloaded"}}`, Case{Kind: model.Unavailable, Words: "Overloaded"}),
		status("OpenRouter: the provider behind it", 502, `{"error":{"message":"Provider returned error","code":502,"metadata":{"raw":"upstream is down","provider_name":"X"}}}`, Case{Kind: model.Unavailable, Words: "upstream is down"}),
		status("a request that timed out", 408, `{}`, Case{Kind: model.Unavailable}),
		status("an endless body", 500, strings.Repeat("x", 1<<20), Case{Kind: model.Unavailable, Words: "xxx"}),
	}
}
