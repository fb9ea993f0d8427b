package turn_test

import (
	"bytes"
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/core/model/modeltest"
	"herald/core/prompt"
	"herald/core/tool"
)

// chosen gives the agent of a rig these tools alone.
type chosen struct {
	*rig
	tools []string
}

func (c chosen) Agent(_ context.Context, s tool.Scope) (prompt.Agent, error) {
	return prompt.Agent{ID: s.Agent, Text: "You are a test.", Tools: c.tools}, nil
}

// A tool that the agent does not have is as unknown as one that there is not, also when the model calls it by name.
func TestHiddenToolDoesNotRun(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct{ name, call, want, log string }{
		{"its own", "read", "answer [1] done", "read allow: "},
		{"another's", "act", "answer [1] there is no such tool: act", "act deny: the agent has no tool of this name"},
		{"nobody's", "fly", "answer [1] there is no such tool: fly", "fly deny: the agent has no tool of this name"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, modeltest.AfterTool(tc.call, modeltest.Say("{result}")), modeltest.When("go", modeltest.Use(tc.call, `{}`)))
			r.opts.Agents = chosen{r, []string{"read"}}
			var log bytes.Buffer
			r.opts.Log = slog.New(slog.NewTextHandler(&log, nil))
			r.say("1", "ann", "go")
			r.work()
			if d := cmp.Diff([]string{tc.want}, r.said()); d != "" {
				t.Errorf("said (-want +got)\n%s", d)
			}
			if logged, _ := r.gates(); !slices.Equal(logged, []string{tc.log}) {
				t.Errorf("the gate said %q, want %q", logged, tc.log)
			}
			if told, refused := strings.Contains(log.String(), `msg="a call was refused"`), strings.Contains(tc.log, "deny"); told != refused {
				t.Errorf("the service's log tells of a refusal: %v, want %v\n%s", told, refused, &log)
			}
		})
	}
}
