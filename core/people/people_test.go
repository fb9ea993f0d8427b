package people_test

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
)

var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	ada   = chat.Sender{Identity: "test:w/ada", Name: "Ada"}
)

const where = store.Partition("conversation/test:w/C1/T1")

// rig is a store with a clock that the test moves, looked at through a handle of its own.
type rig struct {
	*people.People
	t    *testing.T
	used *memory.Store
	ms   atomic.Int64
}

func newRig(t *testing.T, faults memory.FaultFunc) *rig {
	t.Helper()
	r := &rig{t: t}
	r.ms.Store(start.UnixMilli())
	seen := memory.New(memory.Options{Clock: func() time.Time { return time.UnixMilli(r.ms.Load()) }})
	o := memory.Options{}
	if faults != nil {
		o.Faults = faults
	}
	r.used = seen.Attach(o)
	r.People = people.New(r.used)
	return r
}

func (r *rig) advance(d time.Duration) { r.ms.Add(d.Milliseconds()) }

// commits is how many commits f makes.
func (r *rig) commits(f func()) int64 {
	before := r.used.Stats().Commits
	f()
	return r.used.Stats().Commits - before
}

func (r *rig) resolve(l people.Lookup, event string) people.Person {
	r.t.Helper()
	p, err := r.Resolve(r.t.Context(), l, event)
	if err != nil {
		r.t.Fatalf("Resolve: %v", err)
	}
	return p
}

func read(t *testing.T, s store.Store, p store.Partition, k store.Key) string {
	t.Helper()
	answers, err := s.Read(t.Context(), store.Get{Partition: p, Key: k})
	if err != nil {
		t.Fatal(err)
	}
	doc, ok := answers[0].Doc()
	if !ok {
		t.Fatalf("%s has no %s/%s", p, k.Collection, k.Name)
	}
	return string(doc.Value)
}

func footprint(t *testing.T, s store.Store, person string, at store.Partition) (time.Time, bool) {
	t.Helper()
	answers, err := s.Read(t.Context(), store.ScoreOf{Partition: people.PersonPartition(person), Index: people.Footprint, Member: string(at)})
	if err != nil {
		t.Fatal(err)
	}
	if len(answers[0].Scored) == 0 {
		return time.Time{}, false
	}
	return time.UnixMilli(int64(answers[0].Scored[0].Score)).UTC(), true
}

func TestFirstContactMakesIdentityPersonAndFootprint(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	p := r.resolve(people.Lookup{Sender: ada, Where: where}, "e1")
	id := people.PersonOf(ada.Identity)
	if diff := cmp.Diff(people.Person{ID: id, Name: "Ada", Identity: ada.Identity}, p); diff != "" {
		t.Errorf("person (-want +got):\n%s", diff)
	}
	want := fmt.Sprintf(`{"v":1,"identity":"test:w/ada","person":%q,"name":"Ada","first_seen":"2026-03-01T12:00:00Z"}`, id)
	if got := read(t, r.used, people.IdentityPartition(ada.Identity), people.IdentityKey); got != want {
		t.Errorf("identity = %s\nwant %s", got, want)
	}
	want = fmt.Sprintf(`{"v":1,"id":%q,"name":"Ada","identities":["test:w/ada"],"first_seen":"2026-03-01T12:00:00Z"}`, id)
	if got := read(t, r.used, people.PersonPartition(id), people.PersonKey); got != want {
		t.Errorf("person = %s\nwant %s", got, want)
	}
	if at, ok := footprint(t, r.used, id, where); !ok || !at.Equal(start) {
		t.Errorf("footprint at %v, %v; want %v", at, ok, start)
	}
}

