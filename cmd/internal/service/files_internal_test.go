package service

import (
	"crypto/rand"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"herald/config"
	"herald/core/store/memory"
	"herald/core/tool"
	"herald/core/tool/gate"
)

// replicaOf is a service of which nothing runs, with a folder of files.
func replicaOf(st *memory.Store, dir, mode string) *Service {
	cfg := &config.Config{Files: config.Folder{Dir: dir}}
	cfg.Store.Target.Mode = mode
	return &Service{
		cfg: cfg, store: observe(st, func(string) {}), ready: &readiness{
			store: func() error { return nil }, models: func() error { return nil }, clean: func(s string) string { return s },
		}, log: slog.New(slog.DiscardHandler), opts: Options{NewID: rand.Text},
	}
}

// Replicas that share a store must share the folder of files: where one sees another folder, files are off there and it says why.
func TestReplicasShareTheFolderOfFiles(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	base := t.TempDir()
	shared, other := filepath.Join(base, "shared"), filepath.Join(base, "other")
	open := func(dir, mode string) *Service {
		t.Helper()
		s := replicaOf(st, dir, mode)
		if err := s.openFiles(t.Context()); err != nil {
			t.Fatal(err)
		}
		return s
	}
	for i, dir := range []string{shared, shared, other, shared} {
		s := open(dir, config.ModeSingle)
		if err := s.shared.off(); (err == nil) != (dir == shared) {
			t.Errorf("replica %d at %s: %v", i, dir, err)
		}
	}
	s := open(other, config.ModeSingle)
	parts, _ := s.ready.parts()
	last := parts[len(parts)-1]
	if last.OK || last.Name != "files" || !strings.Contains(last.Text, "mount the shared volume") {
		t.Errorf("readiness says %+v", last)
	}
	s.ready.started.Store(true)
	if _, ready := s.ready.parts(); !ready {
		t.Error("a replica without files takes no work")
	}
	if c := CheckFiles(s.shared.off); c.Status != Bad || !strings.Contains(c.Text, "files, scripts and commands are off") {
		t.Errorf("the doctor says %+v", c)
	}
	if err := os.WriteFile(filepath.Join(other, marker), []byte(`"another"`), 0o600); err == nil {
		t.Error("the folder was made though it is not the right one")
	}
	// The volume is mounted: nothing need be restarted.
	if err := os.Rename(shared, other); err != nil {
		t.Fatal(err)
	}
	if err := s.shared.off(); err != nil {
		t.Errorf("with the right folder: %v", err)
	}
	if c := CheckFiles(s.shared.off); c.Status != Good {
		t.Errorf("the doctor says %+v", c)
	}
}

// One process has nobody to differ from: its folder may be moved or removed.
func TestOneProcessMayMoveItsFiles(t *testing.T) {
	t.Parallel()
	st := memory.New(memory.Options{})
	for _, dir := range []string{t.TempDir(), t.TempDir()} {
		s := replicaOf(st, dir, "")
		if err := s.openFiles(t.Context()); err != nil || s.shared.off() != nil {
			t.Errorf("%v %v", err, s.shared.off())
		}
	}
}

// A replica that died between the mark and the store's word of it finds its mark.
func TestAMarkWithoutItsWordIsTaken(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, marker), []byte("\"first\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	s := replicaOf(memory.New(memory.Options{}), dir, config.ModeSingle)
	if err := s.openFiles(t.Context()); err != nil || s.shared.off() != nil || s.shared.want != `"first"` {
		t.Errorf("%v %v %q", err, s.shared.off(), s.shared.want)
	}
}

func TestWorkingFolders(t *testing.T) {
	t.Parallel()
	one, two := tool.Call{Scope: tool.Scope{Person: "ann", Askers: []string{"ann"}}}, tool.Call{Scope: tool.Scope{Person: "ann", Askers: []string{"ann", "bob"}}}
	for _, tc := range []struct {
		name  string
		call  tool.Call
		rc    *gate.RunContext
		want  string
		fails string
	}{
		{"a person's own", one, nil, "/f/people/ann", ""},
		{"a context without a folder", one, &gate.RunContext{SecurityGroup: "x"}, "/f/people/ann", ""},
		{"a project's", two, &gate.RunContext{WorkingDirectory: "projects/p"}, "/f/projects/p", ""},
		{"several people", two, nil, "", "several people"},
		{"nobody", tool.Call{}, nil, "", "nobody asks"},
		{"dots for an id", tool.Call{Scope: tool.Scope{Person: ".."}}, nil, "", "nobody asks"},
		{"a strange id", tool.Call{Scope: tool.Scope{Person: "../x"}}, nil, "/f/people/..%2Fx", ""},
		{"an absolute one below", one, &gate.RunContext{WorkingDirectory: "/f/projects/p"}, "/f/projects/p", ""},
		{"outside", one, &gate.RunContext{WorkingDirectory: "/etc"}, "", "outside"},
		{"out by dots", one, &gate.RunContext{WorkingDirectory: "projects/../../etc"}, "", "outside"},
		{"all of them", one, &gate.RunContext{WorkingDirectory: "."}, "", "outside"},
	} {
		got, err := folderOf("/f", tc.call, tc.rc)
		if got != tc.want || (err == nil) != (tc.fails == "") || err != nil && !strings.Contains(err.Error(), tc.fails) {
			t.Errorf("%s: %q, %v; want %q %q", tc.name, got, err, tc.want, tc.fails)
		}
	}
}
