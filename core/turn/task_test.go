package turn_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/people"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/tool"
	"herald/core/tool/stack"
	"herald/core/turn"
	"herald/core/worker"
)

// office is a team whose tasks run beside its turns, and whose processes can be killed at any commit.
type office struct {
	*team
	clock time.Time
	// kill is asked at each commit of a process: before it, and after it stands.
	kill func() bool
	// ids counts what processes draw.
	ids int
}

type killed struct{}

func (killed) Crash() {}

// mortal is the store as a process that can be killed sees it.
type mortal struct {
	store.Store
	o *office
}

func (m mortal) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if m.o.kill() {
		panic(killed{})
	}
	res, err := m.Store.Commit(ctx, c)
	if m.o.kill() {
		panic(killed{})
	}
	return res, err
}

func newOffice(t *testing.T, agents map[string]prompt.Agent, rules ...modeltest.Rule) *office {
	t.Helper()
	o := &office{team: newTeam(t, agents, rules...), clock: time.Date(2026, 3, 4, 5, 6, 7, 0, time.UTC), kill: func() bool { return false }}
	o.store = memory.New(memory.Options{Clock: func() time.Time { return o.clock }})
	o.opts.Store, o.opts.Clock, o.opts.Spawn, o.opts.MaxAttempts = mortal{o.store, o}, func() time.Time { return o.clock }, nil, 1_000_000
	o.opts.NewID = func() string { o.ids++; return fmt.Sprint("id", o.ids) }
	o.opts.Sources = []tool.Source{stack.New(stack.Options{
		Agents: o.team, Groups: o.opts.Tools.Groups, Resolve: func(prompt.Agent) error { return nil }, Async: true,
	})}
	return o
}

// live lets processes work until nothing is due; a killed one is followed by another after the end of its leases.
func (o *office) live() {
	o.t.Helper()
	for range 200_000 {
		if !o.step() && !o.wait() {
			return
		}
	}
	o.t.Fatal("there is no end of what is due")
}

// soon is how far ahead live waits for what is put off; what waits for a person waits longer.
const soon = 10 * time.Minute

// wait lets the time pass until something that was put off is due; false when nothing is due soon.
func (o *office) wait() bool {
	o.t.Helper()
	var next time.Time
	for _, agenda := range []store.Agenda{store.Turns, store.Handover} {
		at, now, ok, err := o.store.Due(o.t.Context(), agenda)
		if err != nil {
			o.t.Fatal(err)
		}
		if ok && at.Sub(now) < soon && (next.IsZero() || at.Before(next)) {
			next = at
		}
	}
	if next.IsZero() {
		return false
	}
	if next.After(o.clock) {
		o.clock = next
	}
	return true
}

// step works on one claim of each agenda; false when there was none.
func (o *office) step() (worked bool) {
	defer func() {
		if r := recover(); r != nil {
			if _, ok := r.(killed); !ok {
				panic(r)
			}
			o.clock = o.clock.Add(2 * time.Minute)
			worked = true
		}
	}()
	opts := o.opts
	opts.Outbox = out{o.rig}
	st := opts.Store
	hands, err := handover.NewWorker(handover.Options{
		Store: st, NewID: o.opts.NewID, Random: func() float64 { return 0.5 }, MaxAttempts: 1_000_000,
		Takers: map[string]handover.Taker{
			conversation.TaskKind: handover.Tasks{Store: st}, conversation.TaskResultKind: handover.Tasks{Store: st},
			conversation.CopyKind: handover.Copies{Store: st}, conversation.CopyEndKind: handover.Copies{Store: st},
		},
	}, worker.Options{Holder: "h"})
	if err != nil {
		o.t.Fatal(err)
	}
	o.ids++
	holder := fmt.Sprint("p", o.ids)
	for agenda, h := range map[store.Agenda]worker.Handler{store.Turns: turn.New(opts).Handle, store.Handover: hands.Handle} {
		cs, err := o.store.Claim(o.t.Context(), store.ClaimRequest{Agenda: agenda, Holder: holder, Lease: time.Minute, Limit: 1})
		if err != nil {
			o.t.Fatal(err)
		}
		for _, c := range cs {
			worked = true
			if err := h(o.t.Context(), c, nil); err != nil && !errors.Is(err, store.ErrFenced) {
				o.t.Fatalf("%s: %v", c.Member, err)
			}
		}
	}
	return worked
}

