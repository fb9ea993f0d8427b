package authored

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"herald/core/tool"
	"herald/core/tool/sandbox"
	"herald/skills/internal/look"
)

// Limits of a call.
const (
	maxWordBytes = 64 << 10
	maxAnswer    = 1 << 20
	maxErrorBody = 1000
)

// run performs a call: the arguments are checked against the schema before anything begins.
func (r *Registry) run(ctx context.Context, e *entry, c tool.Call) (tool.Result, error) {
	raw := c.Arguments
	if len(bytes.TrimSpace(raw)) == 0 {
		raw = json.RawMessage("{}")
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(raw))
	if err != nil {
		return tool.Result{}, fmt.Errorf("the arguments do not fit: %s", short(err.Error()))
	}
	if err := e.spec.schema.Validate(doc); err != nil {
		return tool.Result{}, fmt.Errorf("the arguments do not fit: %s", schemaText(err))
	}
	args, ok := doc.(map[string]any)
	if !ok {
		return tool.Result{}, errors.New("the arguments do not fit: they are no object")
	}
	ctx, cancel := context.WithTimeout(ctx, e.spec.timeout+grace)
	defer cancel()
	if e.spec.http != nil {
		return r.request(ctx, e, c, args)
	}
	return r.command(ctx, e, c, args, raw)
}

// grace is what a run may wait for its turn beside its own time.
const grace = maxTime

// schemaText is what a schema says of arguments, in a line.
func schemaText(err error) string {
	text := err.Error()
	if _, rest, ok := strings.Cut(text, "\n"); ok {
		text = rest // the first line names the schema
	}
	return short(strings.Join(strings.Fields(strings.ReplaceAll(text, "- at ''", "-")), " "))
}

// values is an argument as texts: one, several for a list, none where it was not given.
func values(v any) ([]string, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return []string{v}, nil
	case []any:
		var out []string
		for _, e := range v {
			if e == nil {
				e = ""
			}
			one, err := values(e)
			if err != nil || len(one) != 1 {
				return nil, errors.New("a list within a list cannot be passed on")
			}
			out = append(out, one[0])
		}
		return out, nil
	default:
		b, err := json.Marshal(v)
		return []string{string(b)}, err
	}
}

// words are the command with its arguments. A text that looks like an option is refused unless "--" stands before it.
func words(command []string, args map[string]any) ([]string, error) {
	var out []string
	ended, total := false, 0
	for _, w := range command {
		name, ok := whole(w)
		if !ok {
			ended = ended || w == "--"
			out = append(out, w)
			continue
		}
		list, err := values(args[name])
		if err != nil {
			return nil, fmt.Errorf("argument %q: %w", name, err)
		}
		for _, v := range list {
			_, text := args[name].(string)
			_, several := args[name].([]any)
			switch total += len(v); {
			case strings.ContainsRune(v, 0):
				return nil, fmt.Errorf("argument %q holds a zero byte", name)
			case total > maxWordBytes:
				return nil, fmt.Errorf("the arguments have more than %d bytes", maxWordBytes)
			case !ended && (text || several) && strings.HasPrefix(v, "-"):
				return nil, fmt.Errorf("argument %q begins with '-', so that the program would take it for an option", name)
			}
			out = append(out, v)
		}
	}
	return out, nil
}

func (r *Registry) command(ctx context.Context, e *entry, c tool.Call, args map[string]any, raw json.RawMessage) (tool.Result, error) {
	all, err := words(e.spec.command, args)
	if err != nil {
		return tool.Result{}, err
	}
	cmd := sandbox.Command{Stdin: raw, Env: map[string]string{"HERALD_CALL_ID": c.ID}, Limits: sandbox.Limits{Time: e.spec.timeout}}
	for _, p := range e.spec.env {
		if cmd.Env[p.name], err = r.value(p); err != nil {
			return tool.Result{}, err
		}
	}
	at := slices.IndexFunc(e.spec.command, func(w string) bool { return strings.HasPrefix(w, "./") })
	if at < 0 {
		cmd.Program, cmd.Args = all[:1], all[1:]
	} else {
		file := e.spec.command[at][2:]
		root, err := e.open()
		if err != nil {
			return tool.Result{}, fmt.Errorf("the files of the tool cannot be read: %s", look.Cause(err))
		}
		defer root.Close()
		at = slices.Index(all, e.spec.command[at])
		cmd.Program, cmd.Script, cmd.Args, cmd.Files = all[:at], file, all[at+1:], root.FS()
		if at == 0 {
			program, err := sandbox.Interpreter(cmd.Files, file)
			if err != nil {
				return tool.Result{}, fmt.Errorf("%s cannot be run: %s", file, look.Cause(err))
			}
			cmd.Program = []string{program}
		}
	}
	res, err := r.opts.Runner.Run(ctx, cmd)
	if err != nil {
		return tool.Result{}, fmt.Errorf("the command was not run: %w", err)
	}
	if f := res.Failure(cmd.Limits); f != "" {
		return tool.Result{}, fmt.Errorf("the command failed: %s", f)
	}
	if res.Stdout == "" {
		return tool.Result{Text: "The command ended well and printed nothing."}, nil
	}
	return tool.Result{Text: res.Stdout}, nil
}

// open opens the folder that the tool's file stands in.
func (e *entry) open() (*os.Root, error) {
	root, err := os.OpenRoot(e.root)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	return root.OpenRoot(filepath.FromSlash(e.rel))
}

