package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"herald/core/model"
)

// maxBlank is how much white space may stand before a body that is no stream.
const maxBlank = 64 << 10

// normaliser turns an answer's body into what go-openai reads well: one line `data: {…}` for each event, errors of any form as
// one canonical line, [DONE] at the end if the server said so, and nothing else. A completion that is no stream comes out as
// one event.
type normaliser struct {
	src         *events
	contentType string
	onData      func() // called for each event that carries something

	begun  bool
	out    bytes.Buffer
	err    error
	done   bool     // [DONE] was seen
	failed *failure // the error that the server reported; nothing comes after it
}

func newNormaliser(r io.Reader, contentType string, onData func()) *normaliser {
	return &normaliser{src: newEvents(r), contentType: contentType, onData: onData}
}

// upstream is what is left of the body.
func (n *normaliser) upstream() io.Reader { return n.src.r }

// Read implements io.Reader.
func (n *normaliser) Read(p []byte) (int, error) {
	for n.out.Len() == 0 {
		if n.err != nil {
			return 0, n.err
		}
		n.step()
	}
	return n.out.Read(p)
}

// step reads one event, or finds out why there is none.
func (n *normaliser) step() {
	if !n.begun {
		n.begun = true
		if first, err := n.peek(); err != nil {
			n.err = err
			if errors.Is(err, io.EOF) {
				n.fail(&failure{kind: model.Unavailable, message: "the answer is empty"})
			}
			return
		} else if first != 0 {
			n.whole(first)
			return
		}
	}
	e, err := n.src.next()
	if err != nil {
		n.err = err
		return
	}
	n.take(e)
}

// peek looks at the first byte that is no blank. It is 0 when the body looks like a stream of events.
func (n *normaliser) peek() (byte, error) {
	l := &n.src.lines
	for {
		head := bytes.TrimLeft(bytes.TrimPrefix(l.buf, []byte("\ufeff")), " \t\r\n")
		if len(head) > 0 && !bytes.HasPrefix([]byte("\ufeff"), head) {
			switch head[0] {
			case '{', '[', '<':
				return head[0], nil
			}
			return 0, nil
		}
		if l.err != nil {
			return 0, l.err
		}
		if len(l.buf) > maxBlank {
			return 0, nil
		}
		l.fill()
	}
}

// whole reads a body that is no stream: a completion, an error, or a page.
func (n *normaliser) whole(first byte) {
	l := &n.src.lines
	for l.err == nil && len(l.buf) <= maxEventBytes {
		l.fill()
	}
	body := trimJSON(l.buf)
	switch {
	case len(l.buf) > maxEventBytes:
		n.fail(tooLong("the answer is too long"))
	case !errors.Is(l.err, io.EOF):
		n.err = l.err
	case first == '<' || !json.Valid(body):
		n.fail(&failure{kind: model.Unavailable, message: fmt.Sprintf(
			"the endpoint sent no model's answer (content type %q): %s", n.contentType, excerpt(body))})
	default:
		n.take(event{data: body})
		if n.failed == nil && n.err == nil {
			n.finish()
		}
	}
}

// take writes one event in its normal form.
func (n *normaliser) take(e event) {
	data := bytes.TrimSpace(e.data)
	switch string(data) {
	case "", "null": // a heartbeat
		return
	case "[DONE]", `"[DONE]"`:
		n.finish()
		return
	}
	if data[0] == '{' && e.name != "error" && bytes.Contains(data, []byte(`"choices"`)) && !bytes.Contains(data, []byte(`"error"`)) {
		n.emit(data)
		return
	}
	clean, f := inspect(e.name, data)
	switch {
	case f != nil:
		n.fail(f)
	case clean != nil:
		n.emit(clean)
	}
}

// inspect looks closely at an event that may be an error. It is a chunk, a failure, or, with neither, nothing of interest.
func inspect(name string, data []byte) ([]byte, *failure) {
	var m map[string]json.RawMessage
	if json.Unmarshal(data, &m) != nil {
		if f := parseFailure(data); f != nil {
			f.kind = classify(f)
			return nil, f
		}
		if name == "error" {
			return nil, classified(&failure{message: plainText(data)})
		}
		if json.Valid(data) {
			return nil, nil
		}
		return nil, notJSON(data)
	}
	_, chunk := m["choices"]
	isError := name == "error" || present(m["error"]) || scalar(m["object"]) == "error" || scalar(m["type"]) == "error" ||
		!chunk && (present(m["message"]) || present(m["detail"]))
	if isError {
		f := parseFailure(data)
		if f == nil {
			f = &failure{message: excerpt(data)}
		}
		return nil, classified(f)
	}
	if _, ok := m["error"]; !ok {
		return data, nil
	}
	delete(m, "error")
	clean, err := json.Marshal(m)
	if err != nil {
		return nil, notJSON(data)
	}
	return clean, nil
}

func classified(f *failure) *failure {
	f.kind = classify(f)
	return f
}

func notJSON(data []byte) *failure {
	return &failure{kind: model.Unavailable, message: "the stream holds an event that is no JSON: " + excerpt(data)}
}

func (n *normaliser) emit(data []byte) {
	start := n.out.Len()
	n.out.WriteString("data: ")
	if bytes.ContainsAny(data, "\n\r") {
		if json.Compact(&n.out, data) != nil {
			n.out.Truncate(start)
			n.fail(notJSON(data))
			return
		}
	} else if json.Valid(data) {
		n.out.Write(data)
	} else {
		n.out.Truncate(start)
		n.fail(notJSON(data))
		return
	}
	n.out.WriteString("\n\n")
	n.onData()
}

// fail ends the stream with the canonical error line.
func (n *normaliser) fail(f *failure) {
	n.failed, n.err = f, io.EOF
	var e canonical
	e.Error.Message, e.Error.Type, e.Error.Code = shorten(f.message), f.errType, f.code
	line, err := json.Marshal(e)
	if err != nil {
		return // strings alone cannot fail
	}
	n.out.WriteString("data: ")
	n.out.Write(line)
	n.out.WriteString("\n\n")
}

// canonical is the one form in which errors are handed on.
type canonical struct {
	Error struct {
		Message string `json:"message"`
		Type    string `json:"type"`
		Code    string `json:"code"`
	} `json:"error"`
}

func (n *normaliser) finish() {
	n.done, n.err = true, io.EOF
	n.out.WriteString("data: [DONE]\n\n")
}

func excerpt(data []byte) string {
	text := plainText(data)
	if text == "" {
		return "(nothing)"
	}
	return shorten(text)
}

// shorten bounds a message that is still to be redacted: far above what will be shown, so that no key is cut in two there.
func shorten(s string) string {
	const most = 8 * maxMessage
	if len(s) > most {
		s = s[:most]
	}
	return strings.ToValidUTF8(s, "\ufffd")
}