// tasks are the documents of the tasks that the conversation began.
func (o *office) tasks() (out []conversation.TaskDoc) {
	o.t.Helper()
	as, err := o.store.Read(o.t.Context(), store.List{Partition: o.part, Collection: conversation.Tasks})
	if err != nil {
		o.t.Fatal(err)
	}
	for _, doc := range as[0].Docs {
		var d conversation.TaskDoc
		if err := conversation.Decode(doc, &d); err != nil {
			o.t.Fatal(err)
		}
		out = append(out, d)
	}
	return out
}

func async(n int) modeltest.Call {
	return modeltest.Call{Name: "execute_task", Arguments: fmt.Sprintf(`{"mode":"async","agent_id":"helper","prompt":"job %d.","title":"Job %d"}`, n, n)}
}

// boss gives a task away at "go", tells at once that it has begun, and passes a result on.
func boss(q *model.Request) modeltest.Reply {
	last := q.Messages[len(q.Messages)-1]
	switch {
	case last.Role == model.Tool:
		return modeltest.Say("begun")
	case strings.Contains(last.Text, "What it came to follows"):
		_, text, _ := strings.Cut(last.Text, "</note>\n")
		return modeltest.Say("heard: " + strings.Split(text, "\n")[0])
	case strings.Contains(last.Text, "go"):
		return modeltest.Reply{Calls: []modeltest.Call{async(1)}}
	}
	return modeltest.Say("hello")
}

func TestATaskBesideTheTurn(t *testing.T) {
	t.Parallel()
	agents := map[string]prompt.Agent{"main": {Type: "chat"}, "helper": {Type: "task"}}
	for _, tc := range []struct {
		name   string
		helper func(q *model.Request) modeltest.Reply
		broken bool
		want   string
		status session.Status
	}{
		{"is done", say("the sum is 4"), false, "heard: the sum is 4", session.Done},
		{"fails", say(""), true, "heard: I cannot answer: no usable model is configured. An admin must name one.", session.Errored},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			o := newOffice(t, agents, as("main", boss), as("helper", tc.helper))
			if tc.broken {
				o.broken = "helper"
			}
			o.say("1", "ann", "go")
			o.live()
			if d := cmp.Diff([]string{"answer [1] begun", "answer [] " + tc.want}, o.said()); d != "" {
				t.Errorf("said (-want +got)\n%s", d)
			}
			if ts := o.tasks(); len(ts) != 1 || ts[0].State != conversation.TaskLanded || ts[0].Status != tc.status {
				t.Errorf("tasks %+v", ts)
			}
			o.foldAgrees()
		})
	}
}

// A task has no more than who gave it away: its agent may not give further tasks away beside it, and what is denied to its caller is denied to it.
func TestTheRightsOfATask(t *testing.T) {
	t.Parallel()
	agents := map[string]prompt.Agent{"main": {Type: "chat"}, "helper": {Type: "task"}, "other": {Type: "task"}}
	seen := ""
	o := newOffice(t, agents, as("main", boss), as("helper", func(q *model.Request) modeltest.Reply {
		seen = shown(q)
		return once(modeltest.Call{Name: "act", Arguments: `{}`})(q)
	}))
	o.opts.Gate = perAgent{"main": "act"}
	o.say("1", "ann", "go")
	o.live()
	if strings.Contains(seen, "execute_task") || !strings.Contains(seen, "execute_subtask") {
		t.Errorf("the task's agent is shown %s", seen)
	}
	if got := o.said(); len(got) != 2 || !strings.Contains(got[1], "A rule of this installation denies this call") {
		t.Errorf("said %q", got)
	}
}

