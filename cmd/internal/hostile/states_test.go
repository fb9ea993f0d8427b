package hostile_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"herald/bots/bottest/platform"
	"herald/cmd/internal/service"
	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/session"
	"herald/core/store"
	"herald/core/tool"
)

// frozen is a store that from one instant on writes nothing more, as the store of a process that was killed then.
type frozen struct {
	store.Store
	cold atomic.Bool
}

var errCold = fmt.Errorf("the process was killed: %w", store.ErrUnavailable)

func (f *frozen) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if f.cold.Load() {
		return store.Result{}, errCold
	}
	return f.Store.Commit(ctx, c)
}

func (f *frozen) Claim(ctx context.Context, r store.ClaimRequest) ([]store.Claim, error) {
	if f.cold.Load() {
		return nil, errCold
	}
	return f.Store.Claim(ctx, r)
}

func (f *frozen) Extend(ctx context.Context, lease time.Duration, claims ...store.Claim) ([]bool, error) {
	if f.cold.Load() {
		return nil, errCold
	}
	return f.Store.Extend(ctx, lease, claims...)
}

// fixture is what a test must know of a store that an earlier process wrote.
type fixture struct {
	// At is the store's time at which the process was killed.
	At time.Time `json:"at"`
	// Asked are the messages by the state that their thread is in, Wait the wait of the approval.
	Asked map[string]string `json:"asked"`
	Wait  string            `json:"wait"`
	// Format is that of the store, ID the platform's last id.
	Format int `json:"format"`
	ID     int `json:"id"`
}

// The threads of a fixture are named by their states.
const (
	idle    = "idle"
	asking  = "asking the model"
	running = "running a tool"
	asked   = "waiting for an answer"
	danger  = "waiting for a decision"
	behind  = "behind the decision"
	unsaid  = "not said yet"
	buried  = "refused by the platform"
)

// stateRules answer what the states ask, in a store's first life and in its second.
func stateRules(second bool) []modeltest.Rule {
	rules := []modeltest.Rule{
		modeltest.AfterTool("remember", modeltest.Say("noted")),
		modeltest.AfterTool("recall", modeltest.Say("I know: {result}")),
		modeltest.AfterTool("choose", modeltest.Say("so it is {result}")),
		modeltest.AfterTool("launch", modeltest.Say("launched: {result}")),
		modeltest.AfterTool("toil", modeltest.Say("after the toil: {result}")),
		modeltest.When("remember this", modeltest.Use("remember", `{"title":"colour","text":"the favourite colour is marmalade"}`)),
		modeltest.When("what do you know", modeltest.Use("recall", `{"query":"colour"}`)),
		modeltest.When("let me choose", modeltest.Use("choose", "{}")),
		modeltest.When("launch it", modeltest.Use("launch", "{}")),
		modeltest.When("toil", modeltest.Use("toil", "{}")),
	}
	if !second {
		rules = append(rules, modeltest.When("think hard", modeltest.Reply{Wire: modeltest.Wire{HangFirst: true}}))
	}
	return append(rules, modeltest.When("think hard", modeltest.Say("thought")), modeltest.Echo())
}

// stateTools are the tools of the states; runs counts their starts.
func stateTools(second bool, runs *[2]atomic.Int32) func(*service.Options) {
	spec := func(name string) model.ToolSpec {
		return model.ToolSpec{Name: name, Description: "For tests.", Parameters: json.RawMessage(`{"type":"object"}`)}
	}
	return func(o *service.Options) {
		o.Tools = []tool.Tool{
			{Spec: spec("choose"), Traits: session.Traits{Repeatable: true}, Run: func(context.Context, tool.Call) (tool.Result, error) {
				return tool.Result{Wait: &session.Wait{Kind: session.Question, Title: "Tea or coffee?", Choices: []string{"tea", "coffee"}}}, nil
			}},
			{Spec: spec("toil"), Run: func(ctx context.Context, _ tool.Call) (tool.Result, error) {
				runs[0].Add(1)
				if !second {
					<-ctx.Done()
				}
				return tool.Result{Text: "toiled"}, ctx.Err()
			}},
			{Spec: spec("launch"), Run: func(context.Context, tool.Call) (tool.Result, error) {
				runs[1].Add(1)
				return tool.Result{Text: "it flies"}, nil
			}},
		}
		o.Allow = []string{"choose", "toil"}
	}
}

