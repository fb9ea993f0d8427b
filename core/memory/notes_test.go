package memory_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/memory"
	"herald/core/store"
	fake "herald/core/store/memory"
)

var (
	day  = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	ada  = memory.Writer{Person: "p-ada", Name: "Ada"}
	bob  = memory.Writer{Person: "p-bob", Name: "Bob"}
	root = memory.Writer{Person: "p-root", Name: "Root", Admin: true}
)

// rig is notes over the memory store on one day.
type rig struct {
	t *testing.T
	*memory.Notes
	st    *fake.Store
	calls int
}

func newRig(t *testing.T, faults fake.Faults) *rig {
	t.Helper()
	st := fake.New(fake.Options{Clock: func() time.Time { return day }, Faults: faults})
	return &rig{t: t, Notes: memory.New(st, nil), st: st}
}

// write overwrites the note, whatever stands.
func (r *rig) write(root memory.Root, pl memory.Place, w memory.Writer, name, text string) error {
	r.calls++
	w.Call = fmt.Sprint("call", r.calls)
	_, err := r.Change(context.Background(), root, pl, w, name, "", func(memory.Note) (string, error) { return text, nil })
	return err
}

func (r *rig) must(err error) {
	r.t.Helper()
	if err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) text(pl memory.Place, name string) string {
	r.t.Helper()
	n, err := r.Read(r.t.Context(), pl, name)
	r.must(err)
	return n.Text
}

// Who may read what: a person's own notes in their own conversation alone, a channel's in the channel, nothing shared where guests read along.
func TestRooms(t *testing.T) {
	t.Parallel()
	where := chat.Conversation{Workspace: "test:1", Channel: "c", Thread: "t"}
	dm := memory.Room{Conversation: where, Direct: true, Person: "ann", Askers: []string{"ann"}}
	channel := memory.Room{Conversation: where, Person: "ann", Askers: []string{"ann"}}
	for _, tc := range []struct {
		name  string
		room  memory.Room
		root  memory.Root
		want  memory.Place
		fails string
	}{
		{"one's own in one's own conversation", dm, memory.User, "person/ann", ""},
		{"one's own in a channel", channel, memory.User, "", "others read this conversation"},
		{"one's own when several ask", memory.Room{Direct: true, Person: "ann", Askers: []string{"ann", "bob"}}, memory.User, "", "several people"},
		{"nobody's own", memory.Room{Direct: true}, memory.User, "", "nobody is there"},
		{"the channel's in the channel", channel, memory.Channel, "channel/test:1/c", ""},
		{"the channel's in another thread", memory.Room{Conversation: chat.Conversation{Workspace: "test:1", Channel: "c", Thread: "u"}}, memory.Channel, "channel/test:1/c", ""},
		{"the channel's with guests", memory.Room{Conversation: where, Mixed: true}, memory.Channel, "", "guests"},
		{"a channel's in a direct conversation", dm, memory.Channel, "", "no channel"},
		{"shared in a channel", channel, memory.Shared, "workspace/test:1", ""},
		{"shared in a direct conversation", dm, memory.Shared, "workspace/test:1", ""},
		{"shared with guests", memory.Room{Conversation: where, Mixed: true}, memory.Shared, "", "guests"},
		{"shared for a guest alone", memory.Room{Conversation: where, Direct: true, Mixed: true, Person: "ann"}, memory.Shared, "", "guests"},
		{"a guest's own", memory.Room{Conversation: where, Direct: true, Mixed: true, Person: "ann"}, memory.User, "person/ann", ""},
		{"no such root", dm, "other-memory", "", "no such"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			got, err := tc.room.Open(tc.root)
			if tc.fails == "" {
				if err != nil || got != tc.want {
					t.Errorf("got %q, %v; want %q", got, err, tc.want)
				}
				return
			}
			if !errors.Is(err, memory.ErrClosed) || !strings.Contains(err.Error(), tc.fails) || got != "" {
				t.Errorf("got %q, %v; want %q", got, err, tc.fails)
			}
		})
	}
}