// What a task asks is asked in the conversation that began it, and decided there for the task.
func TestATaskAsks(t *testing.T) {
	t.Parallel()
	agents := map[string]prompt.Agent{"main": {Type: "chat"}, "helper": {Type: "task"}}
	o := newOffice(t, agents, as("main", boss), as("helper", once(modeltest.Call{Name: "danger", Arguments: `{}`})))
	o.caps = chat.Capabilities{Cards: true}
	o.say("1", "ann", "go")
	o.live()
	got := o.said()
	if len(got) != 2 || got[1] != "ask [] The task “Job 1” asks." {
		t.Fatalf("said %q", got)
	}
	at := conversation.TaskPlace(place.Workspace, o.tasks()[0].ID)
	p := conversation.Partition(at)
	as, err := o.store.Read(t.Context(), store.List{Partition: p, Collection: conversation.Waits})
	if err != nil || len(as[0].Docs) != 1 {
		t.Fatalf("waits %+v, %v", as, err)
	}
	var w conversation.WaitDoc
	if err := conversation.Decode(as[0].Docs[0], &w); err != nil {
		t.Fatal(err)
	}
	var c conversation.Copied
	if !o.doc(conversation.CopiedKey(w.Wait.ID), &c) || c.Origin != p {
		t.Errorf("the card leads to %+v", c)
	}
	w.Outcome = &session.Outcome{Wait: w.Wait.ID, Result: session.Approved, By: "ann"}
	if _, err := o.store.Commit(t.Context(), store.Commit{ID: "click", Partition: p, Ops: []store.Op{
		store.Put{Key: w.Key(), Value: conversation.Encode(w)}, store.Wake{Agenda: store.Turns, Member: store.MemberOf(p, "")},
	}}); err != nil {
		t.Fatal(err)
	}
	o.live()
	if got := o.said(); !slices.Contains(got, "answer [] heard: done") {
		t.Errorf("said %q", got)
	}
}

