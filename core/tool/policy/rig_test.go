package policy_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"path/filepath"
	"sync/atomic"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/store/redis"
	"herald/core/store/redis/redistest"
	"herald/core/store/sqlite"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/policy"
)

var (
	start = time.Date(2026, 12, 1, 12, 0, 0, 0, time.UTC)
	place = chat.Conversation{Workspace: "test:w", Channel: "c", Thread: "1"}
	part  = conversation.Partition(place)
)

// rig is a keeper over a store with a clock that tests move.
type rig struct {
	*testing.T
	store store.Store
	now   *atomic.Int64
	file  []gate.Rule
	roles gate.Roles
	role  map[string]string
	names int
	// admins are the persons who are admins now; single is the setting.
	admins map[string]bool
	single bool
	fails  error
}

func (r *rig) clock() time.Time { return time.UnixMilli(r.now.Load()).UTC() }

func (r *rig) pass(d time.Duration) { r.now.Add(d.Milliseconds()) }

// everyStore runs f on each kind of store.
func everyStore(t *testing.T, f func(t *testing.T, open func(t *testing.T) *rig)) {
	t.Helper()
	server := redistest.Run(t, redistest.Options{})
	var databases atomic.Int64
	kinds := map[string]func(t *testing.T, clock func() time.Time) (store.Store, error){
		"memory": func(_ *testing.T, clock func() time.Time) (store.Store, error) {
			return memory.New(memory.Options{Clock: clock}), nil
		},
		"sqlite": func(t *testing.T, clock func() time.Time) (store.Store, error) {
			return sqlite.Open(t.Context(), sqlite.Options{Path: filepath.Join(t.TempDir(), "h.db"), Create: true, Clock: clock})
		},
		"redis": func(t *testing.T, clock func() time.Time) (store.Store, error) {
			return redis.Open(context.Background(), redis.Options{URL: fmt.Sprintf("%s/%d", server.URL(), databases.Add(1)-1), Create: true, Clock: clock})
		},
	}
	for name, open := range kinds {
		t.Run(name, func(t *testing.T) {
			f(t, func(t *testing.T) *rig { return newRig(t, open) })
		})
	}
}

func inMemory(t *testing.T) *rig {
	return newRig(t, func(_ *testing.T, clock func() time.Time) (store.Store, error) {
		return memory.New(memory.Options{Clock: clock}), nil
	})
}

func newRig(t *testing.T, open func(t *testing.T, clock func() time.Time) (store.Store, error)) *rig {
	t.Helper()
	r := &rig{T: t, now: new(atomic.Int64), roles: gate.Roles{"admin": {Admin: true}, "member": {}}, role: map[string]string{}, admins: map[string]bool{}}
	r.now.Store(start.UnixMilli())
	s, err := open(t, r.clock)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	r.store = s
	return r
}

func (r *rig) keeper() *policy.Keeper {
	return policy.New(policy.Options{
		Store: r.store, File: func() []gate.Rule { return r.file }, Roles: func() gate.Roles { return r.roles },
		Role:  func(_ context.Context, p string) (string, error) { return r.role[p], r.fails },
		Admin: func(_ context.Context, p string) (bool, error) { return r.admins[p], r.fails },
		Name:  func(_ context.Context, p string) (string, error) { return "<" + p + ">", nil },
		Clock: r.clock, Log: slog.New(slog.DiscardHandler), SingleOperator: func() bool { return r.single },
	})
}

func (r *rig) book() *policy.Book {
	return policy.NewBook(r.store, func() []gate.Rule { return r.file })
}

// open is the gate of a claim.
func (r *rig) open() tool.Gate {
	r.Helper()
	k := r.keeper()
	as, err := r.store.Read(r.Context(), k.Queries(part)...)
	if err != nil {
		r.Fatal(err)
	}
	return k.Open(part, as)
}

// call is a call of Ann's.
func call(name string) tool.Call {
	return tool.Call{
		Scope: tool.Scope{Agent: "main", Session: "s1", Turn: "t1", Person: "ann", Askers: []string{"ann"}, Conversation: place},
		ID:    "c", Name: name, Arguments: json.RawMessage(`{}`),
	}
}

// answer is what the gate says of a call now.
func (r *rig) answer(c tool.Call) tool.Decision {
	r.Helper()
	return tool.Ask(r.Context(), r.open(), c)
}

func (r *rig) add(id string, rule gate.Rule) gate.Rule {
	r.Helper()
	rule, err := r.book().Add(r.Context(), policy.Actor{Person: "eve", Event: id}, rule)
	if err != nil {
		r.Fatal(err)
	}
	return rule
}

func (r *rig) put(p store.Partition, k store.Key, v any) {
	r.Helper()
	r.names++
	b, err := json.Marshal(v)
	if err != nil {
		r.Fatal(err)
	}
	_, err = r.store.Commit(r.Context(), store.Commit{ID: fmt.Sprint("put", r.names), Partition: p, Ops: []store.Op{store.Put{Key: k, Value: b}}})
	if err != nil {
		r.Fatal(err)
	}
}

func (r *rig) bypass(bs ...conversation.Bypass) {
	r.Helper()
	r.put(part, conversation.BypassKey, conversation.Bypasses{V: 1, List: bs})
}

// audit are the rows of the log of changes.
func (r *rig) audit() []string {
	r.Helper()
	as, err := r.store.Read(r.Context(), store.Range{Partition: people.System, Log: policy.Audit})
	if err != nil {
		r.Fatal(err)
	}
	var out []string
	for _, e := range as[0].Entries {
		var c policy.Change
		if err := json.Unmarshal(e.Data, &c); err != nil {
			r.Fatal(err)
		}
		row := e.Kind + " by " + c.By
		for _, rule := range c.Rules {
			row += " " + rule.ID
		}
		out = append(out, row)
	}
	return out
}

func ruleOf(pattern string, a tool.Answer) gate.Rule {
	return gate.Rule{Tool: pattern, Action: a, Priority: gate.DefaultPriority}
}

func fileRule(n int, pattern string, a tool.Answer) gate.Rule {
	r := ruleOf(pattern, a)
	r.ID = gate.FileID(n)
	return r
}