func TestBusyPersonCostsNoWrite(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := people.Lookup{Sender: ada, Where: where}
	r.resolve(l, "e0")
	for _, step := range []struct {
		name  string
		later time.Duration
		where store.Partition
		want  int64
	}{
		{"at once", 0, where, 0},
		{"within the hour", people.NoteEvery - time.Millisecond, where, 0},
		{"after an hour", time.Millisecond, where, 1},
		{"and again at once", 0, where, 0},
		{"somewhere else", 0, where + "2", 1},
	} {
		r.advance(step.later)
		l.Where = step.where
		if got := r.commits(func() { r.resolve(l, step.name) }); got != step.want {
			t.Errorf("%s: %d commits, want %d", step.name, got, step.want)
		}
		if at, ok := footprint(t, r.used, people.PersonOf(ada.Identity), step.where); !ok || r.ms.Load()-at.UnixMilli() >= people.NoteEvery.Milliseconds() {
			t.Errorf("%s: the footprint is of %v, %v", step.name, at, ok)
		}
	}
}

// An identity keeps the person that it names, also when that is not the one that a new identity would name.
func TestIdentityNamesItsPerson(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	_, err := r.used.Commit(t.Context(), store.Commit{ID: "link", Partition: people.IdentityPartition(ada.Identity), Ops: []store.Op{
		store.Put{Key: people.IdentityKey, Value: []byte(`{"v":1,"identity":"test:w/ada","person":"p-linked"}`)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	// The person that a new identity would name was here a moment ago.
	_, err = r.used.Commit(t.Context(), store.Commit{ID: "note", Partition: people.PersonPartition(people.PersonOf(ada.Identity)), Ops: []store.Op{
		store.ScoreNow{Index: people.Footprint, Member: string(where)},
	}})
	if err != nil {
		t.Fatal(err)
	}
	l := people.Lookup{Sender: ada, Where: where}
	if p := r.resolve(l, "e1"); p.ID != "p-linked" {
		t.Errorf("person = %s, want the linked one", p.ID)
	}
	if _, ok := footprint(t, r.used, "p-linked", where); !ok {
		t.Error("the linked person has no footprint")
	}
	if got := r.commits(func() { r.resolve(l, "e2") }); got != 0 {
		t.Errorf("a linked person's second message made %d commits", got)
	}
}

// A crash between identity and person leaves a name without a person; whoever comes next makes it.
func TestPersonIsMadeAfterACrash(t *testing.T) {
	t.Parallel()
	for at := int64(1); at <= 4; at++ {
		for _, effect := range []memory.Effect{{Before: memory.Unavailable("before")}, {After: memory.Unavailable("after")}} {
			r := newRig(t, func(c memory.Call) memory.Effect {
				if c.N == at {
					return effect
				}
				return memory.Effect{}
			})
			l := people.Lookup{Sender: ada, Where: where}
			if _, err := r.Resolve(t.Context(), l, "e1"); !errors.Is(err, store.ErrUnavailable) {
				t.Fatalf("call %d: %v, want the outage", at, err)
			}
			p := r.resolve(l, "e2")
			if _, ok := footprint(t, r.used, p.ID, where); !ok {
				t.Errorf("call %d, %+v: no footprint", at, effect)
			}
			read(t, r.used, people.PersonPartition(p.ID), people.PersonKey)
		}
	}
}

// Another writer lands between the read and the commit: the identity that stands first names the person, and nothing of the person is lost.
func TestWritersThatRace(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		p     store.Partition
		k     store.Key
		value string
		want  string
	}{
		{"identity", people.IdentityPartition(ada.Identity), people.IdentityKey, `{"v":1,"person":"p-linked"}`, `"p-linked"`},
		{
			"person", people.PersonPartition(people.PersonOf(ada.Identity)), people.PersonKey, `{"v":1,"id":"p","identities":["other:w/ada"]}`,
			`"identities":["other:w/ada","test:w/ada"]`,
		},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var r *rig
			done := false
			r = newRig(t, func(c memory.Call) memory.Effect {
				if c.Commit != nil && c.Commit.Partition == tc.p && !done {
					done = true
					_, err := r.used.Commit(t.Context(), store.Commit{ID: "other", Partition: tc.p, Ops: []store.Op{store.Put{Key: tc.k, Value: []byte(tc.value)}}})
					if err != nil {
						t.Error(err)
					}
				}
				return memory.Effect{}
			})
			r.resolve(people.Lookup{Sender: ada, Where: where}, "e1")
			if got := read(t, r.used, tc.p, tc.k); !done || !strings.Contains(got, tc.want) {
				t.Errorf("it says %s, want %s in it", got, tc.want)
			}
		})
	}
}

func TestManyMeetAPersonAtOnce(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	var wg sync.WaitGroup
	for n := range 20 {
		wg.Go(func() {
			l := people.Lookup{Sender: ada, Where: store.Partition(fmt.Sprintf("conversation/%d", n))}
			if p := r.resolve(l, fmt.Sprint(n)); p.ID != people.PersonOf(ada.Identity) {
				t.Errorf("person = %s", p.ID)
			}
		})
	}
	wg.Wait()
	for n := range 20 {
		if _, ok := footprint(t, r.used, people.PersonOf(ada.Identity), store.Partition(fmt.Sprintf("conversation/%d", n))); !ok {
			t.Errorf("the footprint of %d is lost", n)
		}
	}
}

func TestNameFollowsThePlatform(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	r.resolve(people.Lookup{Sender: ada, Where: where}, "e1")
	r.advance(people.NoteEvery)
	r.resolve(people.Lookup{Sender: chat.Sender{Identity: ada.Identity, Name: "Ada L."}, Where: where}, "e2")
	id := people.PersonOf(ada.Identity)
	for person, want := range map[string]string{id: "Ada L.", "p-nobody": "p-nobody"} {
		got, err := r.Name(t.Context(), person)
		if err != nil || got != want {
			t.Errorf("Name(%s) = %q, %v; want %q", person, got, err, want)
		}
	}
}

func TestRoleIsReadNow(t *testing.T) {
	t.Parallel()
	r := newRig(t, nil)
	l := people.Lookup{Sender: ada, Where: where, Role: true}
	for n, tc := range []struct {
		admins []chat.IdentityID
		want   people.Role
		writes int64
	}{
		{nil, people.Member, 1},
		{nil, people.Member, 0},
		{[]chat.IdentityID{"test:w/bob", ada.Identity, ada.Identity}, people.Admin, 1},
		{[]chat.IdentityID{ada.Identity, "test:w/bob"}, people.Admin, 0},
		{[]chat.IdentityID{"test:w/bob"}, people.Member, 1},
	} {
		writes := r.commits(func() {
			if err := r.SyncAdmins(t.Context(), fmt.Sprint("sync", n), tc.admins); err != nil {
				t.Fatal(err)
			}
		})
		if writes != tc.writes {
			t.Errorf("step %d: %d commits, want %d", n, writes, tc.writes)
		}
		p := r.resolve(l, fmt.Sprint(n))
		if p.Role != tc.want {
			t.Errorf("step %d: role %q, want %q", n, p.Role, tc.want)
		}
		if admin, err := r.IsAdmin(t.Context(), p.ID); err != nil || admin != (tc.want == people.Admin) {
			t.Errorf("step %d: IsAdmin = %v, %v; the role is %s", n, admin, err, tc.want)
		}
	}
	if admin, err := r.IsAdmin(t.Context(), "p-nobody"); err != nil || admin {
		t.Errorf("nobody is an admin: %v, %v", admin, err)
	}
	l.Role = false
	if p := r.resolve(l, "no role"); p.Role != "" {
		t.Errorf("a lookup that did not ask got the role %q", p.Role)
	}
}

// A role that limits holds for all accounts of a person, and the role admin does too.
func TestRoleOfAPerson(t *testing.T) {
	t.Parallel()
	admins := people.Admins{Identities: []chat.IdentityID{"a:1"}, Roles: map[chat.IdentityID]people.Role{"a:2": people.Restricted, "a:3": "child", "a:4": "guest", "a:1": people.Restricted}}
	for _, tc := range []struct {
		ids  []chat.IdentityID
		want people.Role
	}{
		{nil, people.Member},
		{[]chat.IdentityID{"a:9"}, people.Member},
		{[]chat.IdentityID{"a:9", "a:3"}, "child"},
		{[]chat.IdentityID{"a:4", "a:3"}, "child"},
		{[]chat.IdentityID{"a:3", "a:4"}, "child"},
		{[]chat.IdentityID{"a:3", "a:2"}, people.Restricted},
		{[]chat.IdentityID{"a:2", "a:3", "a:9"}, people.Restricted},
		{[]chat.IdentityID{"a:2", "a:1"}, people.Admin},
	} {
		if got := admins.RoleOfAll(tc.ids); got != tc.want {
			t.Errorf("%v: %q, want %q", tc.ids, got, tc.want)
		}
	}
	r := newRig(t, nil)
	p := r.resolve(people.Lookup{Sender: ada, Where: where}, "e1")
	for n, want := range []people.Role{people.Restricted, people.Member} {
		roles := map[chat.IdentityID]people.Role{}
		if want != people.Member {
			roles[ada.Identity] = want
		}
		for again := range 2 {
			writes := r.commits(func() {
				if err := r.SyncRoles(t.Context(), fmt.Sprint(n, again), nil, roles); err != nil {
					t.Fatal(err)
				}
			})
			if writes != int64(1-again) {
				t.Errorf("step %d: %d commits", n, writes)
			}
		}
		if got, err := r.Role(t.Context(), p.ID); err != nil || got != want {
			t.Errorf("Role = %q, %v; want %q", got, err, want)
		}
		if got := r.resolve(people.Lookup{Sender: ada, Where: where, Role: true}, fmt.Sprint("l", n)).Role; got != want {
			t.Errorf("the lookup says %q, want %q", got, want)
		}
	}
}

func TestRolesCoverEachOther(t *testing.T) {
	t.Parallel()
	order := []people.Role{people.Restricted, people.Member, people.Admin}
	for i, r := range order {
		for j, least := range order {
			if got := r.Covers(least); got != (i >= j) {
				t.Errorf("%s covers %s: %v", r, least, got)
			}
		}
	}
	if people.Role("wizard").Covers(people.Member) {
		t.Error("an unknown role covers member")
	}
}

func TestNewerDocuments(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name string
		p    store.Partition
		k    store.Key
	}{
		{"identity", people.IdentityPartition(ada.Identity), people.IdentityKey},
		{"person", people.PersonPartition(people.PersonOf(ada.Identity)), people.PersonKey},
		{"admins", people.System, people.AdminsKey},
	} {
		for value, want := range map[string]error{`{"v":2}`: people.ErrNewer, `{"v":`: nil} {
			r := newRig(t, nil)
			_, err := r.used.Commit(t.Context(), store.Commit{ID: "newer", Partition: tc.p, Ops: []store.Op{store.Put{Key: tc.k, Value: []byte(value)}}})
			if err != nil {
				t.Fatal(err)
			}
			_, err = r.Resolve(t.Context(), people.Lookup{Sender: ada, Where: where, Role: true}, "e1")
			if err == nil || want != nil && !errors.Is(err, want) {
				t.Errorf("%s %s: %v, want %v", tc.name, value, err, want)
			}
		}
	}
}

// Ids of platforms become names of partitions: every one must be a partition of its own.
func TestPartitionsOfStrangeIDs(t *testing.T) {
	t.Parallel()
	seen := map[store.Partition]chat.IdentityID{}
	for _, id := range []chat.IdentityID{"a", "a/b", "a#b", "a b", "a%2Fb", "a\nb", "ä", "test:w/U1"} {
		p := people.IdentityPartition(id)
		if other, ok := seen[p]; ok {
			t.Errorf("%q and %q share %s", id, other, p)
		}
		seen[p] = id
		if err := store.CheckQueries([]store.Query{store.Get{Partition: p, Key: people.IdentityKey}}); err != nil {
			t.Errorf("%q: %v", id, err)
		}
	}
}
