package slackfake

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"
)

// Slack's limits on what is said. Characters are counted as code points; the unit is not documented.
const (
	maxText        = 40000
	maxEdit        = 4000 // of chat.update, where longer text is refused
	maxMarkdown    = 12000
	maxBlocks      = 50
	maxBlocksTotal = 13200 // of all texts in a message's blocks; reported by users, not documented
	maxViewBlocks  = 100
	maxView        = 250 << 10
	maxViewTitle   = 24
	maxPrivate     = 3000
	maxMetadata    = 16 << 10
)

// surface is where blocks stand.
type surface int

const (
	inMessage surface = iota
	inView
)

// blockErrors collects what is wrong with blocks, in Slack's words.
type blockErrors struct{ list []string }

func (e *blockErrors) add(pointer, format string, a ...any) {
	e.list = append(e.list, fmt.Sprintf("[ERROR] "+format+" [json-pointer:%s]", append(a, pointer)...))
}

// long holds a text to a limit.
func (e *blockErrors) long(pointer string, text string, limit int) {
	if n := utf8.RuneCountInString(text); n > limit {
		e.add(pointer, "must be less than %d characters", limit+1)
	}
}

type object = map[string]any

func text(o object, keys ...string) string {
	for i, k := range keys {
		if i == len(keys)-1 {
			t, _ := o[k].(string)
			return t
		}
		o, _ = o[k].(object)
	}
	return ""
}

func list(o object, key string) []any {
	l, _ := o[key].([]any)
	return l
}

// checkBlocks holds the blocks of a message or view to the limits.
func checkBlocks(raw string, on surface) *refusal {
	if raw == "" {
		return nil
	}
	var blocks []object
	if err := json.Unmarshal([]byte(raw), &blocks); err != nil {
		return refuse("invalid_blocks_format")
	}
	limit := maxBlocks
	if on == inView {
		limit = maxViewBlocks
	}
	var e blockErrors
	if len(blocks) > limit {
		e.add("/blocks", "no more than %d items allowed", limit)
	}
	markdown, ids := 0, map[string]bool{}
	for i, b := range blocks {
		at := fmt.Sprintf("/blocks/%d", i)
		id := text(b, "block_id")
		if e.long(at+"/block_id", id, 255); id != "" && ids[id] {
			e.add(at+"/block_id", "`block_id` %s already exists", id)
		}
		ids[id] = true
		if text(b, "type") == "markdown" {
			markdown += utf8.RuneCountInString(text(b, "text"))
		}
		e.block(at, b, on)
	}
	if markdown > maxMarkdown {
		e.add("/blocks", "markdown text must be less than %d characters in all", maxMarkdown+1)
	}
	if len(e.list) > 0 {
		return refuse("invalid_blocks", e.list...)
	}
	if on == inMessage && measure(blocks) > maxBlocksTotal {
		return refuse("msg_blocks_too_long")
	}
	return nil
}

// measure counts the characters of all texts below v.
func measure(v any) (n int) {
	switch v := v.(type) {
	case []object:
		for _, each := range v {
			n += measure(each)
		}
	case []any:
		for _, each := range v {
			n += measure(each)
		}
	case object:
		for k, each := range v {
			if t, ok := each.(string); ok && k == "text" {
				n += utf8.RuneCountInString(t)
			} else {
				n += measure(each)
			}
		}
	}
	return n
}

