package turn_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/session"
	"herald/core/store"
	"herald/core/worker"
)

func TestTurns(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name  string
		rules []modeltest.Rule
		steps func(r *rig)
		want  []string
	}{
		{"a plain answer", nil, func(r *rig) { r.say("1", "ann", "hi") }, []string{"answer [1] You said: ann: hi"}},
		{"messages that wait are answered together", nil, func(r *rig) { r.say("1", "ann", "a"); r.say("2", "bob", "b") }, []string{"answer [1 2] You said: ann: a"}},
		{
			"a tool is called, and its result answered",
			[]modeltest.Rule{modeltest.AfterTool("act", modeltest.Say("acted")), modeltest.When("go", modeltest.Use("act", `{}`))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] acted"},
		},
		{
			"an unknown tool is no tool",
			[]modeltest.Rule{modeltest.AfterTool("nothing", modeltest.Say("sorry")), modeltest.When("go", modeltest.Use("nothing", `{}`))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] sorry"},
		},
		{
			"a denied tool does not run",
			[]modeltest.Rule{modeltest.AfterTool("forbidden", modeltest.Say("not allowed")), modeltest.When("go", modeltest.Use("forbidden", `{}`))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] not allowed"},
		},
		{
			"a tool that panics fails alone",
			[]modeltest.Rule{modeltest.AfterTool("broken", modeltest.Say("it broke")), modeltest.When("go", modeltest.Use("broken", `{}`))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] it broke"},
		},
		{
			"an endless loop ends honestly",
			[]modeltest.Rule{modeltest.Always(modeltest.Use("read", `{}`))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] I came to no end: it asked for the same thing 3 times in a row."},
		},
		{
			"a model that fails says so with a reference",
			[]modeltest.Rule{modeltest.Always(modeltest.Fail(&model.Error{Kind: model.NotConfigured}))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] I cannot answer: no usable model is configured. An admin must name one."},
		},
		{
			"an empty answer says so",
			[]modeltest.Rule{modeltest.Always(modeltest.Say(""))},
			func(r *rig) { r.say("1", "ann", "go") },
			[]string{"answer [1] The model gave an empty answer. Ask again, or say it in other words."},
		},
		{
			"a question parks the turn and the next message answers it",
			[]modeltest.Rule{modeltest.AfterTool("ask", modeltest.Say("so be it")), modeltest.When("drink", modeltest.Use("ask", `{}`))},
			func(r *rig) { r.say("1", "ann", "drink"); r.work(); r.say("2", "ann", "2") },
			[]string{"ask [] **Tea or coffee?**", "answer [1 2] so be it"},
		},
		{
			"somebody else is told once what is waited for",
			[]modeltest.Rule{modeltest.When("drink", modeltest.Use("ask", `{}`))},
			func(r *rig) {
				r.say("1", "ann", "drink")
				r.work()
				r.say("2", "bob", "hello")
				r.work()
				r.say("3", "bob", "hello?")
			},
			[]string{"ask [] **Tea or coffee?**", "notice [] I am waiting for an answer to “Tea or coffee?”. Your message will be read after it; `stop` ends the wait."},
		},
		{"a stop where nothing runs says so", nil, func(r *rig) { r.control(conversation.Stop, "1", "ann") }, []string{"notice [1] Nothing is running here."}},
		{"a stop covers what waits before it, not what comes after", nil, func(r *rig) {
			r.say("1", "ann", "a")
			r.control(conversation.Stop, "2", "ann")
			r.say("3", "ann", "b")
		}, []string{"answer [1 2] Stopped.", "answer [3] You said: <note>A person stopped this turn before it was finished.</note>"}},
		{"a stop by a stranger stops nothing", nil, func(r *rig) {
			r.say("1", "ann", "a")
			r.control(conversation.Stop, "2", "eve")
		}, []string{"notice [2] Only who wrote the message, who opened this conversation or an admin can stop this.", "answer [1] You said: ann: a"}},
		{"what is older than a stop and comes later is not run", nil, func(r *rig) {
			r.control(conversation.Stop, "5", "ann")
			r.work()
			r.say("3", "ann", "late")
		}, []string{"notice [5] Nothing is running here.", "notice [3] This message reached me after a stop that was sent later, so it was not run. Send it again if it should be."}},
		{"new begins another session", nil, func(r *rig) {
			r.say("1", "ann", "a")
			r.work()
			r.control(conversation.New, "2", "ann")
			r.work()
			r.say("3", "ann", "b")
		}, []string{"answer [1] You said: ann: a", "notice [2] A new conversation has begun.", "answer [3] You said: ann: b"}},
		{"an edit before the turn is taken in its new form", nil, func(r *rig) {
			r.say("1", "ann", "a")
			r.change(conversation.Edit, "2", "1", "b")
		}, []string{"answer [1] You said: ann: b"}},
		{"a deleted message is not answered", nil, func(r *rig) {
			r.say("1", "ann", "a")
			r.change(conversation.Delete, "2", "1", "")
		}, nil},
		{"an edit that arrives before its message waits for it", nil, func(r *rig) {
			r.change(conversation.Edit, "2", "1", "b")
			r.work()
			r.say("1", "ann", "a")
		}, []string{"answer [1] You said: ann: b"}},
		{"an edit after the turn is noted and makes none", nil, func(r *rig) {
			r.say("1", "ann", "a")
			r.work()
			r.change(conversation.Edit, "2", "1", "b")
		}, []string{"answer [1] You said: ann: a"}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, tc.rules...)
			tc.steps(r)
			r.work()
			if d := cmp.Diff(tc.want, r.said()); d != "" {
				t.Errorf("said (-want +got)\n%s", d)
			}
			if n := r.model.Violations(); n > 0 {
				t.Errorf("a strict provider refuses %d histories", n)
			}
			if r.model.Calls() > 0 {
				r.foldAgrees()
			}
		})
	}
}

