package main

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"time"

	"herald/core/model"
	"herald/core/model/modeltest"
)

// A message of the crash tests is "#token verb": the token names it over all that is said, the verb tells the model what to do.
const (
	verbPlain = "plain" // answer at once
	verbLong  = "long"  // stream an answer of several pieces
	verbThink = "think" // answer after a while
	verbShake = "shake" // panic in the service at the first call
	verbFail  = "fail"  // refuse until the turn is started over

	verbDelegate = "delegate" // have the worker use toolEffect, and wait for it
	verbInquire  = "inquire"  // have the worker ask the person
	verbDare     = "dare"     // have the worker use toolDanger
	verbTask     = "task"     // have the worker use toolEffect beside the conversation
	verbClarify  = "clarify"  // ask the person, as the service's own tool does
)

// worker is the agent that the main one gives work to.
const worker = "worker"

// thinking is how long the model takes for verbThink.
const thinking = 400 * time.Millisecond

var (
	tokens = regexp.MustCompile(`#[a-z0-9]+`)
	verbs  = regexp.MustCompile(`[#~]([a-z0-9]+) ([a-z]+)`) // behind "~" stands the token of a delegated part, which only tools are told
)

// calling are the verbs that are a tool's name.
var calling = map[string]bool{
	toolEffect: true, toolLook: true, toolSlow: true, toolAsk: true, toolDanger: true, toolTell: true, toolPoison: true, toolPanic: true,
	toolChild: true, toolNote: true, verbDelegate: true, verbInquire: true, verbDare: true, verbTask: true, verbClarify: true,
}

// order is one verb of a message that no answer covers yet.
type order struct{ token, verb string }

// told is what a request asks for: what people said since the last answer.
type told struct {
	tokens  []string
	orders  []order
	results int
}

// ended begins the notes behind which what was said before has its answer already.
var ended = []string{"<note>A person stopped", "<note>This turn failed"}

// read finds what a request asks for.
func read(r *model.Request) told {
	var t told
	for _, m := range r.Messages {
		switch {
		case m.Role == model.Assistant && len(m.Calls) == 0:
			t = told{}
		case m.Role == model.User:
			text := m.Text
			for _, e := range ended {
				if i := strings.LastIndex(text, e); i >= 0 {
					t, text = told{}, text[i:]
				}
			}
			t.add(text)
		case m.Role == model.Tool:
			t.results++
			t.add(m.Text)
		}
	}
	return t
}

func (t *told) add(text string) {
	t.tokens = append(t.tokens, tokens.FindAllString(text, -1)...)
	for _, v := range verbs.FindAllStringSubmatch(text, -1) {
		t.orders = append(t.orders, order{v[1], v[2]})
	}
}

// reply is the fake model: it calls the tools that the verbs name, one after the other, and then answers with all tokens.
func reply(r *model.Request) (modeltest.Reply, bool) {
	t := read(r)
	var calls []order
	last := verbPlain
	for _, o := range t.orders {
		if calling[o.verb] {
			calls = append(calls, o)
		}
		last = o.verb
	}
	if t.results < len(calls) {
		return calls[t.results].call(), true
	}
	if last == verbFail && !slices.ContainsFunc(r.Messages, func(m model.Message) bool { return strings.Contains(m.Text, ended[1]) }) {
		return modeltest.Reply{Wire: modeltest.Wire{Status: 400, Body: `{"error":{"message":"no"}}`}}, true
	}
	out := modeltest.Reply{Text: answers + strings.Join(t.tokens, " ") + "."}
	switch last {
	case verbThink:
		out.FirstDelay = thinking
	case verbLong:
		for i := range longLines {
			out.Text += fmt.Sprintf("\nLine %d of an answer that does not fit into one message.", i+1)
		}
		out.Chunks, out.Delay = 14, 70*time.Millisecond
	}
	return out, true
}

// call is the call that an order means.
func (o order) call() modeltest.Reply {
	task := func(mode, prompt string) (string, map[string]string) {
		return "execute_task", map[string]string{"mode": mode, "agent_id": worker, "title": "work", "prompt": prompt}
	}
	name, given := o.verb, map[string]string{"token": o.token}
	switch o.verb {
	case toolNote:
		given = map[string]string{"text": "a note"}
	case verbClarify:
		name, given = "ask_user_clarification", map[string]string{"title": asked, "question": "Say yes or no."}
	case verbDelegate:
		name, given = task("sync", "~"+o.token+" "+toolEffect)
	case verbInquire:
		name, given = task("sync", "~"+o.token+" "+verbClarify)
	case verbDare:
		name, given = task("sync", "~"+o.token+" "+toolDanger)
	case verbTask:
		name, given = task("async", "#"+beside(o.token)+" "+toolEffect)
	}
	args, err := json.Marshal(given)
	if err != nil {
		panic(err) // strings
	}
	return modeltest.Use(name, string(args))
}

// beside is the token of the task that a message with this token begins: its result is answered by itself.
func beside(token string) string { return token + "k" }

// answers begins every answer of the model; longLines are the lines of a long one, which make three messages.
const (
	answers   = "This answers "
	longLines = 14
	textLimit = 400
)

// shaky is a model whose call panics in the service, once for each folder, when a person asks for it.
type shaky struct {
	model.Model
	dir string
}

// Generate implements [model.Model].
func (m shaky) Generate(ctx context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	orders := read(r).orders
	if n := len(orders); n > 0 && orders[n-1].verb == verbShake {
		// A file outlives the process, so that the call goes well the next time whatever dies.
		if f, err := os.OpenFile(filepath.Join(m.dir, "shaken"), os.O_CREATE|os.O_EXCL, 0o600); err == nil {
			_ = f.Close()
			panic("a model that panics")
		}
	}
	return m.Model.Generate(ctx, r)
}
