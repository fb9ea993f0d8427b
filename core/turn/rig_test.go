package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/tool"
	"herald/core/turn"
)

var place = chat.Conversation{Workspace: "test:1", Channel: "c", Thread: "t"}

// rig is an engine over the memory store with an outbox that only keeps what is said.
type rig struct {
	t      *testing.T
	store  *memory.Store
	model  *modeltest.Scripted
	opts   turn.Options
	part   store.Partition
	caps   chat.Capabilities
	mu     sync.Mutex
	posts  []string    // "send text" and "edit text"
	room   func() bool // for a live message; nil for always
	nextID int
	ended  []string
}

func newRig(t *testing.T, rules ...modeltest.Rule) *rig {
	t.Helper()
	r := &rig{t: t, store: memory.New(memory.Options{}), model: modeltest.NewScripted(rules...), part: conversation.Partition(place)}
	spec := func(n string) model.ToolSpec {
		return model.ToolSpec{Name: n, Description: n, Parameters: json.RawMessage(`{"type":"object"}`)}
	}
	ok := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{Text: "done"}, nil }
	reg, err := tool.NewRegistry(
		tool.Tool{Spec: spec("act"), Run: ok},
		tool.Tool{Spec: spec("danger"), Run: ok},
		tool.Tool{Spec: spec("forbidden"), Run: ok},
		tool.Tool{Spec: spec("read"), Traits: session.Traits{ReadOnly: true, Repeatable: true}, Run: ok},
		tool.Tool{Spec: spec("broken"), Run: func(context.Context, tool.Call) (tool.Result, error) { panic("a bug") }},
		tool.Tool{Spec: spec("slow"), Run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			<-ctx.Done()
			return tool.Result{}, ctx.Err()
		}},
		tool.Tool{Spec: spec("delegate"), Traits: session.Traits{Delegates: true}, Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			return tool.Result{Push: &tool.Push{Agent: "main", Prompt: string(c.Arguments)}}, nil
		}},
		tool.Tool{Spec: spec("ask"), Run: func(context.Context, tool.Call) (tool.Result, error) {
			return tool.Result{Wait: &session.Wait{Kind: session.Question, Title: "Tea or coffee?", Choices: []string{"tea", "coffee"}}}, nil
		}},
	)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	r.opts = turn.Options{
		Store: r.store, Agents: r, Models: r, Tools: reg, Gate: gate{}, DefaultAgent: "main", Clock: time.Now, Zone: time.UTC, MaxRounds: 5, MaxAttempts: 3,
		Adapter: func(chat.Workspace) chat.Adapter { return r }, LiveAfter: -1, Log: slog.New(slog.DiscardHandler),
		NewID:    func() string { r.mu.Lock(); defer r.mu.Unlock(); n++; return fmt.Sprint("id", n) },
		Spawn:    func(f func()) { go f() },
		Observer: turn.Observer{TurnEnded: func(how string, _ time.Duration) { r.ended = append(r.ended, how) }},
	}
	return r
}

type gate struct{}

func (gate) Decide(_ context.Context, c tool.Call) (tool.Decision, error) {
	switch c.Name {
	case "danger":
		return tool.Decision{Answer: tool.Require, Rule: "danger"}, nil
	case "forbidden":
		return tool.Decision{Answer: tool.Deny, Rule: "forbidden"}, nil
	}
	return tool.Decision{Answer: tool.Allow}, nil
}

func (r *rig) Agent(_ context.Context, s tool.Scope) (prompt.Agent, error) {
	if s.Agent != "main" && s.Agent != "other" {
		return prompt.Agent{}, fmt.Errorf("there is no agent %q", s.Agent)
	}
	return prompt.Agent{ID: s.Agent, Text: "You are a test."}, nil
}
func (r *rig) Model(prompt.Agent) (model.Model, error)          { return r.model, nil }
func (r *rig) Cost(_ string, u model.Usage) (float64, bool)     { return float64(u.Output), true }
func (r *rig) Capabilities(chat.Conversation) chat.Capabilities { return r.caps }
func (r *rig) Cut(_ chat.Conversation, s string) []string       { return []string{s} }
func (r *rig) Find(context.Context, *chat.Post) (chat.Receipt, bool, error) {
	return chat.Receipt{}, false, nil
}

func (r *rig) Send(_ context.Context, p *chat.Post) (chat.Receipt, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, "send "+p.Text)
	return chat.Receipt{MessageID: fmt.Sprint("p", len(r.posts))}, nil
}

func (r *rig) edit(p *chat.Post) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.posts = append(r.posts, "edit "+p.Text)
}

// Edit is the adapter's and the outbox's.
func (r *rig) Edit(_ context.Context, p *chat.Post, _ chat.Receipt, _ bool) error {
	r.edit(p)
	return nil
}

type out struct{ *rig }

func (o out) Room(context.Context, chat.Conversation) (bool, error) {
	return o.room == nil || o.room(), nil
}

func (o out) Edit(_ context.Context, p *chat.Post, _ chat.Receipt) error {
	o.edit(p)
	return nil
}

func (o out) Express(c chat.Conversation, d *conversation.Delivery, _ bool) ([]store.Guard, []store.Op, func(*store.Claim, int64, time.Time)) {
	return []store.Guard{store.Fewer{Collection: conversation.Outgoing, N: 1000}}, conversation.Say(conversation.Partition(c), d), func(*store.Claim, int64, time.Time) {}
}