func TestSplit(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		path string
		root memory.Root
		name string
		ok   bool
	}{
		{"user-memory/a.md", memory.User, "a.md", true},
		{"./shared-memory/people/a.md", memory.Shared, "people/a.md", true},
		{"channel-memory/", memory.Channel, "", true},
		{"channel-memory", memory.Channel, "", true},
		{"user-memory-secrets/a.md", "", "", false},
		{"data/user-memory/a.md", "", "", false},
		{"/user-memory/a.md", "", "", false},
		{"", "", "", false},
	} {
		root, name, ok := memory.Split(tc.path)
		if root != tc.root || name != tc.name || ok != tc.ok {
			t.Errorf("%q: %q %q %v", tc.path, root, name, ok)
		}
	}
}

func TestNames(t *testing.T) {
	t.Parallel()
	for name, fine := range map[string]bool{
		"a.md": true, "people/ada.md": true, "Öl.md": true, "a.b.md": true,
		"a": false, "a.txt": false, ".md": false, "x/.md": false, "../a.md": false, "a/../b.md": false, "a//b.md": false, "/a.md": false,
		".hidden.md": false, "a b.md": false, "a\nb.md": false, "a|b.md": false, "a\x00.md": false, "": false, "a\\b.md": false, strings.Repeat("a", 200) + ".md": false, "\xff.md": false,
	} {
		if err := memory.CheckName(name); (err == nil) != fine || err != nil && !errors.Is(err, memory.ErrName) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// A save is complete: the note, its line of the index, one line of the log. A change adds a line to the log and none to the index.
func TestASaveIsComplete(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.Of("p-ada")
	r.must(r.write(memory.User, pl, ada, "tea.md", "# Tea\n\nAda likes tea\n"))
	r.must(r.write(memory.User, pl, ada, "tea.md", "# Tea\n\nAda likes green tea\n"))
	r.must(r.write(memory.User, pl, ada, "people/bob.md", "Bob | a colleague, see tea.md\n"))
	r.must(r.write(memory.User, pl, ada, "tea.md", "# Tea\n\nAda likes green tea\n")) // nothing changed
	if d := cmp.Diff("- tea.md — Tea\n- people/bob.md — Bob | a colleague, see tea. md\n", r.text(pl, memory.Index)); d != "" {
		t.Errorf("index (-want +got)\n%s", d)
	}
	want := "2026-03-04 | ADD | Ada | tea.md | -\n2026-03-04 | UPDATE | Ada | tea.md | -\n2026-03-04 | ADD | Ada | people/bob.md | -\n"
	if d := cmp.Diff(want, r.text(pl, memory.Log)); d != "" {
		t.Errorf("log (-want +got)\n%s", d)
	}
	r.must(r.write(memory.User, pl, ada, "tea.md", ""))
	if _, err := r.Read(t.Context(), pl, "tea.md"); !errors.Is(err, memory.ErrNoNote) {
		t.Errorf("a removed note is read: %v", err)
	}
	if got := r.text(pl, memory.Index); strings.Contains(got, "- tea.md") {
		t.Errorf("the index still names the removed note: %q", got)
	}
	if got := r.text(pl, memory.Log); !strings.HasSuffix(got, "| SUPERSEDE | Ada | tea.md | removed\n") {
		t.Errorf("log: %q", got)
	}
}

func TestIndexLines(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]string{
		"- tea.md — Ada likes tea": "tea.md", "* [Tea](tea.md): x": "tea.md", "`people/a.md`": "people/a.md", "- user-memory/a.md x": "a.md", "1. see a.md.": "a.md",
		"# Notes": "", "": "", "no name here": "",
	} {
		got, ok := memory.Indexed(line)
		if got != want || ok != (want != "") {
			t.Errorf("%q: %q %v", line, got, ok)
		}
	}
	index := "# Notes\n- a.md — x\n- gone.md — y\n- user.md\n"
	names := []string{"user.md", "notifications.md", "c.md", "b.md", "a.md"}
	if d := cmp.Diff([]string{"b.md", "c.md"}, memory.Orphans(index, names)); d != "" {
		t.Errorf("orphans (-want +got)\n%s", d)
	}
	if d := cmp.Diff([]string{"- gone.md — y"}, memory.Broken(index, names)); d != "" {
		t.Errorf("broken lines (-want +got)\n%s", d)
	}
	if got := memory.Link("- a.md — mine", "a.md", "other"); got != "- a.md — mine" {
		t.Errorf("a line that somebody wrote became %q", got)
	}
	if got := memory.Link("x", "b.md", "\n## Head\n"); got != "x\n- b.md — Head\n" {
		t.Errorf("got %q", got)
	}
}

func TestLinesOfTheLog(t *testing.T) {
	t.Parallel()
	c, err := memory.ParseChange(" 2026-03-04 | CLAIM | Bob | tea.md | says coffee ")
	want := memory.Change{At: time.Date(2026, 3, 4, 0, 0, 0, 0, time.UTC), Verb: memory.Claimed, Who: "Bob", Path: "tea.md", Why: "says coffee"}
	if err != nil || c != want {
		t.Errorf("got %+v %v", c, err)
	}
	if got := (memory.Change{At: day, Verb: memory.Added, Who: "Eve\n2026-01-01 | CLAIM", Path: "a|b", Why: ""}).String(); got != "2026-03-04 | ADD | Eve 2026-01-01 / CLAIM | a/b | -" {
		t.Errorf("a value broke out of its cell: %q", got)
	}
	for _, bad := range []string{"", "x", "2026-03-04 | ADD | a | b", "2026-13-04 | ADD | a | b | c", "2026-03-04 | REMOVE | a | b | c", "2026-03-04 | ADD |  | b | c", "2026-03-04 | ADD | a |  | c", "2026-03-04|ADD|a|b|c|d"} {
		if _, err := memory.ParseChange(bad); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// The log is appended to, with the true date and author, and says nothing twice.
func TestTheLogIsAppendOnly(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.OfWorkspace("test:1")
	if err := r.write(memory.Shared, pl, ada, memory.Log, "nothing"); !errors.Is(err, memory.ErrAppendOnly) {
		t.Errorf("the log was overwritten: %v", err)
	}
	w := bob
	w.Call = "c1"
	for line, want := range map[string]bool{"2020-01-01 | CLAIM | Ada | tea.md | Bob says coffee": true, "2026-03-04 | ADD | Bob | tea.md | again": false} {
		if got, err := r.Append(t.Context(), pl, w, line); err != nil || got != want {
			t.Errorf("%q: %v %v", line, got, err)
		}
	}
	if got := r.text(pl, memory.Log); got != "2026-03-04 | CLAIM | Bob | tea.md | Bob says coffee\n" {
		t.Errorf("log: %q", got)
	}
	if _, err := r.Append(t.Context(), pl, w, "free text"); err == nil {
		t.Error("a line of no form was taken")
	}
}

// Shared notes keep who said what: new lines are signed, nothing is erased, and only its author or an admin strikes a line through.
func TestSharedNotesKeepWhatWasSaid(t *testing.T) {
	t.Parallel()
	const first = "# Office\n\n- The door code is 12 — Ada, 2026-03-04\n"
	for _, tc := range []struct {
		name  string
		who   memory.Writer
		text  string
		want  string
		fails string
	}{
		{"another adds a line", bob, first + "- Lunch at noon\n", first + "- Lunch at noon — Bob, 2026-03-04\n", ""},
		{"a forged signature", bob, first + "- Lunch at noon — Ada, 2026-01-01\n", first + "- Lunch at noon — Bob, 2026-03-04\n", ""},
		{"the author strikes", ada, "# Office\n\n- ~~The door code is 12 — Ada, 2026-03-04~~\n- The door code is 34\n", "# Office\n\n- ~~The door code is 12 — Ada, 2026-03-04~~\n- The door code is 34 — Ada, 2026-03-04\n", ""},
		{"an admin strikes", root, "# Office\n\n- ~~The door code is 12~~ wrong\n", "# Office\n\n- ~~The door code is 12~~ wrong\n", ""},
		{"another strikes", bob, "# Office\n\n- ~~The door code is 12 — Ada, 2026-03-04~~\n- The door code is 34\n", "", "only who wrote a line"},
		{"another claims", bob, first + "- PENDING: the door code is 34\n", first + "- PENDING: the door code is 34 — Bob, 2026-03-04\n", ""},
		{"the author erases", ada, "# Office\n", "", "is gone"},
		{"another overwrites", bob, "# Office\n\n- The door code is 99\n", "", "is gone"},
		{"another removes all", bob, "", "", "is gone"},
		{"lines move", bob, "- The door code is 12 — Ada, 2026-03-04\n# Office\n", "- The door code is 12 — Ada, 2026-03-04\n# Office\n", ""},
		{"a name that looks like a signature", memory.Writer{Person: "p", Name: "Ada — x\n- y | z"}, first + "- hi\n", first + "- hi — Ada - x - y / z, 2026-03-04\n", ""},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r, pl := newRig(t, nil), memory.OfWorkspace("test:1")
			r.must(r.write(memory.Shared, pl, ada, "office.md", "# Office\n\n- The door code is 12\n"))
			err := r.write(memory.Shared, pl, tc.who, "office.md", tc.text)
			if tc.fails != "" {
				if !errors.Is(err, memory.ErrKept) || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("got %v, want %q", err, tc.fails)
				}
				tc.want = first
			} else if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tc.want, r.text(pl, "office.md")); d != "" {
				t.Errorf("(-want +got)\n%s", d)
			}
		})
	}
}

