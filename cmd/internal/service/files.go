package service

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool"
	"herald/core/tool/files"
	"herald/core/tool/gate"
	"herald/core/tool/policy"
	"herald/core/tool/web"
)

// folderOf is the working folder of a call, below base: that of the project which the run context names, else that of the person. Where several
// people ask, nobody's own folder is open to the others.
func folderOf(base string, c tool.Call, rc *gate.RunContext) (string, error) {
	if rc != nil && rc.WorkingDirectory != "" {
		dir := rc.WorkingDirectory
		if !filepath.IsAbs(dir) {
			dir = filepath.Join(base, dir)
		}
		if rel, err := filepath.Rel(base, dir); err != nil || rel == "." || !filepath.IsLocal(rel) {
			return "", errors.New("the working folder of this project lies outside of files.dir; an admin must look at it")
		}
		return dir, nil
	}
	if slices.ContainsFunc(c.Askers, func(p string) bool { return p != c.Person }) {
		return "", errors.New("several people ask, and each has a working folder of their own; /herald project create NAME makes one for all of them here")
	}
	if strings.Trim(c.Person, ".") == "" {
		return "", errors.New("there is no working folder here, because nobody asks")
	}
	return filepath.Join(base, "people", url.PathEscape(c.Person)), nil
}

// fileTools are the tools of working folders and of notes as files.
func (s *Service) fileTools() []tool.Tool {
	o := files.Options{Desk: s.desk(), Folder: s.folder, Off: s.shared.off}
	tools := append(o.Tools(), o.Show(s.show))
	if s.cfg.Commands.Enabled {
		tools = append(tools, o.Command(s.authors.runner))
	}
	return tools
}

// uploader is an adapter that can put a file into a conversation.
type uploader interface {
	Upload(ctx context.Context, c chat.Conversation, name string, content []byte) error
}

// show puts a file into the conversation of a call; that of a task into the one that began it.
func (s *Service) show(ctx context.Context, c tool.Call, name string, content []byte) error {
	at, err := s.origin(ctx, c.Conversation)
	if err != nil {
		return err
	}
	a, ok := s.adapter(at.Workspace)
	if p, is := a.(paced); is {
		a = p.Adapter
	}
	u, can := a.(uploader)
	if !ok || !can {
		return files.ErrCannotShow
	}
	return u.Upload(ctx, at, name, content)
}

// webTools are the tools that read the web.
func (s *Service) webTools() []tool.Tool {
	w := web.New(web.Options{Who: "whoever runs this service", Search: func() web.Search {
		c := s.now.Load().Web
		return web.Search{URL: c.SearchURL, Header: c.SearchKeyHeader, Key: c.SearchKey.Reveal()}
	}})
	s.closers = append(s.closers, func() error { w.Close(); return nil })
	return w.Tools()
}

// folder is the working folder of a call by what is bound to its conversation now.
func (s *Service) folder(ctx context.Context, c tool.Call) (string, error) {
	rc, err := policy.ContextOf(ctx, s.store, conversation.Partition(c.Conversation))
	if err != nil {
		return "", err
	}
	return folderOf(s.cfg.Files.Dir, c, rc)
}

// marker is the file that tells one shared folder from another that only has the same path.
const marker = ".herald-folder"

// markerKey is the document that says what stands in that file.
var markerKey = store.Key{Collection: "files", Name: "marker"}

// sharedFolder is the folder of files, as all replicas must see it.
type sharedFolder struct {
	dir string
	// want is what the marker must say.
	want string
	// fault is the last outcome of a check.
	fault atomic.Pointer[error]
}

// openFiles looks whether this replica sees the folder of files that the others see. The first one marks it. A store of one process needs no
// second look: there nobody else could see another folder.
func (s *Service) openFiles(ctx context.Context) error {
	s.shared = &sharedFolder{dir: s.cfg.Files.Dir}
	as, err := s.store.Read(ctx, store.Get{Partition: people.System, Key: markerKey})
	if err != nil {
		return fmt.Errorf("the mark of the folder of files could not be read: %w", err)
	}
	if d, ok := as[0].Doc(); ok {
		s.shared.want = string(d.Value)
		if s.cfg.Store.Target.Mode == "" {
			s.shared.mark(s.shared.want, os.O_TRUNC)
		}
	} else if err := s.markFiles(ctx); err != nil {
		return err
	}
	if err := s.shared.check(); err != nil {
		s.log.Error("files, scripts and commands are off", "error", err)
	}
	s.ready.beside = []namedState{{"files", s.shared.off}}
	return nil
}

// markFiles marks the folder, then tells the store: whoever dies in between finds the mark and tells.
func (s *Service) markFiles(ctx context.Context) error {
	s.shared.mark(fmt.Sprintf("%q", s.opts.NewID()), os.O_EXCL)
	b, err := os.ReadFile(filepath.Join(s.shared.dir, marker))
	if err != nil {
		return nil // the check says it
	}
	s.shared.want = strings.TrimSpace(string(b))
	_, err = s.store.Commit(ctx, store.Commit{
		ID: "service.marker/" + s.opts.NewID(), Partition: people.System, Guards: []store.Guard{store.At{Key: markerKey}},
		Ops: []store.Op{store.Put{Key: markerKey, Value: []byte(s.shared.want)}},
	})
	if errors.Is(err, store.ErrConflict) {
		return s.openFiles(ctx) // another replica was first
	}
	if err != nil {
		return fmt.Errorf("the mark of the folder of files could not be written to the store: %w", err)
	}
	return nil
}

// mark writes the marker; what went wrong is found by the check.
func (f *sharedFolder) mark(id string, how int) {
	if err := os.MkdirAll(f.dir, 0o700); err != nil {
		return
	}
	file, err := os.OpenFile(filepath.Join(f.dir, marker), os.O_WRONLY|os.O_CREATE|how, 0o600)
	if err != nil {
		return
	}
	_, _ = file.WriteString(id + "\n")
	_ = file.Close()
}

// check compares the marker and keeps the outcome.
func (f *sharedFolder) check() error {
	b, err := os.ReadFile(filepath.Join(f.dir, marker))
	switch {
	case errors.Is(err, os.ErrNotExist):
		err = fmt.Errorf("%s is not the folder that the other replicas use: it has no %s; mount the shared volume there, or, if the files were moved on purpose, write %s into that file", f.dir, marker, f.want)
	case err != nil:
		err = fmt.Errorf("the folder of files cannot be read: %w; give this account the right to read and write there", err)
	case f.want == "" || strings.TrimSpace(string(b)) != f.want:
		err = fmt.Errorf("%s is not the folder that the other replicas use: its %s differs; mount the shared volume there", f.dir, marker)
	}
	f.fault.Store(&err)
	return err
}

// off says why working folders must not be used. A folder that was not the right one is looked at again, so that nothing need be restarted when
// it is.
func (f *sharedFolder) off() error {
	if p := f.fault.Load(); p != nil && *p == nil {
		return nil
	}
	return f.check()
}

// CheckFiles looks at the folder of files.
func CheckFiles(off func() error) Check {
	if err := off(); err != nil {
		return Check{Name: "files", Status: Bad, Text: "files, scripts and commands are off: " + err.Error(), Remedy: "every replica must mount the same volume at files.dir"}
	}
	return Check{Name: "files", Status: Good, Text: "the folder of files is the one that all replicas use"}
}
