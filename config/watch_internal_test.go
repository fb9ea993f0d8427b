package config

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/google/go-cmp/cmp"
)

// bench runs a watcher in a bubble of fake time, over a file in memory and
// events made by hand.
type bench struct {
	mu      sync.Mutex
	content map[string]string

	events  chan fsnotify.Event
	errs    chan error
	signal  chan os.Signal
	levels  []string // log.level of each configuration that was applied
	reports []string // first lines
	added   []string
}

const benchFile = "/etc/herald/herald.toml"

func (b *bench) read(path string) ([]byte, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	content, ok := b.content[path]
	if !ok {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrNotExist}
	}
	return []byte(content), nil
}

// write changes a file and sends the event of it.
func (b *bench) write(path, content string) {
	b.mu.Lock()
	b.content[path] = content
	b.mu.Unlock()
	b.events <- fsnotify.Event{Name: path, Op: fsnotify.Write}
}

func (b *bench) remove(path string) {
	b.mu.Lock()
	delete(b.content, path)
	b.mu.Unlock()
	b.events <- fsnotify.Event{Name: path, Op: fsnotify.Remove}
}

// settle lets enough fake time pass for a reading.
func (b *bench) settle() {
	time.Sleep(time.Second)
	synctest.Wait()
}

func (b *bench) check(t *testing.T, levels, reports []string) {
	t.Helper()
	b.settle()
	if diff := cmp.Diff(levels, b.levels); diff != "" {
		t.Errorf("applied levels differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(reports, b.reports); diff != "" {
		t.Errorf("reports differ (-want +got):\n%s", diff)
	}
}

// watching runs the test beside a watcher that has read the content.
func watching(t *testing.T, content string, test func(*testing.T, *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{
			content: map[string]string{benchFile: content},
			events:  make(chan fsnotify.Event), errs: make(chan error), signal: make(chan os.Signal),
		}
		opts := Options{File: benchFile, Dir: "/", Env: []string{"HOME=/home/ada"}, ReadFile: b.read}
		current, err := Load(opts)
		if err != nil {
			t.Fatal(err)
		}
		w := newWatcher(WatchOptions{
			Load: opts, Current: current, Signal: b.signal,
			Apply: func(c *Config) { b.levels = append(b.levels, c.Log.Level) },
			Report: func(err error) {
				text := err.Error()
				if problems, ok := errors.AsType[Problems](err); ok {
					text = problems[0].String()
				}
				b.reports = append(b.reports, text)
			},
		}, func(dir string) error {
			b.added = append(b.added, dir)
			return nil
		})
		w.follow(current)
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { w.run(ctx, b.events, b.errs) })
		synctest.Wait()
		test(t, b)
		cancel()
		wg.Wait()
	})
}

func level(l string) string { return "[log]\nlevel = \"" + l + "\"\n" }

func TestWatchAppliesAChange(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.write(benchFile, level("warn"))
		b.check(t, []string{"warn"}, nil)
		b.write(benchFile, level("debug"))
		b.check(t, []string{"warn", "debug"}, nil)
	})
}

func TestWatchWaitsUntilTheFileIsQuiet(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.write(benchFile, "")
		time.Sleep(150 * time.Millisecond)
		b.write(benchFile, "[log]\nlev")
		time.Sleep(150 * time.Millisecond)
		b.write(benchFile, level("warn"))
		b.check(t, []string{"warn"}, nil)
	})
}

func TestWatchReadsAFileThatNeverRests(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		for range 40 {
			b.write(benchFile, level("warn"))
			time.Sleep(100 * time.Millisecond)
		}
		if len(b.levels) == 0 {
			t.Error("events without an end put the reading off for ever")
		}
	})
}

func TestWatchKeepsTheLastGoodConfiguration(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		const loud = benchFile + `:2:1: log.level: must be one of debug, info, warn, error, is "loud"`
		b.write(benchFile, level("loud"))
		b.check(t, nil, []string{loud})
		b.write(benchFile, level("loud")) // the same again is no news
		b.check(t, nil, []string{loud})
		b.write(benchFile, level("info")) // good again, and nothing has changed
		b.check(t, nil, []string{loud})
		b.write(benchFile, level("loud")) // now it is news
		b.check(t, nil, []string{loud, loud})
		b.write(benchFile, level("warn"))
		b.check(t, []string{"warn"}, []string{loud, loud})
	})
}

