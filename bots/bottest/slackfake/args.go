package slackfake

import (
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
)

// maxBody is the largest body of a call.
const maxBody = 8 << 20

// args are the arguments of a call. Values that are not strings stand as JSON text, whichever way they came.
type args map[string]string

// readArgs takes the arguments of a request from its query and its body: form, multipart or JSON.
func readArgs(w http.ResponseWriter, r *http.Request) (args, error) {
	a := args{}
	for k, v := range r.URL.Query() {
		a[k] = v[0]
	}
	if r.Body == nil || r.Method == http.MethodGet {
		return a, nil
	}
	r.Body = http.MaxBytesReader(w, r.Body, maxBody)
	kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type"))
	switch kind {
	case "application/json":
		raw, err := io.ReadAll(r.Body)
		if err != nil {
			return nil, err
		}
		var fields map[string]json.RawMessage
		if err := json.Unmarshal(raw, &fields); err != nil {
			return nil, errors.New("invalid_json")
		}
		for k, v := range fields {
			a.put(k, v)
		}
	case "multipart/form-data":
		if err := r.ParseMultipartForm(maxBody); err != nil {
			return nil, errors.New("invalid_form_data")
		}
		for k, v := range r.MultipartForm.Value {
			a[k] = v[0]
		}
	case "application/x-www-form-urlencoded", "":
		if err := r.ParseForm(); err != nil {
			return nil, errors.New("invalid_form_data")
		}
		for k, v := range r.PostForm {
			a[k] = v[0]
		}
	default:
		return nil, errors.New("invalid_post_type")
	}
	return a, nil
}

func (a args) put(k string, v json.RawMessage) {
	switch {
	case string(v) == "null":
	case len(v) > 0 && v[0] == '"':
		var text string
		if json.Unmarshal(v, &text) == nil {
			a[k] = text
		}
	default:
		a[k] = string(v)
	}
}

func (a args) flag(k string) bool {
	v := strings.ToLower(a[k])
	return v == "true" || v == "1"
}

// number is an integer argument, or the default.
func (a args) number(k string, standard int) int {
	if n, err := strconv.Atoi(a[k]); err == nil {
		return n
	}
	return standard
}

// json decodes a JSON argument into v; it reports whether one was given and whether it is well-formed.
func (a args) json(k string, v any) (given, ok bool) {
	text := a[k]
	if text == "" {
		return false, true
	}
	return true, json.Unmarshal([]byte(text), v) == nil
}

// raw is a JSON argument as it is.
func (a args) raw(k string) json.RawMessage {
	if a[k] == "" {
		return nil
	}
	return json.RawMessage(a[k])
}