// A person lists what runs beside the conversation and ends a task: its agent is broken off, and its result says so, once.
func TestATaskIsStopped(t *testing.T) {
	t.Parallel()
	agents := map[string]prompt.Agent{"main": {Type: "chat"}, "helper": {Type: "task"}}
	o := newOffice(t, agents, as("main", boss), as("helper", once(modeltest.Call{Name: "danger", Arguments: `{}`})))
	o.say("1", "ann", "go")
	o.live()
	n := 0
	run := func(person string, args ...string) string {
		n++
		got, err := command.Tasks(o.store).Run(t.Context(), command.Call{Read: o.store, Where: o.part, Person: people.Person{ID: person, Role: people.Restricted}, Args: args, Event: fmt.Sprint("e", n)})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	id := o.tasks()[0].ID
	for _, tc := range []struct {
		person string
		args   []string
		want   string
	}{
		{"bob", nil, "- `" + id + "`: Job 1, by the agent `helper`, began "},
		{"bob", []string{"stop", id}, "who asked for a task, or an admin, ends it"},
		{"ann", []string{"stop", "other"}, "`other` names no task"},
		{"ann", []string{"halt", id}, "tasks stop ID"},
		{"ann", []string{"stop", id}, "is being ended"},
		{"ann", []string{"stop", id}, "is being ended"}, // pressed twice
	} {
		if got := run(tc.person, tc.args...); !strings.Contains(got, tc.want) {
			t.Errorf("%s: tasks %v: %q, want %q", tc.person, tc.args, got, tc.want)
		}
	}
	o.live()
	if ts := o.tasks(); len(ts) != 1 || ts[0].State != conversation.TaskLanded || ts[0].Status != session.Stopped {
		t.Errorf("tasks %+v", ts)
	}
	got := o.said()
	if n := len(slices.DeleteFunc(slices.Clone(got), func(s string) bool { return !strings.Contains(s, "heard:") })); n != 1 {
		t.Errorf("said %q", got)
	}
	if got := run("ann", "stop", id); !strings.Contains(got, "has ended") {
		t.Errorf("stopped again: %q", got)
	}
	if got := run("ann"); !strings.Contains(got, "ended as cancelled") {
		t.Errorf("listed as %q", got)
	}
	as, err := o.store.Read(t.Context(), store.List{Partition: conversation.Partition(conversation.TaskPlace(place.Workspace, id)), Collection: conversation.Outgoing})
	if err != nil || len(as[0].Docs) != 0 {
		t.Errorf("%d texts wait where nobody reads, %v", len(as[0].Docs), err)
	}
}

// A result that comes when the conversation is gone is set aside with a row.
func TestATaskWhoseConversationIsGone(t *testing.T) {
	t.Parallel()
	agents := map[string]prompt.Agent{"main": {Type: "chat"}, "helper": {Type: "task"}}
	var o *office
	o = newOffice(t, agents, as("main", boss), as("helper", func(*model.Request) modeltest.Reply {
		var ops []store.Op
		for _, d := range o.tasks() {
			ops = append(ops, store.Delete{Key: d.Key()})
		}
		if _, err := o.store.Commit(t.Context(), store.Commit{ID: "gone", Partition: o.part, Ops: ops}); err != nil {
			t.Error(err)
		}
		return modeltest.Say("in vain")
	}))
	o.say("1", "ann", "go")
	o.live()
	if d := cmp.Diff([]string{"answer [1] begun"}, o.said()); d != "" {
		t.Errorf("said (-want +got)\n%s", d)
	}
	letters, err := o.store.DeadLetters(t.Context(), 0)
	if err != nil || len(letters) != 1 || !strings.Contains(string(letters[0].Note), `"gone"`) {
		t.Errorf("letters %v, %v", letters, err)
	}
}

// A thousand tasks, whose processes are killed again and again at their commits: each result lands once, in the conversation that asked, busy or idle.
func TestTasksSurviveKills(t *testing.T) {
	t.Parallel()
	const messages, each = 150, 8
	agents := map[string]prompt.Agent{"main": {Type: "chat"}, "helper": {Type: "task"}}
	ran := make(map[string]int)
	next := 0
	o := newOffice(t, agents,
		as("main", func(q *model.Request) modeltest.Reply {
			last := q.Messages[len(q.Messages)-1]
			if last.Role == model.User && strings.Contains(last.Text, "go") && !strings.Contains(last.Text, "What it came to") {
				var calls []modeltest.Call
				for range each {
					next++
					calls = append(calls, async(next))
				}
				return modeltest.Reply{Calls: calls}
			}
			return modeltest.Say("ok")
		}),
		as("helper", func(q *model.Request) modeltest.Reply {
			n, _, _ := strings.Cut(strings.TrimPrefix(modeltest.LastUser(q), "job "), ".")
			ran[n]++
			return modeltest.Say("result " + n + ".")
		}))
	rng := rand.New(rand.NewPCG(7, 11))
	kills := 0
	o.kill = func() bool {
		if rng.IntN(60) == 0 {
			kills++
			return true
		}
		return false
	}
	for i := range messages {
		o.say(fmt.Sprintf("m%04d", i), "ann", "go")
		for range rng.IntN(3) {
			o.step()
		}
		switch i % 8 {
		case 3: // a stop ends the turn and no task
			o.control(conversation.Stop, fmt.Sprintf("m%04d.stop", i), "ann")
		case 7: // results of tasks that another session began come into the one that is open
			o.control(conversation.New, fmt.Sprintf("m%04d.new", i), "ann")
		}
		o.live()
	}
	o.live()
	ts := o.tasks()
	landed := make(map[string]int)
	as, err := o.store.Read(t.Context(), store.Range{Partition: o.part, Log: conversation.Log, From: 1})
	if err != nil {
		t.Fatal(err)
	}
	for _, en := range as[0].Entries {
		e, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
		if err != nil {
			t.Fatal(err)
		}
		if e.Kind == session.UserSaid && e.User.Task != nil {
			landed[e.User.Task.ID]++
			if want := "result " + strings.TrimPrefix(e.User.Task.Title, "Job ") + "."; e.User.Text != want {
				t.Fatalf("the task %s (%s) landed with %q", e.User.Task.ID, e.User.Task.Title, e.User.Text)
			}
		}
	}
	for _, d := range ts {
		if d.State != conversation.TaskLanded || landed[d.ID] != 1 {
			t.Errorf("task %s (%s) is %s and landed %d times", d.ID, d.Title, d.State, landed[d.ID])
		}
	}
	if len(ts) < 1000 || len(landed) != len(ts) || kills < 100 {
		t.Errorf("%d tasks, %d landed, %d kills", len(ts), len(landed), kills)
	}
	t.Logf("%d tasks, %d kills", len(ts), kills)
	o.foldAgrees()
}
