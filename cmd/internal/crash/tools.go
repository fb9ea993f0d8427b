package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"herald/cmd/internal/failpoint"
	"herald/core/model"
	"herald/core/session"
	"herald/core/tool"
)

// tools are the tools of a child. What they do outside of the process is a line in the effects file: it outlives any kill.
type tools struct {
	effects string
	list    []tool.Tool
	allowed []string
}

// The tools by the verbs that make the model call them.
const (
	toolEffect = "effect"   // not repeatable
	toolLook   = "lookup"   // repeatable
	toolSlow   = "slow"     // not repeatable, takes a while
	toolAsk    = "ask"      // repeatable, asks a question and waits
	toolDanger = "danger"   // needs an approval
	toolTell   = "forward"  // owes a message to another conversation
	toolChild  = "child"    // delegates to another frame
	toolNote   = "remember" // the service's own
	toolPoison = "poison"   // repeatable, kills the process
	toolPanic  = "panic"    // panics
)

// slowTool is how long toolSlow takes.
const slowTool = 500 * time.Millisecond

func newTools(effects string, p *failpoint.Points) *tools {
	t := &tools{effects: effects}
	pause := func(d time.Duration) func(context.Context, tool.Call) (tool.Result, error) {
		return func(ctx context.Context, _ tool.Call) (tool.Result, error) {
			timer := time.NewTimer(d)
			defer timer.Stop()
			select {
			case <-timer.C:
				return tool.Result{Text: "done"}, nil
			case <-ctx.Done():
				return tool.Result{}, ctx.Err()
			}
		}
	}
	once := session.Traits{}
	add := func(name string, traits session.Traits, allow bool, run func(context.Context, tool.Call) (tool.Result, error)) {
		t.add(p, name, traits, allow, run)
	}
	add(toolEffect, once, true, pause(0))
	add(toolLook, session.Traits{ReadOnly: true, Repeatable: true}, true, pause(0))
	add(toolSlow, once, true, pause(slowTool))
	add(toolDanger, once, false, pause(0))
	add(toolAsk, session.Traits{Repeatable: true}, true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Wait: &session.Wait{Kind: session.Question, Title: asked, Text: "Say yes or no."}}, nil
	})
	add(toolTell, once, true, forward)
	add(toolChild, session.Traits{Delegates: true}, true, func(context.Context, tool.Call) (tool.Result, error) {
		return tool.Result{Push: &tool.Push{Agent: "main", Prompt: "Do your part."}}, nil
	})
	add(toolPoison, session.Traits{Repeatable: true}, true, func(context.Context, tool.Call) (tool.Result, error) {
		failpoint.Kill()
		return tool.Result{}, nil
	})
	add(toolPanic, once, true, func(context.Context, tool.Call) (tool.Result, error) { panic("a tool that panics") })
	return t
}

// asked is the title of toolAsk's question.
const asked = "Which one?"

func (t *tools) add(p *failpoint.Points, name string, traits session.Traits, allow bool, run func(context.Context, tool.Call) (tool.Result, error)) {
	one := tool.Tool{
		Spec:   model.ToolSpec{Name: name, Description: "A tool of the crash tests.", Parameters: json.RawMessage(`{"type":"object","properties":{"token":{"type":"string"}}}`)},
		Traits: traits,
		Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			if err := t.note(effect{Tool: name, Call: c.ID, Token: tokenOf(c), Repeatable: traits.Repeatable || traits.Delegates, PID: os.Getpid()}); err != nil {
				return tool.Result{}, err
			}
			return run(ctx, c)
		},
	}
	t.list = append(t.list, failpoint.Tool(one, p))
	if allow {
		t.allowed = append(t.allowed, name)
	}
}

// effect is one start of a tool.
type effect struct {
	Tool, Call, Token string
	Repeatable        bool
	PID               int
}

// tokenOf is the token of the message for which the model makes the call.
func tokenOf(c tool.Call) string {
	var args struct {
		Token string `json:"token"`
	}
	if err := c.Decode(&args); err != nil {
		return ""
	}
	return args.Token
}

// note writes the effect in one write, which a kill does not tear.
func (t *tools) note(e effect) error {
	line, err := json.Marshal(e)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(t.effects, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("note an effect: %w", err)
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}
