package openai

import (
	"bytes"
	"encoding/json"
	"io"
)

// maxEventBytes bounds one event. The largest real ones hold a whole answer.
const maxEventBytes = 8 << 20

// event is one server-sent event.
type event struct {
	name string
	data []byte // valid until the next one is read
}

// events cuts a byte stream into events. It takes LF, CRLF and CR line ends, a byte order mark, comments, fields that it does
// not know, data without a space after the colon, data in several lines, a missing last newline, and data lines without
// the blank line between them.
type events struct {
	lines
	name  []byte
	data  []byte
	count int    // data lines of the event
	ready []byte // a line that was read ahead: it belongs to the next event
}

func newEvents(r io.Reader) *events { return &events{lines: lines{r: r}} }

// next is the next event that has data. An error comes after the events before it.
func (e *events) next() (event, error) {
	e.name, e.data, e.count = e.name[:0], e.data[:0], 0
	for {
		line, err := e.line()
		if err != nil {
			// What was cut off in the middle is no event; an error's text may be any.
			if e.count > 0 && (complete(e.data) || err == io.EOF && string(e.name) == "error") {
				return event{name: string(e.name), data: e.data}, nil
			}
			return event{}, err
		}
		if len(line) == 0 {
			if e.count > 0 {
				return event{name: string(e.name), data: e.data}, nil
			}
			e.name = e.name[:0]
			continue
		}
		field, value := splitField(line)
		switch field {
		case "event":
			e.name = append(e.name[:0], value...)
		case "data":
			// Only a first line can be an event without the blank line; to look at all that came before with each line
			// would take a hostile server's time squared.
			if e.count == 1 && complete(e.data) {
				e.ready = append([]byte(nil), line...)
				return event{name: string(e.name), data: e.data}, nil
			}
			if e.count > 0 {
				e.data = append(e.data, '\n')
			}
			e.data = append(e.data, value...)
			e.count++
		}
		if len(e.data) > maxEventBytes {
			return event{}, tooLong("an event of the stream is too long")
		}
	}
}

func (e *events) line() ([]byte, error) {
	if e.ready != nil {
		l := e.ready
		e.ready = nil
		return l, nil
	}
	return e.lines.next()
}

// splitField cuts a line at its colon. A bare JSON object, as servers print in the middle of a stream when they fail, counts
// as data.
func splitField(line []byte) (field string, value []byte) {
	line = bytes.TrimLeft(line, " \t")
	if len(line) > 0 && line[0] == '{' {
		return "data", line
	}
	name, value, _ := bytes.Cut(line, []byte(":"))
	value = bytes.TrimPrefix(value, []byte(" "))
	switch string(name) {
	case "data":
		return "data", value
	case "event":
		return "event", bytes.TrimSpace(value)
	}
	return "", nil
}

// complete reports whether data is a whole payload, so that what follows is another.
func complete(data []byte) bool {
	data = bytes.TrimSpace(data)
	return string(data) == "[DONE]" || string(data) == `"[DONE]"` || len(data) > 1 && data[len(data)-1] == '}' && json.Valid(data)
}

// lines cuts a byte stream into lines.
type lines struct {
	r       io.Reader
	buf     []byte
	at      int // start of the line in buf
	seen    int // how much of buf holds no line end
	err     error
	begun   bool
	afterCR bool
}

const readBytes = 4096

// next is the next line without its end; valid until the next call. At the end of the stream a last line without an end
// counts.
func (l *lines) next() ([]byte, error) {
	for {
		if i := bytes.IndexAny(l.buf[l.seen:], "\r\n"); i >= 0 {
			end := l.seen + i
			line := l.buf[l.at:end]
			lf := l.buf[end] == '\n'
			empty := len(line) == 0
			l.at, l.seen = end+1, end+1
			if lf && l.afterCR && empty {
				l.afterCR = false // the second half of a CRLF
				continue
			}
			l.afterCR = !lf
			return l.mark(line), nil
		}
		l.seen = len(l.buf)
		if len(l.buf)-l.at > maxEventBytes {
			return nil, tooLong("a line of the stream is too long")
		}
		if l.err != nil {
			if l.at < len(l.buf) && l.err == io.EOF {
				line := l.buf[l.at:]
				l.at, l.seen = len(l.buf), len(l.buf)
				return l.mark(line), nil
			}
			return nil, l.err
		}
		l.fill()
	}
}

func (l *lines) fill() {
	if l.at > 0 {
		n := copy(l.buf, l.buf[l.at:])
		l.buf, l.at, l.seen = l.buf[:n], 0, n
	}
	if cap(l.buf)-len(l.buf) < readBytes {
		grown := make([]byte, len(l.buf), 2*cap(l.buf)+readBytes)
		copy(grown, l.buf)
		l.buf = grown
	}
	n, err := l.r.Read(l.buf[len(l.buf):cap(l.buf)])
	l.buf = l.buf[:len(l.buf)+n]
	l.err = err
}

// mark strips the byte order mark of the first line.
func (l *lines) mark(line []byte) []byte {
	if !l.begun {
		l.begun = true
		return bytes.TrimPrefix(line, []byte("\ufeff"))
	}
	return line
}
