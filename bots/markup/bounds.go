package markup

import (
	"bytes"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// What a hostile text can cost is bounded here: the parser looks far ahead for the end of many signs, and ten thousand signs without an end
// would take it minutes. Beyond these bounds signs are text.
const (
	// maxDepth bounds how deeply quotes and lists nest: far more than anybody writes.
	maxDepth = 24
	// maxDelimiters bounds marks of emphasis, maxBrackets the beginnings of links, maxFailures signs of each kind that have no end.
	maxDelimiters = 4000
	maxBrackets   = 4000
	maxFailures   = 500
)

// bounded lets an inline parser try no more than a number of times in a document.
type bounded struct {
	parser.InlineParser
	key parser.ContextKey
	max int
	// all counts every try, not only those that found nothing.
	all bool
}

func (b bounded) Parse(parent ast.Node, block text.Reader, pc parser.Context) ast.Node {
	n, _ := pc.Get(b.key).(int)
	if n >= b.max {
		return nil
	}
	out := b.InlineParser.Parse(parent, block, pc)
	if b.all || out == nil {
		pc.Set(b.key, n+1)
	}
	return out
}

// boundedLinks also hands on the end of a block, which the parser of links must hear of.
type boundedLinks struct{ bounded }

func (b boundedLinks) CloseBlock(parent ast.Node, block text.Reader, pc parser.Context) {
	if c, ok := b.InlineParser.(parser.CloseBlocker); ok {
		c.CloseBlock(parent, block, pc)
	}
}

// tooDeep reports whether a line outside of fenced code opens more containers than maxDepth.
func tooDeep(src []byte) bool {
	fenced := false
	for line := range bytes.Lines(src) {
		marks, spaces, at := depth(line)
		if rest := line[at:]; bytes.HasPrefix(rest, []byte("```")) || bytes.HasPrefix(rest, []byte("~~~")) {
			fenced = !fenced
		}
		if marks > maxDepth || !fenced && marks > 0 && spaces/2+marks > 2*maxDepth {
			return true
		}
	}
	return false
}

// depth counts the marks and spaces that a line begins with; at is where they end.
func depth(line []byte) (marks, spaces, at int) {
	for i, b := range line {
		switch {
		case b == '>' || (b == '-' || b == '+' || b == '*') && i+1 < len(line) && line[i+1] == ' ', b == '.' || b == ')':
			marks++
		case b == ' ':
			spaces++
		case b == '\t':
			spaces += 4
		case b >= '0' && b <= '9':
		default:
			return marks, spaces, i
		}
	}
	return marks, spaces, len(line)
}