// value is what stands behind a name: the text of the file, or the secret that the variable holds.
func (r *Registry) value(p pair) (string, error) {
	if p.variable == "" {
		return p.value, nil
	}
	v, err := r.opts.Secret(p.variable)
	if err != nil {
		return "", fmt.Errorf("%s: %w", p.name, err)
	}
	return v, nil
}

// build makes the request of a call. Values become encoded parts and nothing else of it.
func (r *Registry) build(ctx context.Context, q *request, callID string, args map[string]any) (*http.Request, error) {
	used := map[string]bool{}
	segments := make([]string, len(q.path))
	for i, s := range q.path {
		var fault error
		filled := place.ReplaceAllStringFunc(s, func(m string) string {
			name := m[1 : len(m)-1]
			used[name] = true
			list, err := values(args[name])
			if err != nil || len(list) != 1 {
				fault = fmt.Errorf("argument %q must be one value that is not left out", name)
				return ""
			}
			return list[0]
		})
		if fault != nil {
			return nil, fault
		}
		if filled != s && (filled == "" || filled == "." || filled == "..") {
			return nil, fmt.Errorf("%q cannot be a part of an address", filled)
		}
		segments[i] = filled
	}
	addr := *q.address
	escaped := make([]string, len(segments))
	for i, s := range segments {
		escaped[i] = url.PathEscape(s)
	}
	addr.Path, addr.RawPath = strings.Join(segments, "/"), strings.Join(escaped, "/")
	query := addr.Query()
	for _, p := range q.query {
		v, err := r.value(p)
		if err != nil {
			return nil, err
		}
		if p.variable != "" {
			query.Set(p.name, v)
			continue
		}
		if name, ok := whole(v); ok {
			used[name] = true
			list, err := values(args[name])
			if err != nil {
				return nil, fmt.Errorf("argument %q: %w", name, err)
			}
			query.Del(p.name)
			for _, one := range list {
				query.Add(p.name, one)
			}
			continue
		}
		query.Set(p.name, place.ReplaceAllStringFunc(v, func(m string) string {
			name := m[1 : len(m)-1]
			used[name] = true
			list, _ := values(args[name])
			return strings.Join(list, " ")
		}))
	}
	addr.RawQuery = query.Encode()
	body, kind, err := bodyOf(q.send, args, used)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, q.method, addr.String(), body)
	if err != nil {
		return nil, errors.New("the request cannot be made")
	}
	req.Header.Set("User-Agent", "Herald")
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	if q.method != http.MethodGet && q.method != http.MethodHead && callID != "" {
		req.Header.Set("Idempotency-Key", callID) // the same when a repeatable call is run again
	}
	for _, h := range q.headers {
		v, err := r.value(h)
		if err != nil {
			return nil, err
		}
		if strings.ContainsAny(v, "\r\n\x00") {
			return nil, fmt.Errorf("%s: its value holds a character that a header cannot have", h.name)
		}
		req.Header.Set(h.name, v)
	}
	return req, nil
}

// bodyOf is what is sent beside the address: the arguments that do not stand there.
func bodyOf(send string, args map[string]any, used map[string]bool) (io.Reader, string, error) {
	rest := map[string]any{}
	for k, v := range args {
		if !used[k] {
			rest[k] = v
		}
	}
	switch send {
	case "json":
		b, err := json.Marshal(rest)
		return bytes.NewReader(b), "application/json", err
	case "form":
		form := url.Values{}
		for k, v := range rest {
			list, err := values(v)
			if err != nil {
				return nil, "", fmt.Errorf("argument %q: %w", k, err)
			}
			form[k] = list
		}
		return strings.NewReader(form.Encode()), "application/x-www-form-urlencoded", nil
	}
	return nil, "", nil
}

func (r *Registry) request(ctx context.Context, e *entry, c tool.Call, args map[string]any) (tool.Result, error) {
	ctx, cancel := context.WithTimeout(ctx, e.spec.timeout)
	defer cancel()
	req, err := r.build(ctx, e.spec.http, c.ID, args)
	if err != nil {
		return tool.Result{}, err
	}
	host := req.URL.Host
	res, err := r.client.Do(req)
	if err != nil {
		// The address may hold a secret, and stands in the error that the client makes.
		if u, ok := errors.AsType[*url.Error](err); ok {
			err = u.Err
		}
		if errors.Is(err, context.DeadlineExceeded) {
			return tool.Result{}, fmt.Errorf("%s did not answer within %s", host, e.spec.timeout)
		}
		return tool.Result{}, fmt.Errorf("%s could not be asked: %w", host, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer+1))
	if err != nil {
		return tool.Result{}, fmt.Errorf("the answer of %s broke off: %w", host, err)
	}
	text := string(body)
	switch {
	case res.StatusCode >= 300 && res.StatusCode < 400:
		return tool.Result{}, fmt.Errorf("%s answered %s and sends to another address, which is not followed; put the final address into the tool's file", host, res.Status)
	case res.StatusCode >= 300:
		if len(text) > maxErrorBody {
			text = text[:maxErrorBody] + " […]"
		}
		return tool.Result{}, fmt.Errorf("%s answered %s: %s", host, res.Status, strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"))
	case len(body) > maxAnswer:
		return tool.Result{}, fmt.Errorf("the answer of %s has more than %d KiB", host, maxAnswer>>10)
	case !utf8.Valid(body):
		return tool.Result{}, fmt.Errorf("the answer of %s is no text", host)
	case text == "":
		text = host + " answered " + res.Status + " without a text."
	}
	return tool.Result{Text: text}, nil
}
