package openai_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/model/openai"
)

// FuzzNormaliser: whatever comes in, what goes out are lines of one JSON object each, at most one error or DONE and
// nothing behind it, and normalising it again changes nothing.
func FuzzNormaliser(f *testing.F) {
	for _, c := range append(modeltest.Streams(), modeltest.CallStreams()...) {
		f.Add([]byte(c.Reply.Wire.Raw))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := openai.Normalise(body)
		if err != nil {
			t.Fatalf("a reader of bytes failed: %v", err)
		}
		ended := false
		for line := range strings.SplitSeq(strings.TrimSuffix(string(out), "\n\n"), "\n\n") {
			if line == "" && len(out) == 0 {
				break
			}
			if ended {
				t.Fatalf("%q stands behind the end", line)
			}
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok || strings.ContainsAny(data, "\r\n") {
				t.Fatalf("%q is no line of data", line)
			}
			if data == "[DONE]" {
				ended = true
				continue
			}
			var m map[string]json.RawMessage
			if err := json.Unmarshal([]byte(data), &m); err != nil {
				t.Fatalf("%q is no object: %v", data, err)
			}
			ended = strings.HasPrefix(data, `{"error":{`)
		}
		again, err := openai.Normalise(out)
		if err != nil {
			t.Fatal(err)
		}
		if len(out) > 0 && !bytes.Equal(out, again) {
			t.Fatalf("not stable:\n%q\n%q", out, again)
		}
	})
}

// FuzzFold: whatever the events are, the accumulator does not panic, every call has an id of its own, a name and an object
// as arguments, and the text shown is the text of the answer.
func FuzzFold(f *testing.F) {
	for _, c := range append(modeltest.Streams(), modeltest.CallStreams()...) {
		f.Add([]byte(c.Reply.Wire.Raw))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		out, err := openai.Normalise(body)
		if err != nil {
			t.Fatal(err)
		}
		fold := openai.NewFolder(ask("hi", tool("look"), tool("send")))
		var shown strings.Builder
		for line := range strings.SplitSeq(string(out), "\n\n") {
			data, ok := strings.CutPrefix(line, "data: ")
			if !ok || data == "[DONE]" {
				continue
			}
			s, err := fold.Add([]byte(data))
			if err != nil {
				return
			}
			shown.WriteString(s)
		}
		shown.WriteString(fold.Flush())
		a, err := fold.Answer()
		if err != nil {
			return
		}
		if a.Text != shown.String() {
			t.Fatalf("shown %q, answer %q", shown.String(), a.Text)
		}
		seen := map[string]bool{}
		for _, c := range a.Calls {
			var args map[string]any
			if err := json.Unmarshal(c.Arguments, &args); err != nil || args == nil || c.ID == "" || c.Name == "" || seen[c.ID] {
				t.Fatalf("call %+v, %v", c, err)
			}
			seen[c.ID] = true
		}
		if len(a.Calls) > 0 && a.Finish == model.FinishStop || a.Usage.Cached > a.Usage.Input {
			t.Fatalf("answer %+v", a)
		}
	})
}

// FuzzScreen: how text is cut into pieces makes no difference, and text without markup or key is shown whole.
func FuzzScreen(f *testing.F) {
	for _, s := range []string{
		"a\n<tool_call>{}</tool_call>b", "<think>x</think>y", "[TOOL_CALLS] x", "k-secret-key k-secr", "```\n<tool_call>{", "<<<tool_call>[", "<function=look>{}</function>z",
	} {
		f.Add(s, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		const key = "k-secret-key"
		whole, calls := openai.Screen(key, true, text)
		var pieces []string
		for rest := text; rest != ""; {
			n := min(int(size%7)+1, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		// White space behind a tag is waited for only so long.
		if cut, n := openai.Screen(key, true, pieces...); (cut != whole || n != calls) && !strings.Contains(text, strings.Repeat(" ", 200)) && len(text) < 200 {
			t.Fatalf("in pieces of %d: %q, %d calls; whole: %q, %d", size%7+1, cut, n, whole, calls)
		}
		if strings.Contains(whole, key) {
			t.Fatalf("the key is in %q", whole)
		}
		if !strings.ContainsAny(text, "<[k") && whole != text {
			t.Fatalf("%q is shown as %q", text, whole)
		}
	})
}

// FuzzScanner: the end of an object is found where the JSON decoder finds it.
func FuzzScanner(f *testing.F) {
	for _, s := range []string{`{"a":1}{"b":2}`, `{"a":"}\\\""} x`, ` {"a":[{}]}`, `{]`, `[1]`, ``} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		object, complete := openai.SplitJSON(text)
		var want json.RawMessage
		dec := json.NewDecoder(strings.NewReader(text))
		err := dec.Decode(&want)
		if isObject := err == nil && want[0] == '{'; isObject != complete && utf8.ValidString(text) {
			t.Fatalf("%q: complete %v, decoder says %v", text, complete, err)
		}
		if complete && strings.TrimSpace(object) != string(want) {
			t.Fatalf("%q: object %q, want %q", text, object, want)
		}
	})
}
