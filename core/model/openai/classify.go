package openai

import (
	"strconv"
	"strings"

	"herald/core/model"
)

// classify decides the kind of a failure from status, code, type and wording. Codes come before the wording, and wording
// about rates vetoes wording about length: throttling, too, says "too many tokens".
func classify(f *failure) model.Kind {
	code := strings.ToLower(f.code + " " + f.errType)
	text := strings.ToLower(f.message)
	status := f.status
	if status == 0 || status == 200 {
		// An error inside a stream: its code may be the HTTP status that could no longer be sent.
		if n, err := strconv.Atoi(f.code); err == nil && n >= 400 && n <= 599 {
			status = n
		}
	}
	switch {
	case contains(code, "insufficient_quota", "insufficient_credits", "billing_hard_limit_reached", "billing_not_active"):
		return model.Quota
	case status == 402:
		return model.Quota
	case status == 401 || contains(code, "invalid_api_key", "authentication_error", "unauthenticated"):
		return model.Auth
	case status == 429 || status != 400 && contains(code, "rate_limit", "ratelimit", "resource_exhausted", "too_many_requests"):
		if f.retryAfter == 0 && contains(text, "current quota", "insufficient balance", "billing details", "out of credit", "credit balance") {
			return model.Quota
		}
		return model.RateLimit
	case contains(code, "content_filter", "contentfilter", "content_policy", "responsibleaipolicyviolation", "safety") ||
		contains(text, "content management policy", "content_filter", "content policy", "flagged by our moderation", "blocked by safety"):
		return model.ContentFilter
	case status >= 500 || status == 408 || status == 409 || status == 425:
		return model.Unavailable
	case contains(text, "rate limit", "ratelimit", "throttl", "per minute", "too many requests", "requests per"):
		return model.RateLimit
	case contains(code, "context_length", "context_window", "exceed_context", "string_above_max_length", "request_too_large") ||
		status == 413 || overlong(text):
		return model.ContextTooLong
	case status == 403 || contains(code, "permission"):
		return model.Auth
	case status >= 400:
		return model.BadRequest
	case contains(code, "invalid_request", "badrequest", "bad_request", "not_found"):
		return model.BadRequest
	default:
		return model.Unavailable
	}
}

// overlong recognises how providers say that the context does not fit.
func overlong(text string) bool {
	return contains(text,
		"context length", "context_length", "context window", "context size", "maximum context",
		"prompt is too long", "input is too long", "prompt too long", "too many tokens",
		"reduce the length", "input token count", "exceeds the maximum number of tokens", "exceeds the model's max",
		"maximum input length", "max_model_len", "longer than the maximum", "exceeds the limit of tokens", "token limit exceeded")
}

func contains(s string, any ...string) bool {
	for _, a := range any {
		if strings.Contains(s, a) {
			return true
		}
	}
	return false
}