func (e *blockErrors) block(at string, b object, on surface) {
	switch kind := text(b, "type"); kind {
	case "section":
		e.long(at+"/text/text", text(b, "text", "text"), 3000)
		if text(b, "text", "text") == "" && len(list(b, "fields")) == 0 {
			e.add(at, "missing required field: text")
		}
		if len(list(b, "fields")) > 10 {
			e.add(at+"/fields", "no more than 10 items allowed")
		}
		for j, f := range list(b, "fields") {
			if f, ok := f.(object); ok {
				e.long(fmt.Sprintf("%s/fields/%d/text", at, j), text(f, "text"), 2000)
			}
		}
		if a, ok := b["accessory"].(object); ok {
			e.element(at+"/accessory", a)
		}
	case "header":
		e.long(at+"/text/text", text(b, "text", "text"), 150)
		if text(b, "text", "text") == "" {
			e.add(at+"/text", "missing required field: text")
		}
	case "context", "actions", "context_actions":
		limit := map[string]int{"context": 10, "actions": 25, "context_actions": 5}[kind]
		if n := len(list(b, "elements")); n > limit || n == 0 {
			e.add(at+"/elements", "must have 1 to %d items", limit)
		}
		for j, x := range list(b, "elements") {
			if x, ok := x.(object); ok {
				e.element(fmt.Sprintf("%s/elements/%d", at, j), x)
			}
		}
	case "input":
		if on == inMessage && text(b, "element", "type") == "file_input" {
			e.add(at+"/element", "unsupported type: file_input")
		}
		e.long(at+"/label/text", text(b, "label", "text"), 2000)
		e.long(at+"/hint/text", text(b, "hint", "text"), 2000)
		if x, ok := b["element"].(object); ok {
			e.element(at+"/element", x)
		} else {
			e.add(at, "missing required field: element")
		}
	case "table":
		e.table(at, b)
	case "image", "divider", "file", "video", "rich_text", "markdown", "call", "data_table", "data_visualization", "task_card", "plan", "container", "layout":
	case "alert", "card", "carousel":
		// These come by a stream's chunks only.
		e.add(at, "unsupported type: %s", kind)
	default:
		e.add(at, "unsupported type: %s", kind)
	}
}

func (e *blockErrors) table(at string, b object) {
	rows := list(b, "rows")
	if len(rows) > 100 || len(rows) == 0 {
		e.add(at+"/rows", "must have 1 to 100 items")
	}
	for j, r := range rows {
		if cells, ok := r.([]any); !ok || len(cells) > 20 {
			e.add(fmt.Sprintf("%s/rows/%d", at, j), "no more than 20 items allowed")
		}
	}
	if measure(rows) > 10000 {
		e.add(at+"/rows", "must be less than 10001 characters in all")
	}
}

func (e *blockErrors) element(at string, x object) {
	e.long(at+"/action_id", text(x, "action_id"), 255)
	options := list(x, "options")
	limit := 100
	switch text(x, "type") {
	case "button":
		e.long(at+"/text/text", text(x, "text", "text"), 75)
		e.long(at+"/value", text(x, "value"), 2000)
		e.long(at+"/url", text(x, "url"), 3000)
		if style := text(x, "style"); style != "" && style != "primary" && style != "danger" {
			e.add(at+"/style", "must be primary or danger")
		}
	case "radio_buttons", "checkboxes":
		limit = 10
	case "overflow":
		limit = 5
	}
	if len(options) > limit {
		e.add(at+"/options", "no more than %d items allowed", limit)
	}
	for j, o := range options {
		if o, ok := o.(object); ok {
			e.long(fmt.Sprintf("%s/options/%d/text/text", at, j), text(o, "text", "text"), 75)
			e.long(fmt.Sprintf("%s/options/%d/value", at, j), text(o, "value"), 150)
		}
	}
	if c, ok := x["confirm"].(object); ok {
		e.long(at+"/confirm/title/text", text(c, "title", "text"), 100)
		e.long(at+"/confirm/text/text", text(c, "text", "text"), 300)
		e.long(at+"/confirm/confirm/text", text(c, "confirm", "text"), 30)
		e.long(at+"/confirm/deny/text", text(c, "deny", "text"), 30)
	}
}

func checkMetadata(raw string) *refusal {
	if raw == "" {
		return nil
	}
	var m struct {
		Type    string          `json:"event_type"`
		Payload json.RawMessage `json:"event_payload"`
	}
	switch {
	case json.Unmarshal([]byte(raw), &m) != nil:
		return refuse("invalid_metadata_format")
	case m.Type == "" || len(m.Payload) == 0 || m.Payload[0] != '{':
		return refuse("invalid_metadata_schema")
	case len(raw) > maxMetadata:
		return refuse("metadata_too_large")
	}
	return nil
}
