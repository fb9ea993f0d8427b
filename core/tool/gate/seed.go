package gate

import (
	"strings"

	"herald/core/tool"
)

// seedMark begins the ids of seeded rules.
const seedMark = "seed-"

// Seeded reports whether the rule is one that Herald brings.
func Seeded(r *Rule) bool { return strings.HasPrefix(r.ID, seedMark) }

// Seeds are the rules that Herald brings for the tools that exist; a rule for others would only promise something.
func Seeds(exists func(name string) bool) []Rule {
	var out []Rule
	add := func(group string, priority int, id, pattern, path string, action tool.Answer, note string) {
		out = append(out, Rule{ID: seedMark + id, Group: group, Tool: pattern, Path: path, Action: action, Priority: priority, Note: note})
	}
	for _, t := range harmless() {
		if exists(t) {
			add("", 0, t, t, "", tool.Allow, "no effect outside of the session")
		}
	}
	file := func(priority int, id, pattern, path string, action tool.Answer, note string) {
		for _, t := range fileTools() {
			if matchTool(pattern, t) && exists(t) {
				add("", priority, id, pattern, path, action, note)
				return
			}
		}
	}
	file(4, "shared-log", "append_file", "shared-memory/log.md", tool.Allow, "the log of changes can always be written")
	file(5, "own-notes", FSAny, "user-memory/*", tool.Allow, "a person's own notes")
	file(5, "read-shared-notes", FSRead, "shared-memory/*", tool.Allow, "")
	file(5, "write-shared-notes", FSWrite, "shared-memory/*", tool.Require, "others read these notes")
	file(5, "channel-notes", FSAny, "channel-memory/*", tool.Allow, "the notes that a channel shares over its threads")
	file(5, "data", FSAny, "data/*", tool.Allow, "")
	file(5, "projects", FSAny, "projects/*", tool.Allow, "")
	file(5, "read-skills", FSRead, "skills/*", tool.Allow, "")
	file(6, "read-files", FSRead, "*", tool.Allow, "reads only, in the working folder")
	for _, t := range []string{"memory_search", "web_fetch", "web_search"} {
		if exists(t) {
			add("", 5, t, t, "", tool.Allow, "reads only")
		}
	}
	for _, t := range []string{"execute_cmd", "execute_skill_script"} {
		if exists(t) {
			add("", 10, t, t, "", tool.Require, "runs a program")
		}
	}
	add("", LastPriority, "last", everything, "", tool.Require, "whatever no rule knows is decided by a person")

	// Who may only talk reaches notes and the text of skills, and nothing that acts.
	for _, t := range []string{"current_time", "remember", "recall", "load_skill", "load_skill_reference", "memory_search", "ask_user_clarification"} {
		if exists(t) {
			add(Restricted, 0, Restricted+"-"+t, t, "", tool.Allow, "")
		}
	}
	if exists("read_file") {
		add(Restricted, 5, Restricted+"-own-notes", FSAny, "user-memory/*", tool.Allow, "")
		add(Restricted, 5, Restricted+"-channel-notes", FSRead, "channel-memory/*", tool.Allow, "")
		add(Restricted, 5, Restricted+"-shared-notes", FSRead, "shared-memory/*", tool.Allow, "")
	}
	add(Restricted, LastPriority, Restricted+"-last", everything, "", tool.Deny, "this group may talk and keep notes")
	return out
}

// harmless are the tools without an effect outside of their session. A delegation is one: what the other agent calls is asked for by itself.
func harmless() []string {
	return []string{
		"current_time", "remember", "recall", "write_todos", "update_scratchpad", "list_items", "load_skill", "load_skill_reference",
		"ask_user_clarification", "activate_tools", "execute_task", "execute_subtask", "agent_*", "notify", "show_file_to_user",
	}
}

func fileTools() []string {
	return []string{
		"read_file", "list_files", "grep_files", "search_file", "write_file", "edit_file", "append_file", "insert_at_line", "replace_lines",
	}
}
