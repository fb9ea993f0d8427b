package agents

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"slices"
	"strings"
)

// include is the directive that stands for the content of another file of the folder.
var include = regexp.MustCompile(`<!--[ \t]*INCLUDE:[ \t]*([^\n]*?)[ \t]*-->`)

// maxIncludes bounds how many files one prompt takes in, repetitions included: files that include each other twice grow without end.
const maxIncludes = 256

// includer resolves the includes of one prompt.
type includer struct {
	// open reads a file of the agents' folder.
	open func(path string) ([]byte, error)
	n    int
	size int
}

// expand is text with its includes, recursively. path is the file that text stands in and above the number of its lines in front of text;
// chain are the files that led here. Its error is a fault of the file that has the directive.
func (x *includer) expand(text, path string, above int, chain []string) (string, error) {
	chain = append(slices.Clone(chain), path)
	var b strings.Builder
	last := 0
	for _, m := range include.FindAllStringSubmatchIndex(text, -1) {
		b.WriteString(text[last:m[0]])
		last = m[1]
		target := text[m[2]:m[3]]
		in, err := x.load(target, chain)
		if err != nil {
			if f, ok := errors.AsType[fault](err); ok {
				return "", f
			}
			return "", fault{path: path, line: above + strings.Count(text[:m[0]], "\n") + 1, text: "INCLUDE: " + err.Error()}
		}
		b.WriteString(in)
	}
	b.WriteString(text[last:])
	return b.String(), nil
}

func (x *includer) load(target string, chain []string) (string, error) {
	switch {
	case !fs.ValidPath(target) || target == "." || strings.Contains(target, `\`):
		return "", fmt.Errorf("%q is no path in the agents' folder; write it as common/core_rules.md", short(target))
	case slices.Contains(chain, target):
		return "", fmt.Errorf("files include each other in a circle: %s", strings.Join(append(slices.Clone(chain[slices.Index(chain, target):]), target), " → "))
	case x.n >= maxIncludes:
		return "", fmt.Errorf("the prompt includes more than %d files", maxIncludes)
	}
	x.n++
	src, err := x.open(target)
	if errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("there is no file %s in the agents' folder", short(target))
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %s", short(target), cause(err))
	}
	if x.size += len(src); x.size > maxPrompt {
		return "", fmt.Errorf("with its includes the prompt has more than %d bytes", maxPrompt)
	}
	text, err := plain(src)
	if err != nil {
		return "", fault{path: target, text: err.Error()}
	}
	return x.expand(strings.TrimSpace(text), target, strings.Count(text[:len(text)-len(strings.TrimLeft(text, " \t\n"))], "\n"), chain)
}