// stateSetup is a rig over st.
func stateSetup(second bool, runs *[2]atomic.Int32, st store.Store) setup {
	f := features()
	f.Cards = true
	attempts := "HERALD_OUTBOX__MAX_ATTEMPTS=5"
	if !second {
		attempts = "HERALD_OUTBOX__MAX_ATTEMPTS=1"
	}
	return setup{
		rules: stateRules(second), platform: platform.Options{Features: f},
		env: []string{"HERALD_SHUTDOWN_GRACE_SECONDS=0", attempts, "HERALD_MODEL_TIMEOUTS__FIRST_TOKEN_SECONDS=600"},
		change: func(o *service.Options) {
			stateTools(second, runs)(o)
			o.Store, o.Lease = st, 2*time.Second
		},
	}
}

// makeStates brings the conversations of a service over st into every state, and kills it there.
func makeStates(t *testing.T, st store.Store) fixture {
	t.Helper()
	cold := &frozen{Store: st}
	var runs [2]atomic.Int32
	r := begin(t, stateSetup(false, &runs, cold))
	fix := fixture{Asked: map[string]string{}}
	say := func(state, thread, text string) platform.Told {
		told := r.say(thread, text)
		fix.Asked[state] = told.Message
		return told
	}
	r.answer(say(idle, idle, "my cat is called Tom"), idle)
	if got := r.answer(say("notes", "notes", "remember this"), "notes"); got != "noted" {
		t.Fatalf("notes: %q", got)
	}
	for thread, state := range map[string]string{"x\n1": "malformed"} {
		told := say(state, thread, "malformed")
		r.wait("acknowledgement of the malformed", func(v platform.View) bool { return v.Acked(told.Event) })
	}
	r.chat.Inject(platform.Fault{Op: platform.OpSend, Kind: platform.Refusal, Channel: "closed"})
	told := r.chat.Post(platform.Say{Channel: "closed", Thread: buried, Text: "hello", Mention: true})
	r.until("buried", func() bool { return len(letters(t, st)) == 2 && told.Message != "" })
	say(asked, asked, "let me choose")
	say(danger, danger, "launch it")
	for thread, title := range map[string]string{asked: "Tea or coffee?", danger: "May I run launch?"} {
		r.wait("a question in "+thread, func(v platform.View) bool {
			for _, m := range v.Messages("c", thread) {
				if m.ByApp && strings.Contains(m.Text, title) {
					var c chat.Card
					if thread == danger && json.Unmarshal(m.Card, &c) == nil && len(c.Buttons) > 0 {
						fix.Wait = strings.TrimSuffix(strings.TrimPrefix(c.Buttons[0].Action, conversation.ActionMark), ":"+conversation.Approve)
					}
					return true
				}
			}
			return false
		})
	}
	say(behind, danger, "and what else?")
	r.wait("word of what is waited for", func(v platform.View) bool {
		n := 0
		for _, m := range v.Messages("c", danger) {
			if m.ByApp {
				n++
			}
		}
		return n == 2
	})
	say(running, running, "toil")
	r.until("toiling", func() bool { return runs[0].Load() == 1 })
	before := r.model.Calls()
	say(asking, asking, "think hard")
	r.until("thinking", func() bool { return r.model.Calls() == before+1 })
	r.chat.Inject(platform.Fault{Op: platform.AnyCall, Kind: platform.ServerError, Channel: "away", Times: -1})
	told = r.chat.Post(platform.Say{Channel: "away", Thread: unsaid, Text: "are you there?", Mention: true})
	fix.Asked[unsaid] = told.Message
	r.wait("a post that fails", func(v platform.View) bool { return v.Counts().Faulted >= 2 })

	cold.cold.Store(true)
	if err := r.stop(); err != nil {
		t.Logf("the killed service says %v", err)
	}
	h, err := st.Health(context.WithoutCancel(t.Context()))
	if err != nil {
		t.Fatal(err)
	}
	if fix.At, err = st.Now(t.Context()); err != nil {
		t.Fatal(err)
	}
	fix.Format, fix.ID = h.Format, 1000
	if fix.Wait == "" {
		t.Fatal("no card of the approval was seen")
	}
	return fix
}

