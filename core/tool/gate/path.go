package gate

import (
	"path"
	"strings"
)

// maxLinks bounds how many symbolic links a path may lead through, as kernels do.
const maxLinks = 40

// clean is the lexical form of a path.
func clean(p string) string { return path.Clean(p) }

// Canonical is the path of a call as rules compare it: relative to the working folder, without '.', '..' and symbolic links. An absolute
// path must lie below root, the working folder's own absolute path ("" when there is none). link reads the symbolic link that a relative
// path names; ok is false for what is none. Canonical answers false for a path that leaves the working folder, by whatever way.
func Canonical(root, p string, link func(rel string) (target string, ok bool)) (string, bool) {
	if strings.ContainsRune(p, 0) {
		return "", false
	}
	rest, ok := below(root, p)
	if !ok {
		return "", false
	}
	done := ""
	for links := 0; rest != ""; {
		var part string
		part, rest, _ = strings.Cut(rest, "/")
		switch part {
		case "", ".":
			continue
		case "..":
			if done == "" {
				return "", false
			}
			done = strings.TrimPrefix(path.Dir("/"+done), "/")
			continue
		}
		next := path.Join(done, part)
		target, ok := link(next)
		if !ok {
			done = next
			continue
		}
		if links++; links > maxLinks {
			return "", false
		}
		if strings.HasPrefix(target, "/") {
			if target, ok = below(root, target); !ok {
				return "", false
			}
			done = ""
		}
		rest = target + "/" + rest
	}
	if done == "" {
		done = "."
	}
	return done, true
}

// below makes an absolute path relative to root without resolving anything in it.
func below(root, p string) (string, bool) {
	if !strings.HasPrefix(p, "/") {
		return p, true
	}
	root = strings.TrimSuffix(root, "/")
	if root == "" {
		return "", false
	}
	if p == root {
		return ".", true
	}
	return strings.CutPrefix(p, root+"/")
}

// inside reports whether a canonical path is one of the folders or files, or lies below one.
func inside(p string, roots []string) bool {
	for _, r := range roots {
		if r = clean(r); r == "." || p == r || strings.HasPrefix(p, r+"/") {
			return true
		}
	}
	return false
}

// Lexical is a path relative to root without '.', '..' and doubled slashes, and without looking at any file: the form in which tools of
// files read it. ok is false for one that leaves root or cannot be a path. root may be "" where there is no folder.
func Lexical(root, p string) (rel string, ok bool) {
	if strings.ContainsRune(p, 0) {
		return "", false
	}
	if rel, ok = below(root, p); !ok {
		return "", false
	}
	rel = path.Clean(rel)
	return rel, rel != ".." && !strings.HasPrefix(rel, "../") && !strings.HasPrefix(rel, "/")
}
