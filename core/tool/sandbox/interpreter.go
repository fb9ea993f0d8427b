package sandbox

import (
	"errors"
	"io/fs"
	"path"
	"strings"
)

// Interpreters by the end of a script's name, and those that its first line may ask for.
var (
	byExtension  = map[string]string{".py": "python3", ".sh": "sh", ".bash": "bash", ".js": "node", ".mjs": "node", ".cjs": "node", ".pl": "perl", ".rb": "ruby"}
	byFirstLine  = map[string]string{"python3": "python3", "python": "python3", "sh": "sh", "dash": "sh", "bash": "bash", "node": "node", "nodejs": "node", "perl": "perl", "ruby": "ruby"}
	errUnknownIn = errors.New("nothing says what runs it: it ends with none of .py .sh .bash .js .mjs .cjs .pl .rb, and its first line names no such interpreter")
)

// Interpreter is the program that runs a script: the one that its first line names, or that of the end of its name.
func Interpreter(files fs.FS, file string) (string, error) {
	f, err := files.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	head := make([]byte, 256)
	n, _ := f.Read(head)
	line, _, _ := strings.Cut(string(head[:n]), "\n")
	if words := strings.Fields(strings.TrimPrefix(line, "#!")); strings.HasPrefix(line, "#!") && len(words) > 0 {
		name := path.Base(words[0])
		if name == "env" {
			for _, w := range words[1:] {
				if !strings.HasPrefix(w, "-") && !strings.Contains(w, "=") {
					name = w
					break
				}
			}
		}
		if p, ok := byFirstLine[name]; ok {
			return p, nil
		}
	}
	if p, ok := byExtension[path.Ext(file)]; ok {
		return p, nil
	}
	return "", errUnknownIn
}

// IsScript reports whether the end of a file's name says what runs it.
func IsScript(file string) bool { _, ok := byExtension[path.Ext(file)]; return ok }