// pass lets the ids of a new platform begin behind those of the one before it.
func (r *rig) pass(id int) {
	for i := 0; i < id; i += 2 {
		r.chat.Command(platform.Say{Channel: "before", Text: "before", Held: true})
	}
}

func letters(t *testing.T, st store.Store) []store.Letter {
	t.Helper()
	all, err := st.DeadLetters(t.Context(), 0)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// goOn opens the conversations of a fixture with a service over st and demands that each goes on as if nothing had been.
func goOn(t *testing.T, st store.Store, fix fixture) {
	t.Helper()
	var runs [2]atomic.Int32
	s := stateSetup(true, &runs, st)
	s.platform.RedeliverAfter = time.Hour
	s.held = true
	r := begin(t, s)
	r.pass(fix.ID)
	r.serve(s.change)
	old := func(state string) platform.Told { return platform.Told{Message: fix.Asked[state]} }
	for state, want := range map[string]string{asking: "thought", unsaid: "You said: alice: are you there?"} {
		if got := r.answer(old(state), state); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %q, want %q", state, got, want)
		}
	}
	if got := r.answer(old(running), running); !strings.HasPrefix(got, "after the toil: ") || !strings.Contains(strings.ToLower(got), "not known") || runs[0].Load() != 0 {
		t.Errorf("%s: %q; the tool ran %d times again", running, got, runs[0].Load())
	}
	if got := r.answer(r.say(asked, "2"), asked); !strings.Contains(got, "so it is") || !strings.Contains(got, "coffee") {
		t.Errorf("%s: %q", asked, got)
	}
	r.chat.Click(platform.Say{Channel: "c", Thread: danger}, conversation.Action(fix.Wait, conversation.Approve), "")
	// What was said during the wait is taken in with the decision or behind it: one of the two, and never twice.
	var said []string
	r.wait("the launch and what came during the wait", func(v platform.View) bool {
		said = nil
		for _, id := range []string{danger, behind} {
			said = append(said, settled(v, old(id))...)
		}
		return len(said) > 0 && len(v.Answers(fix.Asked[behind])) > 0
	})
	if strings.Count(strings.Join(said, ""), "it flies") > 1 || runs[1].Load() != 1 {
		t.Errorf("%s: %q; the tool ran %d times", danger, said, runs[1].Load())
	}
	r.chat.Look(func(v platform.View) {
		for _, m := range v.Answers(fix.Asked[idle]) {
			t.Errorf("what was answered is answered again: %q", m.Text)
		}
	})
	if got := r.answer(r.say("other", "what do you know?"), "notes"); !strings.Contains(got, "marmalade") {
		t.Errorf("notes: %q", got)
	}
	r.answer(r.say(idle, "what is it called?"), idle)
	records := r.model.Records()
	if body := string(records[len(records)-1].Body); !strings.Contains(body, "my cat is called Tom") {
		t.Errorf("the model is not shown what was said before: %s", body)
	}
	if all := letters(t, st); len(all) != 2 {
		for _, l := range all {
			t.Errorf("%d dead letters, want those two that there were: %s %s", len(all), l.Partition, l.Note)
		}
	}
	for _, state := range []string{idle, asking, running, asked, danger, "notes"} {
		r.usable(state)
	}
	r.up()
}