// An approval waits for a click; the call runs once after it, and the record names what the turn cost.
func TestApproval(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name    string
		outcome session.WaitOutcome
		tools   []string
		want    string
	}{
		{"approved", session.Approved, []string{"danger"}, "answer [1] ran"},
		{"refused", session.Refused, nil, "answer [1] ran"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, modeltest.AfterTool("danger", modeltest.Say("ran")), modeltest.When("go", modeltest.Use("danger", `{}`)))
			r.say("1", "ann", "go")
			r.work()
			as, err := r.store.Read(t.Context(), store.List{Partition: r.part, Collection: conversation.Waits})
			if err != nil || len(as[0].Docs) != 1 {
				t.Fatalf("waits: %v %v", as, err)
			}
			var w conversation.WaitDoc
			if err := conversation.Decode(as[0].Docs[0], &w); err != nil {
				t.Fatal(err)
			}
			w.Outcome = &session.Outcome{Wait: w.Wait.ID, Result: tc.outcome, By: "ann"}
			r.commit(store.Put{Key: w.Key(), Value: conversation.Encode(w)})
			r.work()
			if got := r.said(); len(got) != 2 || got[1] != tc.want {
				t.Errorf("said %q, want %q last", got, tc.want)
			}
			var cur conversation.Current
			r.doc(conversation.CurrentKey, &cur)
			var rec conversation.TurnRecord
			if !r.doc(conversation.TurnKey(cur.LastTurn), &rec) {
				t.Fatal("the turn has no record")
			}
			if d := cmp.Diff(tc.tools, rec.Tools); d != "" || rec.Cost == nil || rec.Usage.Output == 0 {
				t.Errorf("record %+v, tools (-want +got) %s", rec, d)
			}
			r.foldAgrees()
		})
	}
}

// A plain turn costs one read and one write after its claim.
func TestPlainTurnIsCheap(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.say("1", "ann", "hi")
	c, _ := r.claim()
	before := r.store.Stats()
	if err := r.engine().Handle(t.Context(), c, nil); err != nil {
		t.Fatal(err)
	}
	after := r.store.Stats()
	if n := after.RoundTrips - before.RoundTrips; n != 2 {
		t.Errorf("%d round trips, want 2", n)
	}
	if n := after.Commits - before.Commits; n != 1 {
		t.Errorf("%d commits, want 1", n)
	}
}

