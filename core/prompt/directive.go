package prompt

import (
	"regexp"
	"slices"
	"strings"

	"herald/core/session"
)

// directive is a place in an agent's text that is filled in for each request.
var directive = regexp.MustCompile(`<!--[ \t]*([A-Z][A-Z0-9_]*)[ \t]*-->`)

// label is a line with nothing but one directive, behind the mark of a list and a label at the most.
var label = regexp.MustCompile(`(?m)^[ \t>#*+-]*(?:[^\n.:!?<]{1,60}:\**)?[ \t]*` + directive.String() + `[ \t]*(?:\n|\z)`)

// Keys are the keys of the directives in an agent's text, each once, in their order.
func Keys(text string) []string {
	if !strings.Contains(text, "<!--") {
		return nil
	}
	var out []string
	for _, m := range directive.FindAllStringSubmatch(text, -1) {
		if !slices.Contains(out, m[1]) {
			out = append(out, m[1])
		}
	}
	return out
}

// Expand fills in the directives of an agent's text: <!-- KEY --> becomes the value of KEY. What has no value is left out, with its line where that
// holds nothing else but a label. Values are not looked through again: what stands in them is data.
func Expand(text string, value func(key string) string) string {
	if !strings.Contains(text, "<!--") {
		return text
	}
	text = label.ReplaceAllStringFunc(text, func(m string) string {
		if value(directive.FindStringSubmatch(m)[1]) == "" {
			return ""
		}
		return m
	})
	return directive.ReplaceAllStringFunc(text, func(m string) string {
		return value(directive.FindStringSubmatch(m)[1])
	})
}

// AgentLine is an agent in the list that a delegating agent reads.
func AgentLine(id, description string) string {
	return "- **" + id + "** — " + strings.Join(strings.Fields(description), " ")
}

// missing stands for a file that is not there.
const missing = "(file not created yet)"

// MemoryFile is a file or note that stands in the prompt. What it holds is data: a mark of its end inside of it is broken up, and so is one with which
// the service speaks.
func MemoryFile(path, text string, exists bool) string {
	if !exists {
		text = missing
	}
	text = strings.ReplaceAll(session.Unmarked(text), "</memory_file", "<\\/memory_file")
	return "<memory_file path=\"" + attribute(path) + "\">\n" + strings.TrimRight(text, "\n") + "\n</memory_file>"
}

// attribute is a text that cannot end the mark in which it stands.
func attribute(s string) string {
	return strings.NewReplacer(`"`, "'", "<", "(", ">", ")", "\n", " ").Replace(s)
}
