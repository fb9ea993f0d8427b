package terminal

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"herald/bots/console/proto"
)

// maxHistory is how many entries are kept.
const maxHistory = 1000

// history is what was typed, oldest first, each entry a JSON string on a line of its own so that it may hold several lines.
type history struct {
	path    string
	entries []string
}

// openHistory reads the file; one that is missing is empty. Lines that cannot be read are left out.
func openHistory(path string) (*history, error) {
	h := &history{path: path}
	if path == "" {
		return h, nil
	}
	f, err := os.Open(path)
	if errors.Is(err, os.ErrNotExist) {
		return h, nil
	}
	if err != nil {
		return h, fmt.Errorf("read the terminal's history: %w", err)
	}
	defer f.Close()
	lines := 0
	sc := bufio.NewScanner(f)
	for sc.Buffer(nil, 8*proto.MaxText); sc.Scan(); lines++ {
		var s string
		if json.Unmarshal(sc.Bytes(), &s) == nil && s != "" {
			h.push(strip(s))
		}
	}
	if err := sc.Err(); err != nil {
		return h, fmt.Errorf("read the terminal's history %s: %w", path, err)
	}
	if lines > 2*maxHistory {
		return h, h.rewrite()
	}
	return h, nil
}

func (h *history) push(s string) bool {
	if n := len(h.entries); n > 0 && h.entries[n-1] == s {
		return false
	}
	h.entries = append(h.entries, s)
	if len(h.entries) > maxHistory {
		h.entries = h.entries[len(h.entries)-maxHistory:]
	}
	return true
}

// add takes an entry and writes it to the file.
func (h *history) add(s string) error {
	if !h.push(s) || h.path == "" {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return fmt.Errorf("keep the terminal's history: %w", err)
	}
	f, err := os.OpenFile(h.path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return fmt.Errorf("keep the terminal's history: %w", err)
	}
	line, err := json.Marshal(s)
	if err == nil {
		_, err = f.Write(append(line, '\n'))
	}
	return errors.Join(err, f.Close())
}

// rewrite shortens the file to what is kept.
func (h *history) rewrite() error {
	var b strings.Builder
	for _, s := range h.entries {
		line, err := json.Marshal(s)
		if err != nil {
			return fmt.Errorf("keep the terminal's history: %w", err)
		}
		b.Write(append(line, '\n'))
	}
	tmp := h.path + ".new"
	if err := os.WriteFile(tmp, []byte(b.String()), 0o600); err != nil {
		return fmt.Errorf("keep the terminal's history: %w", err)
	}
	return os.Rename(tmp, h.path)
}