// A stop that is committed while the model streams ends the turn within the second that the hint takes, and nothing follows it.
func TestStopDuringTheTurn(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		name   string
		rules  []modeltest.Rule
		broken bool
	}{
		{"while the model is silent", []modeltest.Rule{modeltest.Always(modeltest.Reply{Text: "too late", FirstDelay: time.Hour})}, true},
		{"while a tool runs", []modeltest.Rule{modeltest.When("go", modeltest.Use("slow", `{}`))}, false},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, tc.rules...)
				r.say("1", "ann", "go")
				c, _ := r.claim()
				poke := make(chan struct{}, 1)
				done := make(chan error, 1)
				go func() { done <- r.engine().Handle(t.Context(), c, poke) }()
				synctest.Wait()
				begin := time.Now()
				r.control(conversation.Stop, "2", "ann")
				poke <- struct{}{}
				if err := <-done; err != nil {
					t.Fatal(err)
				}
				if d := time.Since(begin); d > time.Second {
					t.Errorf("the stop took %v", d)
				}
				if d := cmp.Diff([]string{"answer [1 2] Stopped."}, r.said()); d != "" {
					t.Errorf("said (-want +got)\n%s", d)
				}
				r.foldAgrees()
				var cur conversation.Current
				var rec conversation.TurnRecord
				if !r.doc(conversation.CurrentKey, &cur) || !r.doc(conversation.TurnKey(cur.LastTurn), &rec) {
					t.Fatal("there is no record of the turn")
				}
				if tc.broken != (rec.Broken != nil) {
					t.Errorf("the record has %+v as what was broken off", rec.Broken)
				}
				if b := rec.Broken; b != nil && (b.Input < 10 || b.Output != 0) {
					t.Errorf("the call that was broken off took %+v, want what it was shown", *b)
				}
			})
		})
	}
}

// Without a hint the guard of the commit that would answer sees the stop.
func TestStopIsSeenByTheCommitThatWouldAnswer(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.model.Rules = []modeltest.Rule{func(*model.Request) (modeltest.Reply, bool) {
		r.control(conversation.Stop, "2", "ann")
		return modeltest.Say("too late"), true
	}}
	r.say("1", "ann", "go")
	r.work()
	if d := cmp.Diff([]string{"answer [1 2] Stopped."}, r.said()); d != "" {
		t.Errorf("said (-want +got)\n%s", d)
	}
}

// A message that comes during the turn is taken in at the next round, and covered by the same answer.
func TestMessageDuringTheTurn(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	calls := 0
	r.model.Rules = []modeltest.Rule{func(q *model.Request) (modeltest.Reply, bool) {
		if calls++; calls == 1 {
			r.say("2", "bob", "and this")
			return modeltest.Use("act", `{}`), true
		}
		return modeltest.Say("both: " + q.Messages[len(q.Messages)-1].Text), true
	}}
	r.say("1", "ann", "go")
	r.work()
	got := r.said()
	if len(got) != 1 || !strings.HasPrefix(got[0], "answer [1 2] both: bob: and this") {
		t.Errorf("said %q", got)
	}
	r.foldAgrees()
}

// A turn that crashes alone too often is set aside, and the next message of the conversation is answered.
func TestPoisonIsSetAside(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) { poison(t) })
}

