package config

import (
	"context"
	"crypto/sha256"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// WatchOptions say what to watch and whom to tell.
type WatchOptions struct {
	// Load are the options that Current was loaded with.
	Load Options
	// Current is the configuration in force.
	Current *Config
	// Signal asks for a reading, such as a SIGHUP. It may be nil.
	Signal <-chan os.Signal
	// Apply takes a configuration that passed all checks and differs from the
	// one in force, or was asked for by Signal. It is called from one
	// goroutine, one call at a time. Keys that need a restart are in it with
	// their new values; the service goes on with the old ones.
	Apply func(*Config)
	// Report takes what went wrong: Problems of a file that cannot be used,
	// each only once while it stays the same, a *RestartError beside an
	// applied change, or trouble with watching itself.
	Report func(error)
	// Settle is how long files must have been quiet before they are read, 0
	// for 200 ms. Editors and copies write in several steps.
	Settle time.Duration
}

// Watch reads the configuration again whenever its file, or the file of a
// secret, changes, and at each signal. A file that is half written or wrong
// leaves the last good configuration in force. Watch blocks until the context
// ends and then returns nil; it returns an error only when it cannot start to
// watch files at all.
func Watch(ctx context.Context, opts WatchOptions) error {
	notify, err := fsnotify.NewWatcher()
	if err != nil {
		return fmt.Errorf("watch the configuration: %w; changes count after a restart", err)
	}
	defer notify.Close()
	w := newWatcher(opts, notify.Add)
	w.follow(opts.Current)
	w.run(ctx, notify.Events, notify.Errors)
	return nil
}

// watcher holds the state of one Watch. Its own goroutine is the caller's.
type watcher struct {
	opts    WatchOptions
	add     func(dir string) error
	current *Config
	told    string // the last problem that was reported, "" after a good reading
	watched map[string]bool
	names   map[string]bool // absolute paths whose events count
}

func newWatcher(opts WatchOptions, add func(string) error) *watcher {
	if opts.Settle == 0 {
		opts.Settle = 200 * time.Millisecond
	}
	opts.Load = opts.Load.withDefaults()
	if opts.Current.File != "" {
		// Another file that appears in a place with precedence must not take
		// over while the service runs.
		opts.Load.File = opts.Current.File
	}
	return &watcher{
		opts: opts, add: add, current: opts.Current,
		watched: map[string]bool{}, names: map[string]bool{},
	}
}

// follow watches the folders of all files of a configuration. Folders, because
// editors replace a file by a new one, and a watch on the old one sees nothing
// more.
func (w *watcher) follow(c *Config) {
	w.names = map[string]bool{}
	for _, file := range c.ReadFiles() {
		w.followFile(file)
		// A link's target changes without any event beside the link.
		if target, err := filepath.EvalSymlinks(file); err == nil && target != file {
			w.followFile(target)
		}
	}
}

func (w *watcher) followFile(file string) {
	dir := filepath.Dir(file)
	w.names[file] = true
	// Kubernetes swaps this link when a mounted ConfigMap or Secret changes.
	w.names[filepath.Join(dir, "..data")] = true
	if w.watched[dir] {
		return
	}
	if err := w.add(dir); err != nil {
		w.tell(fmt.Errorf("watch the folder %s of the configuration: %w; changes there count after a signal or a restart", dir, err))
		return
	}
	w.watched[dir] = true
}

// run turns events and signals into readings until the context ends.
func (w *watcher) run(ctx context.Context, events <-chan fsnotify.Event, errs <-chan error) {
	// A file that never comes to rest is read all the same after so long.
	const mostSettles = 10
	timer := time.NewTimer(time.Hour)
	timer.Stop()
	defer timer.Stop()
	var deadline time.Time
	if w.changed() {
		// Somebody wrote between the first reading and the first watch.
		timer.Reset(w.opts.Settle)
	}
	for {
		select {
		case <-ctx.Done():
			return
		case e, open := <-events:
			if !open {
				events = nil
				continue
			}
			if !w.names[e.Name] {
				continue
			}
			now := time.Now()
			if deadline.IsZero() {
				deadline = now.Add(mostSettles * w.opts.Settle)
			}
			timer.Reset(min(w.opts.Settle, max(0, deadline.Sub(now))))
		case <-timer.C:
			deadline = time.Time{}
			w.reload(false)
		case _, open := <-w.opts.Signal:
			if !open {
				w.opts.Signal = nil
				continue
			}
			w.reload(true)
		case err, open := <-errs:
			if !open {
				errs = nil
				continue
			}
			w.tell(fmt.Errorf("watch the configuration: %w; send the service a SIGHUP after a change", err))
		}
	}
}

// reload reads everything anew. Without a signal it stops where every file is
// again what the configuration in force was made from.
func (w *watcher) reload(asked bool) {
	if !asked && !w.changed() {
		w.told = ""
		return
	}
	w.opts.Load.refuseBlank = !w.current.blank
	next, err := Load(w.opts.Load)
	if err != nil {
		w.tell(fmt.Errorf("%w\n  the last good configuration stays in force", err))
		return
	}
	w.told = ""
	changes := Changes(w.current, next)
	w.current = next
	w.follow(next)
	if len(changes) == 0 && !asked {
		return
	}
	w.opts.Apply(next)
	if e := restartError(changes); e != nil {
		w.opts.Report(e)
	}
}

// changed compares the files with what the configuration in force read.
func (w *watcher) changed() bool {
	for path, digest := range w.current.digests {
		data, err := w.opts.Load.ReadFile(path)
		if err != nil || sha256.Sum256(data) != digest {
			return true
		}
	}
	return false
}

// tell reports an error once: the same one again, as an editor's several
// events for one bad file make it, is not news.
func (w *watcher) tell(err error) {
	if err.Error() == w.told {
		return
	}
	w.told = err.Error()
	w.opts.Report(err)
}
