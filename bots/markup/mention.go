package markup

import (
	"net/url"
	"regexp"
	"strings"

	"github.com/yuin/goldmark/ast"
	"github.com/yuin/goldmark/parser"
	"github.com/yuin/goldmark/text"
)

// mentionNode is "<@U123>" or "<@U123|name>" in a text. Whether it may be live is decided when it is rendered.
type mentionNode struct {
	ast.BaseInline
	id, text string
}

var kindMention = ast.NewNodeKind("Mention")

func (*mentionNode) Inline()              {}
func (*mentionNode) Kind() ast.NodeKind   { return kindMention }
func (n *mentionNode) Dump([]byte, int)   {}
func (n *mentionNode) Pos() int           { return 0 }
func (n *mentionNode) Text([]byte) []byte { return []byte(n.text) }

var mentionToken = regexp.MustCompile(`^<@!?([A-Z0-9]{2,24})(?:\|[^<>|\n]{0,80})?>`)

var pipedToken = regexp.MustCompile(`^<[^<>\s|]+\|[^<>\n]*>`)

// mentionParser takes what Slack would read as a token before Markdown's own autolinks see it.
type mentionParser struct{}

func (mentionParser) Trigger() []byte { return []byte{'<'} }

func (mentionParser) Parse(_ ast.Node, block text.Reader, _ parser.Context) ast.Node {
	line, _ := block.PeekLine()
	m := mentionToken.FindSubmatch(line)
	if m == nil {
		if m := pipedToken.Find(line); m != nil { // "<https://x|y>": never an autolink of Markdown's
			block.Advance(len(m))
			return ast.NewString(m)
		}
		return nil
	}
	block.Advance(len(m[0]))
	return &mentionNode{id: string(m[1]), text: string(m[0])}
}

// webLink reports whether a URL leads to the web or to a mailbox, and can stand in a link as it is.
func webLink(s string) bool {
	if strings.ContainsAny(s, " \t\n<>|\"\\^`{}") {
		return false
	}
	u, err := url.Parse(s)
	if err != nil {
		return false
	}
	switch strings.ToLower(u.Scheme) {
	case "http", "https":
		return u.Host != ""
	case "mailto":
		return u.Opaque != ""
	}
	return false
}

var address = regexp.MustCompile(`(?i)^(?:[a-z][a-z0-9+.-]*://|www\.)?((?:[a-z0-9-]+\.)+[a-z]{2,24})(?::\d+)?(?:[/?#]\S*)?$`)

// disguises reports whether a label reads as the address of another host than the link's target.
func disguises(label, target string) bool {
	m := address.FindStringSubmatch(strings.TrimSpace(label))
	if m == nil || !strings.Contains(label, "://") && !strings.HasPrefix(strings.ToLower(label), "www.") {
		return false
	}
	u, err := url.Parse(target)
	return err != nil || !strings.EqualFold(strings.TrimPrefix(u.Hostname(), "www."), strings.TrimPrefix(strings.ToLower(m[1]), "www."))
}