func poison(t *testing.T) {
	r := newRig(t)
	r.model.Rules = []modeltest.Rule{func(q *model.Request) (modeltest.Reply, bool) {
		if strings.Contains(modeltest.LastUser(q), "poison") {
			panic("a bug")
		}
		return modeltest.Say("fine"), true
	}}
	r.say("1", "ann", "poison")
	r.say("2", "ann", "health")
	e := r.engine()
	for range 30 {
		c, ok := r.claim()
		if !ok {
			if len(r.said()) == 2 {
				break
			}
			time.Sleep(time.Second) // the pause after a panic
			continue
		}
		if err := e.Handle(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
	}
	got := r.said()
	if len(got) != 2 || !strings.HasPrefix(got[0], "answer [1] I could not handle this message: it stopped the service 3 times.") || got[1] != "answer [2] fine" {
		t.Errorf("said %q", got)
	}
	ls, err := r.store.DeadLetters(t.Context(), 10)
	if err != nil || len(ls) != 1 || strings.Contains(string(ls[0].Note), "poison") {
		t.Errorf("dead letters %s %v: want one row, without the text", ls, err)
	}
}

// The worker's stop lets the step under way come to its commit and gives the turn on, uncounted.
func TestShutdownGivesTheTurnOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, modeltest.AfterTool("act", modeltest.Say("acted")), modeltest.When("go", modeltest.Reply{Calls: modeltest.Use("act", `{}`).Calls, FirstDelay: time.Minute}))
		e := r.engine()
		w, err := worker.New(worker.Options{Store: r.store, Agenda: store.Turns, Holder: "h", Handle: e.Handle, NewID: r.opts.NewID, Random: func() float64 { return 0.5 }, Grace: time.Hour})
		if err != nil {
			t.Fatal(err)
		}
		r.say("1", "ann", "go")
		ctx, stop := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- w.Run(ctx) }()
		time.Sleep(10 * time.Second) // inside the model's answer
		stop()
		if err := <-done; err != nil {
			t.Fatal(err)
		}
		if got := r.said(); got != nil {
			t.Fatalf("said %q before the restart", got)
		}
		c, ok := r.claim()
		if !ok || c.Attempt != 1 {
			t.Fatalf("claim %+v %v: want the turn due at once, uncounted", c, ok)
		}
		if err := r.engine().Handle(t.Context(), c, nil); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff([]string{"answer [1] acted"}, r.said()); d != "" {
			t.Errorf("said (-want +got)\n%s", d)
		}
	})
}

// An answer that takes long is shown while it grows, and its final state is the same delivery.
func TestLiveMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, modeltest.Always(modeltest.Reply{Text: "one two three four five six seven eight", Chunks: 8, Delay: 400 * time.Millisecond}))
		r.caps = chat.Capabilities{Edits: true, EditEvery: 700 * time.Millisecond}
		r.opts.LiveAfter = 500 * time.Millisecond
		r.say("1", "ann", "go")
		r.work()
		if len(r.posts) < 2 || !strings.HasPrefix(r.posts[0], "send ") || !strings.HasPrefix(r.posts[1], "edit ") {
			t.Errorf("posts %q: want one send and edits", r.posts)
		}
		if d := cmp.Diff([]string{"answer [1] one two three four five six seven eight"}, r.said()); d != "" {
			t.Errorf("said (-want +got)\n%s", d)
		}
		var cur conversation.Current
		r.doc(conversation.CurrentKey, &cur)
		if as, _ := r.store.Read(t.Context(), store.List{Partition: r.part, Collection: conversation.Outgoing}); len(as[0].Docs) == 1 {
			var d conversation.Delivery
			if err := conversation.Decode(as[0].Docs[0], &d); err != nil || d.Live || len(d.Pieces) != 1 || d.Pieces[0].Receipt == nil {
				t.Errorf("delivery %+v %v: want the live message as its first piece", d, err)
			}
		}
	})
}

// Live messages take what room the platform's pace has left, and the whole answer needs none of it.
func TestLiveMessageNeedsRoom(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		rooms, posts int
		first        string
	}{
		"at once":        {rooms: 0, posts: 3, first: "send one two three"},
		"the third time": {rooms: 2, posts: 1, first: "send one two three four five six seven"},
		"never":          {rooms: 99},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, modeltest.Always(modeltest.Reply{Text: "one two three four five six seven eight", Chunks: 8, Delay: 400 * time.Millisecond}))
				r.caps = chat.Capabilities{Edits: true, EditEvery: 700 * time.Millisecond}
				r.opts.LiveAfter = 500 * time.Millisecond
				asked := 0
				r.room = func() bool { asked++; return asked > tc.rooms }
				r.say("1", "ann", "go")
				r.work()
				if len(r.posts) != tc.posts || tc.posts > 0 && !strings.HasPrefix(r.posts[0], tc.first[:12]) {
					t.Errorf("posts %q, want %d of them, the first one %q", r.posts, tc.posts, tc.first)
				}
				if d := cmp.Diff([]string{"answer [1] one two three four five six seven eight"}, r.said()); d != "" {
					t.Errorf("said (-want +got)\n%s", d)
				}
			})
		})
	}
}

