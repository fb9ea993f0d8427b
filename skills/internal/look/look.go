// Package look tells when files have changed, at a bounded cost however many there are.
//
// It must not know what the files are.
package look

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// Mark is one path with what stat says of it: enough to see that a file was written, replaced, added or removed.
type Mark struct {
	Path string
	at   time.Time
	size int64
	mode fs.FileMode
	err  string
}

// Of is the mark of a path as it is now.
func Of(path string) Mark {
	info, err := os.Stat(path)
	if err != nil {
		return Mark{Path: path, err: Cause(err)}
	}
	return Mark{Path: path, at: info.ModTime(), size: info.Size(), mode: info.Mode()}
}

// Equal reports whether nothing has changed.
func (m Mark) Equal(o Mark) bool {
	return m.Path == o.Path && m.size == o.size && m.mode == o.mode && m.err == o.err && m.at.Equal(o.at)
}

// Cause is what the system said, without the path, which stands beside it anyway.
func Cause(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		return e.Err.Error()
	}
	return err.Error()
}

// restFactor is how many times as long as a look took none follows: however many files there are, looking at them takes a hundredth of the
// time at most. maxRest bounds it.
const (
	restFactor = 100
	maxRest    = 2 * time.Second
)

// Pace says when to look again. Its user holds a lock.
type Pace struct{ next time.Time }

// Changed reports whether one of the marks no longer holds; false without a look when the last one was just now.
func (p *Pace) Changed(marks []Mark, clock func() time.Time) bool {
	began := clock()
	if began.Before(p.next) {
		return false
	}
	changed := differ(marks)
	p.next = began.Add(min(restFactor*clock().Sub(began), maxRest))
	return changed
}

// few is how many files one look goes through by itself; more are shared out.
const few = 256

// differ reports whether one of the marks no longer holds.
func differ(marks []Mark) bool {
	differs := func(part []Mark) bool {
		return slices.ContainsFunc(part, func(m Mark) bool { return !m.Equal(Of(m.Path)) })
	}
	if len(marks) <= few {
		return differs(marks)
	}
	var any atomic.Bool
	var wg sync.WaitGroup
	for part := range slices.Chunk(marks, len(marks)/min(runtime.GOMAXPROCS(0), 8)+1) {
		wg.Go(func() {
			if differs(part) {
				any.Store(true)
			}
		})
	}
	wg.Wait()
	return any.Load()
}

// Problem is what is wrong with a file that Text could not read.
type Problem string

func (p Problem) Error() string { return string(p) }

// Text reads a whole ordinary file below a root. Its errors are [Problem].
func Text(root *os.Root, rel string, limit int64) ([]byte, error) {
	rel = filepath.FromSlash(rel)
	info, err := root.Stat(rel)
	switch {
	case err != nil:
		return nil, Problem("the file cannot be read: " + Cause(err))
	case !info.Mode().IsRegular(): // a pipe would wait for a writer for ever
		return nil, Problem("it is not an ordinary file")
	}
	f, err := root.Open(rel)
	if err != nil {
		return nil, Problem("the file cannot be read: " + Cause(err))
	}
	defer f.Close()
	src, err := io.ReadAll(io.LimitReader(f, limit+1))
	if err != nil {
		return nil, Problem("the file cannot be read: " + Cause(err))
	}
	if int64(len(src)) > limit {
		return nil, Problem(fmt.Sprintf("the file has more than %d KiB", limit>>10))
	}
	return src, nil
}
