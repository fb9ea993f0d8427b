package gate

import (
	"fmt"
	"slices"
	"strings"
)

// The classes of tools: closed sets of the tools that touch files, so that a new tool never falls under an old rule by its name.
const (
	FSRead  = "@fs_read"
	FSWrite = "@fs_write"
	FSAny   = "@fs_any"
)

// everything is the pattern that every name matches.
const everything = "*"

// fsRead and fsWrite report whether a tool is in the class.
func fsRead(tool string) bool {
	switch tool {
	case "read_file", "list_files", "grep_files", "search_file":
		return true
	}
	return false
}

func fsWrite(tool string) bool {
	switch tool {
	case "write_file", "edit_file", "append_file", "insert_at_line", "replace_lines":
		return true
	}
	return false
}

// IsFile reports whether calls of the tool have a path that rules can speak of.
func IsFile(tool string) bool { return fsRead(tool) || fsWrite(tool) }

// matchTool reports whether a tool's name fits a pattern: its exact name, a beginning with one star behind it, or a class.
func matchTool(pattern, tool string) bool {
	switch pattern {
	case FSRead:
		return fsRead(tool)
	case FSWrite:
		return fsWrite(tool)
	case FSAny:
		return IsFile(tool)
	}
	if begin, ok := strings.CutSuffix(pattern, everything); ok {
		return strings.HasPrefix(tool, begin)
	}
	return pattern == tool
}

// matchPath reports whether a canonical path fits a pattern: "dir/*" is the folder itself and what lies below it, "data*" every path that
// begins so, anything else the path itself.
func matchPath(pattern, path string) bool {
	if dir, ok := strings.CutSuffix(pattern, "/*"); ok {
		return path == dir || strings.HasPrefix(path, dir+"/")
	}
	if begin, ok := strings.CutSuffix(pattern, everything); ok {
		return strings.HasPrefix(path, begin)
	}
	return pattern == path
}

// checkTool says what is wrong with a pattern for tools.
func checkTool(p string) error {
	switch {
	case p == "":
		return fmt.Errorf("it names no tool; write a tool's name, a beginning like mobile_*, a class like %s, or *", FSRead)
	case strings.HasPrefix(p, "@"):
		if !slices.Contains([]string{FSRead, FSWrite, FSAny}, p) {
			return fmt.Errorf("%q is no class of tools; there are %s, %s and %s", p, FSRead, FSWrite, FSAny)
		}
		return nil
	}
	name := strings.TrimSuffix(p, everything)
	if len(name) > 64 || strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '_' && c != '-'
	}) {
		return fmt.Errorf("%q is no pattern for tools; write letters, digits, '_' and '-', with a star at the end only", p)
	}
	return nil
}

// checkPath says what is wrong with a pattern for paths: one that no canonical path can fit protects nothing.
func checkPath(p string) error {
	plain := strings.TrimSuffix(p, everything)
	folder := strings.TrimSuffix(plain, "/")
	switch {
	case p == "":
		return nil
	case strings.Contains(plain, everything):
		return fmt.Errorf("%q has a star before its end; write dir/*, a beginning like data*, or a whole path", p)
	case strings.HasPrefix(p, "/"):
		return fmt.Errorf("%q begins with a slash; paths stand below the working folder, so leave it out", p)
	case folder == "" && plain != "":
		return fmt.Errorf("%q is no path", p)
	case plain != p && folder != "" && clean(folder) != folder, plain == p && clean(p) != p:
		return fmt.Errorf("%q is never met, because paths are compared without '.', '..' and doubled slashes; write %q", p, clean(folder))
	}
	return nil
}