// A model that begins with blank lines and takes its time shows nothing yet: platforms refuse a message of blanks.
func TestBlanksAreNoLiveMessage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t, modeltest.Always(modeltest.Reply{Text: "\n \n\nword", Chunks: 8, Delay: time.Second}))
		r.caps = chat.Capabilities{Edits: true}
		r.opts.LiveAfter = time.Millisecond
		r.say("1", "ann", "go")
		r.work()
		if len(r.posts) == 0 || !strings.HasSuffix(r.posts[0], "w") {
			t.Errorf("posts %q: want the first one with a letter in it", r.posts)
		}
	})
}

// What a newer release wrote is left to it, without counting an attempt.
func TestNewerEntriesAreLeftAlone(t *testing.T) {
	t.Parallel()
	r := newRig(t)
	r.say("1", "ann", "hi")
	r.commit(store.Put{Key: conversation.CurrentKey, Value: []byte(`{"v":99}`)})
	c, _ := r.claim()
	err := r.engine().Handle(t.Context(), c, nil)
	if !errors.Is(err, conversation.ErrNewer) {
		t.Fatalf("got %v, want ErrNewer", err)
	}
}

// A state that another version of the fold made is folded anew from the whole log.
func TestAStateOfAnotherFoldIsFoldedAnew(t *testing.T) {
	t.Parallel()
	r := newRig(t, modeltest.AfterTool("ask", modeltest.Say("so be it")), modeltest.When("drink", modeltest.Use("ask", `{}`)))
	r.say("1", "ann", "drink")
	r.work()
	var cur conversation.Current
	r.doc(conversation.CurrentKey, &cur)
	cur.State = session.State{Fold: session.FoldVersion - 1, Session: "nonsense"}
	r.commit(store.Put{Key: conversation.CurrentKey, Value: conversation.Encode(&cur)})
	r.say("2", "ann", "tea")
	r.work()
	if got := r.said(); len(got) != 2 || got[1] != "answer [1 2] so be it" {
		t.Errorf("said %q", got)
	}
	r.foldAgrees()
}

// A turn that crashed once and is then given back again and again (restarts, an absent store) is not set aside.
func TestWhatIsGivenBackIsNotCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.say("1", "ann", "hi")
		if _, ok := r.claim(); !ok {
			t.Fatal("not due")
		}
		time.Sleep(2 * time.Minute) // the process died: its lease ends
		hang := true
		r.model.Rules = []modeltest.Rule{func(*model.Request) (modeltest.Reply, bool) {
			if hang {
				return modeltest.Reply{Text: "x", FirstDelay: time.Hour}, true
			}
			return modeltest.Say("fine"), true
		}}
		for range 3 * r.opts.MaxAttempts {
			c, ok := r.claim()
			if !ok || c.Attempt != 2 {
				t.Fatalf("claim %+v %v", c, ok)
			}
			ctx, cancel := context.WithTimeoutCause(t.Context(), time.Second, worker.ErrStopping)
			if err := r.engine().Handle(ctx, c, nil); !errors.Is(err, worker.ErrStopping) {
				t.Fatalf("got %v", err)
			}
			cancel()
			r.commit(store.Release{Claim: c, Again: true, KeepAttempt: true})
		}
		hang = false
		r.work()
		if d := cmp.Diff([]string{"answer [1] fine"}, r.said()); d != "" {
			t.Errorf("said (-want +got)\n%s", d)
		}
	})
}

// A turn that crashes each time while it runs alone is set aside although nothing tells of its crashes but the claims.
func TestCrashesAloneAreCounted(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig(t)
		r.model.Rules = []modeltest.Rule{modeltest.Always(modeltest.Reply{Text: "x", FirstDelay: time.Hour})}
		r.say("1", "ann", "hi")
		for range r.opts.MaxAttempts + 1 {
			c, ok := r.claim()
			if !ok {
				t.Fatal("not due")
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			_ = r.engine().Handle(ctx, c, nil) // the process dies: nothing is released
			cancel()
			time.Sleep(2 * time.Minute)
		}
		r.work()
		got := r.said()
		if len(got) != 1 || !strings.HasPrefix(got[0], "answer [1] I could not handle this message: it stopped the service 3 times.") {
			t.Errorf("said %q", got)
		}
	})
}
