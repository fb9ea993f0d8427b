package turn_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/prompt"
	"herald/core/session"
	"herald/core/tool"
)

// denials is a gate that denies tools to agents.
type denials map[string][]string

func (d denials) Decide(_ context.Context, c tool.Call) (tool.Decision, error) {
	if slices.Contains(d[c.Agent], c.Name) {
		return tool.Decision{Answer: tool.Deny, Rule: c.Agent}, nil
	}
	return tool.Decision{Answer: tool.Allow}, nil
}

// However agents are declared and however they delegate, a frame sees what its agent declares and all above it have, and runs of that what
// nobody in the chain is denied. The oracle knows chains of names alone.
func TestRightsOfRandomTrees(t *testing.T) {
	t.Parallel()
	deep, refused, ran := 0, 0, 0
	for seed := range uint64(25) {
		tree := newTree(t, seed)
		tree.say("1", "ann", "main")
		tree.work()
		for path, shown := range tree.seen {
			if want := tree.shown(path); !slices.Equal(shown, want) {
				t.Errorf("seed %d, %s: shown %v, want %v", seed, path, shown, want)
			}
			deep = max(deep, strings.Count(path, "/"))
		}
		for path := range tree.seen {
			want := slices.DeleteFunc(tree.shown(path), func(n string) bool {
				return slices.ContainsFunc(strings.Split(path, "/"), func(a string) bool { return slices.Contains(tree.denied[a], n) })
			})
			refused += len(tree.tools) - len(want)
			ran += len(want)
			if got := slices.Sorted(slices.Values(tree.ran[path])); !slices.Equal(got, want) {
				t.Errorf("seed %d, %s: ran %v, want %v", seed, path, got, want)
			}
		}
		tree.foldAgrees()
	}
	if deep < session.MaxDepth || refused < 100 || ran < 100 {
		t.Errorf("%d deep, %d calls refused and %d run: it proves too little", deep, refused, ran)
	}
}

// tree is a team of agents that are declared at random, whose model calls every tool by name and delegates on.
type tree struct {
	*team
	tools  []string
	denied denials
	mu     sync.Mutex
	// seen are the tools that a chain was shown, ran those that it ran, by the agents' names from the root on.
	seen, ran map[string][]string
}

// groupedTools are the tools that an agent of the default set must activate.
var groupedTools = []string{"t4", "t5"}

func newTree(t *testing.T, seed uint64) *tree {
	t.Helper()
	rnd := rand.New(rand.NewPCG(seed, 7))
	tr := &tree{tools: []string{"t0", "t1", "t2", "t3", "t4", "t5"}, denied: denials{}, seen: map[string][]string{}, ran: map[string][]string{}}
	some := func() []string {
		out := []string{}
		for _, n := range tr.tools {
			if rnd.IntN(3) > 0 {
				out = append(out, n)
			}
		}
		return out
	}
	agents := map[string]prompt.Agent{}
	for _, id := range []string{"main", "chatty", "helper", "other"} {
		a := prompt.Agent{Type: "task", AllTools: rnd.IntN(4) == 0, NoTools: rnd.IntN(12) == 0}
		if id == "main" {
			a.Type, a.NoTools = "chat", false
		}
		if !a.AllTools && rnd.IntN(3) > 0 {
			a.Tools = some()
		}
		agents[id] = a
		if rnd.IntN(3) == 0 {
			tr.denied[id] = []string{tr.tools[rnd.IntN(len(tr.tools))]}
		}
	}
	tr.team = newTeam(t, agents, tr.reply)
	var list []tool.Tool
	for _, n := range tr.tools {
		one := tool.Tool{
			Spec: model.ToolSpec{Name: n, Description: n, Parameters: json.RawMessage(`{"type":"object"}`)},
			Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
				var in struct{ Path string }
				if err := c.Decode(&in); err != nil {
					return tool.Result{}, err
				}
				tr.mu.Lock()
				defer tr.mu.Unlock()
				tr.ran[in.Path] = append(tr.ran[in.Path], n)
				return tool.Result{Text: "done"}, nil
			},
		}
		if slices.Contains(groupedTools, n) {
			one.Group = "g"
		}
		list = append(list, one)
	}
	reg, err := tool.NewRegistry(list...)
	if err != nil {
		t.Fatal(err)
	}
	tr.opts.Tools, tr.opts.Gate = reg, tr.denied
	return tr
}

// shown is what the last agent of a chain must be shown.
func (tr *tree) shown(path string) []string {
	chain := strings.Split(path, "/")
	return slices.DeleteFunc(slices.Clone(tr.tools), func(n string) bool {
		for i, id := range chain {
			a := tr.agents[id]
			last := i == len(chain)-1
			switch {
			case a.NoTools, a.Tools != nil && !a.AllTools && !slices.Contains(a.Tools, n):
				return true
			case last && a.Tools == nil && !a.AllTools && slices.Contains(groupedTools, n):
				return true // it could activate the group, and has not
			}
		}
		return false
	})
}

// reply calls everything that there is, and delegates to two agents that the path draws.
func (tr *tree) reply(q *model.Request) (modeltest.Reply, bool) {
	if len(results(q)) > 0 {
		return modeltest.Say("ok"), true
	}
	path := strings.Fields(q.Messages[0].Text)[0]
	if path == "ann:" {
		path = "main"
	}
	tr.mu.Lock()
	defer tr.mu.Unlock()
	shown := []string{}
	for _, s := range q.Tools {
		if slices.Contains(tr.tools, s.Name) {
			shown = append(shown, s.Name)
		}
	}
	tr.seen[path] = shown
	var out modeltest.Reply
	for _, n := range tr.tools {
		out.Calls = append(out.Calls, modeltest.Call{Name: n, Arguments: fmt.Sprintf(`{"path":%q}`, path)})
	}
	depth := strings.Count(path, "/")
	others := slices.DeleteFunc([]string{"chatty", "helper", "other"}, func(id string) bool { return strings.HasSuffix(path, id) })
	name := "execute_subtask"
	if depth == 0 {
		name = "execute_task"
	}
	for i := range 2 {
		if i > 0 && depth > 2 {
			break
		}
		to := others[(len(path)+i)%len(others)]
		out.Calls = append(out.Calls, modeltest.Call{Name: name, Arguments: fmt.Sprintf(`{"mode":"sync","agent_id":%q,"prompt":%q}`, to, path+"/"+to)})
	}
	return out, true
}