func TestStrikingSupersedes(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.OfWorkspace("test:1")
	r.must(r.write(memory.Shared, pl, ada, "a.md", "old\n"))
	r.must(r.write(memory.Shared, pl, ada, "a.md", "~~old — Ada, 2026-03-04~~\nnew\n"))
	// The author of a struck line stays its author: another still cannot unstrike it.
	if err := r.write(memory.Shared, pl, bob, "a.md", "old\nnew — Ada, 2026-03-04\n"); !errors.Is(err, memory.ErrKept) {
		t.Errorf("a struck line came back: %v", err)
	}
	if got := r.text(pl, memory.Log); !strings.HasSuffix(got, "| SUPERSEDE | Ada | a.md | -\n") {
		t.Errorf("log: %q", got)
	}
}

// Writers at once lose nothing: every note, every line of the index and of the log stands.
func TestNoLostUpdate(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.OfWorkspace("test:1")
	var wg sync.WaitGroup
	const writers = 8
	for i := range writers {
		wg.Go(func() {
			w := memory.Writer{Person: fmt.Sprint("p", i), Name: fmt.Sprint("W", i), Call: fmt.Sprint("c", i)}
			for {
				_, err := r.Change(t.Context(), memory.Shared, pl, w, "all.md", "", func(old memory.Note) (string, error) { return old.Text + fmt.Sprintf("line %d\n", i), nil })
				if err == nil {
					break
				}
				if !errors.Is(err, memory.ErrChanged) {
					t.Error(err)
					return
				}
			}
			w.Call += "b"
			for {
				_, err := r.Remember(t.Context(), memory.Shared, pl, w, fmt.Sprint("note of ", i))
				if err == nil {
					break
				}
				if !errors.Is(err, memory.ErrChanged) {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	all, index, log := r.text(pl, "all.md"), r.text(pl, memory.Index), r.text(pl, memory.Log)
	for i := range writers {
		if !strings.Contains(all, fmt.Sprintf("line %d — W%d", i, i)) || !strings.Contains(index, fmt.Sprintf("note of %d\n", i)) {
			t.Errorf("what writer %d wrote is lost", i)
		}
	}
	if got := strings.Count(log, "\n"); got != 2*writers {
		t.Errorf("%d lines in the log, want %d\n%s", got, 2*writers, log)
	}
}

// A change is made for the version that was read: the editor sees what stands, also after a lost race.
func TestAnEditIsDecidedAnew(t *testing.T) {
	t.Parallel()
	var r *rig
	raced := false
	r = newRig(t, fake.FaultFunc(func(c fake.Call) fake.Effect {
		if c.Commit != nil && !raced {
			raced = true
			r.must(r.write(memory.User, "person/p-ada", bob, "a.md", "first\n"))
		}
		return fake.Effect{}
	}))
	var saw []string
	w := ada
	w.Call = "slow"
	_, err := r.Change(t.Context(), memory.User, "person/p-ada", w, "a.md", "", func(old memory.Note) (string, error) {
		saw = append(saw, old.Text)
		return old.Text + "second\n", nil
	})
	r.must(err)
	if d := cmp.Diff([]string{"", "first\n"}, saw); d != "" {
		t.Errorf("seen (-want +got)\n%s", d)
	}
	if got := r.text("person/p-ada", "a.md"); got != "first\nsecond\n" {
		t.Errorf("got %q", got)
	}
}

func TestRememberOnce(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.Of("p-ada")
	w := ada
	w.Call = "the call"
	for range 2 {
		if _, err := r.Remember(t.Context(), memory.User, pl, w, " Ada likes tea "); err != nil {
			t.Fatal(err)
		}
	}
	all, err := r.List(t.Context(), pl)
	r.must(err)
	if len(all) != 1 || all[0].Text != "Ada likes tea\n" || strings.Count(r.text(pl, memory.Log), "\n") != 1 {
		t.Errorf("notes %+v, log %q", all, r.text(pl, memory.Log))
	}
	if got := memory.Orphans(r.text(pl, memory.Index), []string{all[0].Name}); got != nil {
		t.Errorf("orphans %v", got)
	}
}

func TestFind(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.Of("p-ada")
	for i, text := range []string{"Café at noon", "noon noon noon", "Nothing", "CAFÉ later", "Straße nach Łódź"} {
		r.must(r.write(memory.User, pl, ada, fmt.Sprintf("%d.md", i), text))
	}
	for _, tc := range []struct {
		words string
		limit int
		want  []string
	}{
		{"cafe", 10, []string{"CAFÉ later", "Café at noon"}},
		{"NOON", 10, []string{"noon noon noon", "Café at noon"}},
		{"noon café", 10, []string{"Café at noon"}},
		{"strasse", 10, []string{"Straße nach Łódź"}},
		{"3.md", 10, []string{"CAFÉ later"}},
		{"absent", 10, nil},
		{"", 2, []string{"Straße nach Łódź", "CAFÉ later"}},
	} {
		found, err := r.Find(t.Context(), pl, tc.words, tc.limit)
		r.must(err)
		var got []string
		for _, f := range found {
			got = append(got, f.Text)
		}
		if d := cmp.Diff(tc.want, got); d != "" {
			t.Errorf("%q (-want +got)\n%s", tc.words, d)
		}
	}
}

// A search sees every change at once, also one of another process.
func TestASearchIsNeverOld(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.Of("p-ada")
	other := memory.New(r.st, nil)
	for i := range 3 {
		r.must(r.write(memory.User, pl, ada, "a.md", fmt.Sprintf("word%d", i)))
		for range 2 {
			found, err := other.Find(t.Context(), pl, fmt.Sprintf("word%d", i), 10)
			if err != nil || len(found) != 1 {
				t.Fatalf("step %d: %v %v", i, found, err)
			}
		}
	}
	r.must(r.write(memory.User, pl, ada, "a.md", ""))
	if found, err := other.Find(t.Context(), pl, "word", 10); err != nil || len(found) != 0 {
		t.Errorf("a removed note is found: %v %v", found, err)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	r, pl := newRig(t, nil), memory.Of("p-ada")
	for name, text := range map[string]string{
		"long.md": strings.Repeat("a", memory.MaxRunes+1), memory.UserFile: strings.Repeat("a\n", memory.MaxUserLines+1),
		"bad.md": "a\x00b", "utf.md": "\xff", memory.Index: strings.Repeat("a", memory.MaxIndex+1),
	} {
		if err := r.write(memory.User, pl, ada, name, text); err == nil {
			t.Errorf("%s was kept", name)
		}
	}
	r.must(r.write(memory.User, pl, ada, memory.UserFile, strings.Repeat("a\n", memory.MaxUserLines)))
	fill(t, r.st, pl, memory.MaxNotes-1)
	if err := r.write(memory.User, pl, ada, "more.md", "a"); !errors.Is(err, memory.ErrFull) {
		t.Errorf("got %v, want the limit", err)
	}
	r.must(r.write(memory.User, pl, ada, memory.UserFile, "changed"))
}

// fill puts notes in the way in which they stand, many to a commit.
func fill(tb testing.TB, st store.Store, pl memory.Place, n int) {
	tb.Helper()
	for from := 0; from < n; from += 500 {
		c := store.Commit{ID: fmt.Sprint("fill", from), Partition: store.Partition(pl)}
		for i := from; i < min(from+500, n); i++ {
			name := fmt.Sprintf("filler/%05d.md", i)
			text := fmt.Sprintf("Note %d about the café on the corner and %s", i, strings.Repeat("some more words that a person would write ", 10))
			c.Ops = append(c.Ops, store.Put{Key: store.Key{Collection: "note", Name: name}, Value: fmt.Appendf(nil, `{"v":1,"id":%q,"text":%q,"by":"p-ada","at":"2026-03-04T12:00:00Z"}`, name, text)})
		}
		c.Ops = append(c.Ops, store.Append{Log: "notes", ID: c.ID, Kind: "ADD", Data: []byte(`{"v":1,"verb":"ADD","by":"p-ada","who":"Ada","path":"filler"}`)})
		if _, err := st.Commit(tb.Context(), c); err != nil {
			tb.Fatal(err)
		}
	}
}

// The footprint comes before the words.
func TestFootprintComesFirst(t *testing.T) {
	t.Parallel()
	st := fake.New(fake.Options{})
	var noted store.Partition
	n := memory.New(st, func(_ context.Context, person string, p store.Partition) error {
		noted = p
		return fmt.Errorf("no footprint for %s", person)
	})
	w := ada
	w.Call = "c"
	if _, err := n.Remember(t.Context(), memory.User, memory.Of("ann"), w, "a"); err == nil {
		t.Fatal("the note was kept without its footprint")
	}
	if _, err := n.Append(t.Context(), memory.Of("ann"), w, "2026-03-04 | LINT | Ada | a.md | x"); err == nil {
		t.Fatal("the line was kept without its footprint")
	}
	if noted != "person/ann" {
		t.Errorf("noted %q", noted)
	}
	if as, _ := st.Read(t.Context(), store.List{Partition: "person/ann", Collection: "note"}); len(as[0].Docs) != 0 {
		t.Error("the note was kept without its footprint")
	}
}

// 5,000 notes of some 460 bytes: the first search reads them all, the next ones only look whether anything changed.
func BenchmarkFind(b *testing.B) {
	st := fake.New(fake.Options{})
	pl := memory.Of("p-ada")
	fill(b, st, pl, 5000)
	b.Run("cold", func(b *testing.B) {
		for b.Loop() {
			if found, err := memory.New(st, nil).Find(b.Context(), pl, "cafe corner 4999", 10); err != nil || len(found) != 1 {
				b.Fatal(found, err)
			}
		}
	})
	b.Run("warm", func(b *testing.B) {
		n := memory.New(st, nil)
		for b.Loop() {
			if found, err := n.Find(b.Context(), pl, "cafe corner 4999", 10); err != nil || len(found) != 1 {
				b.Fatal(found, err)
			}
		}
	})
}
