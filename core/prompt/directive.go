package prompt

import (
	"regexp"
	"strings"
)

// directive is a place in an agent's text that is filled in for each request.
var directive = regexp.MustCompile(`<!--[ \t]*([A-Z][A-Z0-9_]*)[ \t]*-->`)

// Expand fills in the directives of an agent's text: <!-- KEY --> becomes the value of KEY. What has no value is left out. Values are not
// looked through again: what stands in them is data.
func Expand(text string, value func(key string) string) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	return directive.ReplaceAllStringFunc(text, func(m string) string {
		return value(directive.FindStringSubmatch(m)[1])
	})
}

// AgentLine is an agent in the list that a delegating agent reads.
func AgentLine(id, description string) string { return "- **" + id + "** — " + description }

// MemoryFile is a file or note that stands in the prompt. What it holds is data: a mark of its end inside of it is broken up.
func MemoryFile(path, text string, exists bool) string {
	if !exists {
		text = "(file not created yet)"
	}
	path = strings.NewReplacer(`"`, "'", "<", "(", ">", ")", "\n", " ").Replace(path)
	text = strings.ReplaceAll(text, "</memory_file", "<\\/memory_file")
	return "<memory_file path=\"" + path + "\">\n" + strings.TrimRight(text, "\n") + "\n</memory_file>"
}