func TestWatchTakesAnEmptyFileForAHalfWrittenOne(t *testing.T) {
	t.Parallel()
	const empty = benchFile + ": the file holds no setting any more; finish writing it"
	watching(t, level("warn"), func(t *testing.T, b *bench) {
		b.write(benchFile, "\n")
		b.check(t, nil, []string{empty})
		b.signal <- syscall.SIGHUP
		b.check(t, nil, []string{empty})
		b.write(benchFile, "# Herald\n\n  # comes before the first setting\n")
		b.check(t, nil, []string{empty})
	})
	// A service that was started with an empty file may go on with one.
	watching(t, "", func(t *testing.T, b *bench) {
		b.write(benchFile, level("warn"))
		b.check(t, []string{"warn"}, nil)
		b.write(benchFile, "")
		b.check(t, []string{"warn"}, []string{empty})
	})
}

func TestWatchSurvivesAFileThatIsGone(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		gone := benchFile + ": there is no such file; check the path, or leave it out to run without a file"
		b.remove(benchFile)
		b.check(t, nil, []string{gone})
		b.write(benchFile, level("warn"))
		b.check(t, []string{"warn"}, []string{gone})
	})
}

func TestWatchObeysASignal(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.signal <- syscall.SIGHUP
		b.check(t, []string{"info"}, nil) // asked for, so applied although nothing differs
		b.mu.Lock()
		b.content[benchFile] = level("warn") // without an event, as on a network file system
		b.mu.Unlock()
		b.signal <- syscall.SIGHUP
		b.check(t, []string{"info", "warn"}, nil)
		close(b.signal)
		b.write(benchFile, level("debug"))
		b.check(t, []string{"info", "warn", "debug"}, nil)
	})
}

func TestWatchIgnoresOtherFiles(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.mu.Lock()
		b.content[benchFile] = level("warn")
		b.mu.Unlock()
		b.events <- fsnotify.Event{Name: "/etc/herald/herald.db-wal", Op: fsnotify.Write}
		b.check(t, nil, nil)
		b.events <- fsnotify.Event{Name: "/etc/herald/..data", Op: fsnotify.Create}
		b.check(t, []string{"warn"}, nil)
	})
}

func TestWatchSaysWhatNeedsARestart(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.write(benchFile, level("warn")+"format = \"json\"\n[store]\nurl = \"memory:\"\n")
		b.check(t, []string{"warn"}, []string{(&RestartError{Keys: []string{"store.url", "log.format"}}).Error()})
	})
}

func TestWatchFollowsTheFilesOfSecrets(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.mu.Lock()
		b.content["/run/secrets/key"] = "a"
		b.mu.Unlock()
		b.write(benchFile, level("warn")+"[providers.p]\napi_key_file = \"/run/secrets/key\"\n")
		b.check(t, []string{"warn"}, nil)
		b.write("/run/secrets/key", "b")
		b.check(t, []string{"warn", "warn"}, nil)
		if diff := cmp.Diff([]string{"/etc/herald", "/run/secrets"}, b.added); diff != "" {
			t.Errorf("watched folders differ (-want +got):\n%s", diff)
		}
	})
}

func TestWatchReportsTroubleWithWatching(t *testing.T) {
	t.Parallel()
	watching(t, level("info"), func(t *testing.T, b *bench) {
		b.errs <- fsnotify.ErrEventOverflow
		b.settle()
		if len(b.reports) != 1 || !strings.Contains(b.reports[0], fsnotify.ErrEventOverflow.Error()) {
			t.Errorf("reports: %q", b.reports)
		}
		close(b.errs)
		close(b.events)
		b.signal <- syscall.SIGHUP
		b.settle()
		if len(b.levels) != 1 {
			t.Errorf("a signal has no effect any more: %q", b.levels)
		}
	})
}

// A change between the first reading and the first watch has no event.
func TestWatchSeesAChangeMadeBeforeItBegan(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		b := &bench{content: map[string]string{benchFile: level("info")}}
		opts := Options{File: benchFile, Dir: "/", Env: []string{"HOME=/home/ada"}, ReadFile: b.read}
		current, err := Load(opts)
		if err != nil {
			t.Fatal(err)
		}
		b.content[benchFile] = level("warn")
		w := newWatcher(WatchOptions{
			Load: opts, Current: current, Report: func(error) {},
			Apply: func(c *Config) { b.levels = append(b.levels, c.Log.Level) },
		}, func(string) error { return errors.New("no more watches") })
		ctx, cancel := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { w.run(ctx, nil, nil) })
		time.Sleep(time.Second)
		cancel()
		wg.Wait()
		if diff := cmp.Diff([]string{"warn"}, b.levels); diff != "" {
			t.Errorf("applied levels differ (-want +got):\n%s", diff)
		}
	})
}
