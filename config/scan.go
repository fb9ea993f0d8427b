package config

import (
	"errors"
	"math"
	"strconv"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// entry is one thing that a TOML document says: a value at a path, or that a
// table stands there.
type entry struct {
	path      []string
	value     any // string, int64, float64, bool, []any, tooLarge or dateTime
	table     bool
	array     bool // an array of tables, [[x]]
	listed    bool // below a [[rules]], whose number is in the path
	line, col int
}

// key returns the path as it would be written in TOML.
func (e entry) key() string { return keyText(e.path) }

// tooLarge is a number that fits no 64 bits; dateTime any date or time, a type
// that no setting has.
type (
	tooLarge struct{}
	dateTime struct{}
)

// syntaxFault is a fault of the document itself.
type syntaxFault struct {
	fault
	line, col int
	key       string
}

// scan reads a TOML document into its entries. After a line that is no TOML it
// goes on below, so that one slip of the pen does not hide the next problem;
// complete is false then, because what stood on that line is unknown.
func scan(data []byte) (entries []entry, faults []syntaxFault, complete bool) {
	// Enough to be useful, few enough that a binary file ends soon.
	const mostFaults = 20
	doc := append(make([]byte, 0, len(data)), data...)
	for {
		var bad *syntaxFault
		entries, bad = scanOnce(doc)
		if bad == nil {
			break
		}
		if n := len(faults); n > 0 && bad.line <= faults[n-1].line {
			break
		}
		faults = append(faults, *bad)
		if len(faults) >= mostFaults || !blankLine(doc, bad.line) {
			break
		}
	}
	if len(faults) > 0 {
		return entries, faults, false
	}
	// The walk above does not see what TOML forbids across lines, such as a
	// table that is opened twice. The decoder does.
	var whole map[string]any
	if err := toml.Unmarshal(doc, &whole); err != nil {
		f := syntaxFault{fault: fault{text: "invalid TOML"}, line: 1, col: 1}
		if de, ok := errors.AsType[*toml.DecodeError](err); ok {
			f.text = strings.TrimPrefix(de.Error(), "toml: ")
			f.line, f.col = de.Position()
			f.key = keyText(de.Key())
		}
		return entries, []syntaxFault{f}, true
	}
	return entries, nil, true
}

// scanOnce walks the document up to its first fault.
func scanOnce(doc []byte) ([]entry, *syntaxFault) {
	w := walker{doc: doc}
	w.p.Reset(doc)
	for w.deep == nil && w.p.NextExpression() {
		w.expression(w.p.Expression())
	}
	if w.deep != nil {
		return w.entries, w.deep
	}
	err := w.p.Error()
	if err == nil {
		return w.entries, nil
	}
	f := &syntaxFault{fault: fault{text: err.Error()}}
	offset := len(doc)
	if pe, ok := errors.AsType[*unstable.ParserError](err); ok {
		offset = min(int(w.p.Range(pe.Highlight).Offset), len(doc))
		f.text = pe.Message
	}
	f.line, f.col = w.position(offset)
	f.key = w.keyBefore(offset)
	if strings.Contains(f.text, "at start of value") {
		f.hint = "texts stand in quotes"
	}
	return w.entries, f
}

// blankLine overwrites the line with blanks and, where the line opens a
// section, what stands in that section. It reports whether more follows.
func blankLine(doc []byte, line int) bool {
	start := 0
	for n := 1; n < line; n++ {
		i := strings.IndexByte(string(doc[start:]), '\n')
		if i < 0 {
			return false
		}
		start += i + 1
	}
	header := strings.HasPrefix(strings.TrimLeft(string(doc[start:]), " \t"), "[")
	for i := start; i < len(doc); i++ {
		if doc[i] != '\n' {
			doc[i] = ' '
			continue
		}
		rest := strings.TrimLeft(string(doc[i+1:min(len(doc), i+200)]), " \t")
		if !header || strings.HasPrefix(rest, "[") {
			return i+1 < len(doc)
		}
	}
	return false
}

type walker struct {
	p       unstable.Parser
	doc     []byte
	table   []string
	entries []entry
	deep    *syntaxFault // the first key that has more parts than any setting

	// The last position, from which the next is counted on: entries come in
	// the order of the document.
	offset, line, lineStart int
}

func (w *walker) expression(n *unstable.Node) {
	switch n.Kind {
	case unstable.Table, unstable.ArrayTable:
		path, offset := w.keyOf(n)
		w.table = path
		w.add(entry{path: path, table: true, array: n.Kind == unstable.ArrayTable}, offset)
	case unstable.KeyValue:
		w.keyValue(w.table, n)
	}
}

func (w *walker) keyValue(under []string, n *unstable.Node) {
	key, offset := w.keyOf(n)
	path := append(append(make([]string, 0, len(under)+len(key)), under...), key...)
	if len(path) > mostParts {
		w.tooDeep(offset)
		return
	}
	value := n.Value()
	if value.Kind != unstable.InlineTable {
		w.add(entry{path: path, value: valueOf(value)}, offset)
		return
	}
	w.add(entry{path: path, table: true}, offset)
	for it := value.Children(); it.Next(); {
		if it.Node().Kind == unstable.KeyValue {
			w.keyValue(path, it.Node())
		}
	}
}

func (w *walker) keyOf(n *unstable.Node) (path []string, offset int) {
	offset = -1
	for it := n.Key(); it.Next(); {
		if offset < 0 {
			offset = int(it.Node().Raw.Offset)
		}
		if path = append(path, string(it.Node().Data)); len(path) > mostParts {
			w.tooDeep(max(offset, 0))
			break
		}
	}
	return path, max(offset, 0)
}

// mostParts is far above the parts of any key; work on a key grows with the square of them.
const mostParts = 16

func (w *walker) tooDeep(offset int) {
	if w.deep == nil {
		w.deep = &syntaxFault{fault: fault{text: "the key has too many parts"}}
		w.deep.line, w.deep.col = w.position(offset)
	}
}

func (w *walker) add(e entry, offset int) {
	e.line, e.col = w.position(offset)
	w.entries = append(w.entries, e)
}

// position returns the 1-based line and column (in characters) of an offset.
func (w *walker) position(offset int) (line, col int) {
	if w.line == 0 || offset < w.offset {
		w.offset, w.line, w.lineStart = 0, 1, 0
	}
	for ; w.offset < offset; w.offset++ {
		if w.doc[w.offset] == '\n' {
			w.line++
			w.lineStart = w.offset + 1
		}
	}
	return w.line, len([]rune(string(w.doc[w.lineStart:offset]))) + 1
}

// keyBefore returns the key of the line in which something is wrong, "" when
// the fault is not in a value.
func (w *walker) keyBefore(offset int) string {
	key, _, isValue := strings.Cut(string(w.doc[w.lineStart:offset]), "=")
	key = strings.TrimSpace(key)
	if !isValue || key == "" || strings.Trim(key, bareKey+".") != "" {
		return ""
	}
	return strings.TrimPrefix(keyText(w.table)+"."+key, ".")
}

func valueOf(n *unstable.Node) any {
	switch n.Kind {
	case unstable.String:
		return string(n.Data)
	case unstable.Bool:
		return string(n.Data) == "true"
	case unstable.Integer:
		i, err := strconv.ParseInt(strings.TrimPrefix(string(n.Data), "+"), 0, 64)
		if err != nil {
			return tooLarge{}
		}
		return i
	case unstable.Float:
		f, err := strconv.ParseFloat(strings.ReplaceAll(string(n.Data), "_", ""), 64)
		if err != nil {
			return math.Inf(1)
		}
		return f
	case unstable.Array:
		items := []any{}
		for it := n.Children(); it.Next(); {
			if it.Node().Kind != unstable.Comment {
				items = append(items, valueOf(it.Node()))
			}
		}
		return items
	default:
		return dateTime{}
	}
}

// keyText writes a path as a TOML key, quoting what needs it.
func keyText(path []string) string {
	parts := make([]string, len(path))
	for i, p := range path {
		parts[i] = p
		if p == "" || strings.Trim(p, bareKey) != "" {
			parts[i] = strconv.Quote(shorten(p))
		}
	}
	return strings.Join(parts, ".")
}

const bareKey = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-"