// commit writes as intake would.
func (r *rig) commit(ops ...store.Op) {
	r.t.Helper()
	r.nextID++
	ops = append(ops, store.Wake{Agenda: store.Turns, Member: store.MemberOf(r.part, "")})
	if _, err := r.store.Commit(r.t.Context(), store.Commit{ID: fmt.Sprint("test", r.nextID), Partition: r.part, Ops: ops}); err != nil {
		r.t.Fatal(err)
	}
}

func (r *rig) say(id, who, text string) {
	r.t.Helper()
	m := conversation.Message{V: 1, MessageID: id, Order: id, Person: who, Sender: chat.Sender{Name: who}, Text: text}
	r.commit(store.Put{Key: m.Key(), Value: conversation.Encode(m)}, store.ScoreNow{Index: conversation.Dedupe, Member: "key/" + id})
}

// ask is say to an agent by its name.
func (r *rig) ask(id, who, agent, text string) {
	r.t.Helper()
	m := conversation.Message{V: 1, MessageID: id, Order: id, Person: who, Sender: chat.Sender{Name: who}, Text: text, Agent: agent}
	r.commit(store.Put{Key: m.Key(), Value: conversation.Encode(m)}, store.ScoreNow{Index: conversation.Dedupe, Member: "key/" + id})
}

func (r *rig) control(kind conversation.ControlKind, id, by string) {
	r.t.Helper()
	c := conversation.Control{V: 1, Kind: kind, ID: id, Order: id, By: by}
	r.commit(store.Put{Key: c.Key(), Value: conversation.Encode(c)}, store.Put{Key: conversation.HeadKey, Value: conversation.Encode(conversation.Head{V: 1, StopOrder: id})})
}

func (r *rig) change(kind conversation.ControlKind, id, target, text string) {
	r.t.Helper()
	now, _ := r.store.Now(r.t.Context())
	c := conversation.Control{V: 1, Kind: kind, ID: id, Order: id, Target: target, TargetKey: "key/" + target, Text: text, At: now}
	r.commit(store.Put{Key: c.Key(), Value: conversation.Encode(c)})
}

// claim claims the conversation; ok is false when it is not due.
func (r *rig) claim() (store.Claim, bool) {
	r.t.Helper()
	cs, err := r.store.Claim(r.t.Context(), store.ClaimRequest{Agenda: store.Turns, Holder: "h", Lease: time.Minute, Limit: 1})
	if err != nil {
		r.t.Fatal(err)
	}
	if len(cs) == 0 {
		return store.Claim{}, false
	}
	return cs[0], true
}

func (r *rig) engine() *turn.Engine {
	o := r.opts
	o.Outbox = out{r}
	return turn.New(o)
}

// work handles what is due until nothing is.
func (r *rig) work() {
	r.t.Helper()
	e := r.engine()
	for range 20 {
		c, ok := r.claim()
		if !ok {
			return
		}
		if err := e.Handle(r.t.Context(), c, nil); err != nil {
			r.t.Fatalf("handle: %v", err)
		}
	}
	r.t.Fatal("the conversation is due again and again")
}

// said is what the outbox was given, oldest first: kind, covered messages and text.
func (r *rig) said() []string {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.List{Partition: r.part, Collection: conversation.Outgoing})
	if err != nil {
		r.t.Fatal(err)
	}
	ds := make(map[int64]string)
	var order []int64
	for _, doc := range as[0].Docs {
		var d conversation.Delivery
		if err := conversation.Decode(doc, &d); err != nil {
			r.t.Fatal(err)
		}
		var ids []string
		for _, c := range d.Covers {
			ids = append(ids, c.MessageID)
		}
		ds[doc.Born] = fmt.Sprintf("%s %v %s", d.Kind, ids, strings.Split(d.Text, "\n")[0])
		order = append(order, doc.Born)
	}
	var out []string
	for len(order) > 0 {
		low := 0
		for i := range order {
			if order[i] < order[low] {
				low = i
			}
		}
		out = append(out, ds[order[low]])
		order = append(order[:low], order[low+1:]...)
	}
	return out
}

// doc reads one document of the conversation.
func (r *rig) doc(k store.Key, v conversation.Document) bool {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.Get{Partition: r.part, Key: k})
	if err != nil {
		r.t.Fatal(err)
	}
	d, ok := as[0].Doc()
	if !ok {
		return false
	}
	if err := conversation.Decode(d, v); err != nil {
		r.t.Fatal(err)
	}
	return true
}

// foldAgrees checks that folding the log gives the state that stands materialised.
func (r *rig) foldAgrees() {
	r.t.Helper()
	as, err := r.store.Read(r.t.Context(), store.Range{Partition: r.part, Log: conversation.Log, From: 1})
	if err != nil {
		r.t.Fatal(err)
	}
	var es []session.Event
	for _, en := range as[0].Entries {
		e, err := session.Decode(en.Kind, en.ID, en.Seq, en.At, en.Data)
		if err != nil {
			r.t.Fatal(err)
		}
		es = append(es, e)
	}
	var cur conversation.Current
	if !r.doc(conversation.CurrentKey, &cur) {
		r.t.Fatal("there is no session")
	}
	folded, _ := json.Marshal(session.Fold(es))
	stands, _ := json.Marshal(cur.State)
	if string(folded) != string(stands) {
		r.t.Errorf("the log folds to\n%s\nbut the store holds\n%s", folded, stands)
	}
}
