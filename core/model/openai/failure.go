package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"herald/core/model"
)

// failure is what went wrong, as far as the wire tells. Its message is not yet redacted.
type failure struct {
	kind          model.Kind
	status        int
	code, errType string
	message       string
	retryAfter    time.Duration
}

func (f *failure) Error() string { return f.message }

func tooLong(message string) *failure {
	return &failure{kind: model.Unavailable, message: message + "; it was broken off"}
}

// asFailure classifies an error that is no answer of the server: the network, the clock, a stream that broke off.
func asFailure(ctx context.Context, err error) *failure {
	if f, ok := errors.AsType[*failure](err); ok {
		return f
	}
	if s, ok := errors.AsType[silence](context.Cause(ctx)); ok {
		return &failure{kind: model.Unavailable, message: s.Error()}
	}
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return &failure{kind: model.Unavailable, message: "the connection was cut in the middle of the answer"}
	}
	// A url.Error repeats the whole address, which may hold a key.
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	return &failure{kind: model.Unavailable, message: err.Error()}
}

// failureOf reads an answer that is no success. now is needed for a Retry-After that is a date.
func failureOf(status int, header http.Header, body []byte, now time.Time) *failure {
	if status >= 300 && status <= 399 {
		to := "elsewhere"
		if u, err := url.Parse(header.Get("Location")); err == nil && u.Host != "" {
			to = "to " + u.Host
		}
		return &failure{kind: model.BadRequest, status: status, message: "the endpoint redirects " + to + "; set base_url to the address itself"}
	}
	f := parseFailure(body)
	if f == nil {
		f = &failure{message: plainText(body)}
	}
	if f.message == "" {
		f.message = http.StatusText(status)
	}
	f.status = status
	if d, ok := retryAfter(header, now); ok {
		f.retryAfter = d
	}
	f.kind = classify(f)
	return f
}

// parseFailure finds the error in a JSON text in any of the forms that servers use, or nil:
// {"error":{…}}, {"error":"…"}, [{"error":{…}}], {"message":…}, {"detail":…}.
func parseFailure(body []byte) *failure {
	body = trimJSON(body)
	if len(body) == 0 {
		return nil
	}
	if body[0] == '[' {
		var list []json.RawMessage
		if json.Unmarshal(body, &list) != nil || len(list) == 0 {
			return nil
		}
		return parseFailure(list[0])
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(body, &m) != nil {
		return nil
	}
	if e := m["error"]; present(e) {
		var text string
		if json.Unmarshal(e, &text) == nil {
			f := fields(m)
			f.message = text
			return f
		}
		var inner map[string]json.RawMessage
		if json.Unmarshal(e, &inner) == nil {
			return fields(inner)
		}
		return &failure{message: string(e)}
	}
	if present(m["message"]) || present(m["detail"]) {
		return fields(m)
	}
	return nil
}

// fields reads the members of an error object.
func fields(m map[string]json.RawMessage) *failure {
	f := &failure{code: scalar(m["code"]), errType: scalar(m["type"]), message: words(m["message"])}
	if f.message == "" {
		f.message = words(m["detail"])
	}
	if f.errType == "" {
		f.errType = scalar(m["status"]) // Gemini: RESOURCE_EXHAUSTED and the like
	}
	if inner := m["innererror"]; present(inner) { // Azure's filter says more here
		var i struct {
			Code string `json:"code"`
		}
		if json.Unmarshal(inner, &i) == nil && i.Code != "" {
			f.errType += " " + i.Code
		}
	}
	if d := m["details"]; present(d) {
		f.retryAfter = retryInfo(d)
	}
	if meta := m["metadata"]; present(meta) { // OpenRouter wraps the words of the provider behind it
		var o struct {
			Raw flexText `json:"raw"`
		}
		if json.Unmarshal(meta, &o) == nil && o.Raw != "" {
			f.message = strings.TrimSpace(f.message + ": " + string(o.Raw))
		}
	}
	return f
}

// retryInfo is the delay in Google's error details, as "34s".
func retryInfo(details json.RawMessage) time.Duration {
	var list []struct {
		RetryDelay string `json:"retryDelay"`
	}
	if json.Unmarshal(details, &list) != nil {
		return 0
	}
	for _, d := range list {
		if v, err := time.ParseDuration(d.RetryDelay); err == nil && v > 0 {
			return v
		}
	}
	return 0
}

// retryAfter reads the provider's demand from the headers.
func retryAfter(h http.Header, now time.Time) (time.Duration, bool) {
	if d, ok := number(h.Get("Retry-After-Ms"), time.Millisecond); ok {
		return d, true
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if d, ok := number(v, time.Second); ok {
		return d, true
	}
	if at, err := http.ParseTime(v); err == nil {
		return max(at.Sub(now), 0), true
	}
	return 0, false
}

func number(s string, unit time.Duration) (time.Duration, bool) {
	v, err := strconv.ParseFloat(strings.TrimSpace(s), 64)
	if err != nil || v < 0 || v != v {
		return 0, false
	}
	return time.Duration(min(v*float64(unit), float64(365*24*time.Hour))), true
}

// present reports whether a member says anything: servers send "error":null, "" or {} where there is none.
func present(raw json.RawMessage) bool {
	switch string(raw) {
	case "", "null", "false", `""`, "{}", "[]", "0":
		return false
	}
	return true
}

// scalar is a string or number as text.
func scalar(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var n json.Number
	if json.Unmarshal(raw, &n) == nil {
		return n.String()
	}
	return ""
}

// words is the text of a message in whatever form: a string, a list, an object.
func words(raw json.RawMessage) string {
	if !present(raw) {
		return ""
	}
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) == nil {
		parts := make([]string, 0, len(list))
		for _, e := range list {
			if w := words(e); w != "" {
				parts = append(parts, w)
			}
		}
		return strings.Join(parts, ", ")
	}
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) == nil {
		for _, k := range []string{"message", "msg", "detail"} {
			if w := words(m[k]); w != "" {
				return w
			}
		}
	}
	return string(raw)
}

// plainText is the beginning of a body that is no JSON, without tags: of an HTML page its words.
func plainText(body []byte) string {
	var b strings.Builder
	tag := false
	for _, r := range string(body[:min(len(body), 4096)]) {
		switch {
		case r == '<':
			tag = true
			b.WriteByte(' ')
		case r == '>' && tag:
			tag = false
		case !tag:
			b.WriteRune(r)
		}
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

func trimJSON(b []byte) []byte {
	b = []byte(strings.TrimPrefix(string(b), "\ufeff"))
	return []byte(strings.TrimSpace(string(b)))
}
