package intake_test

import (
	"strings"
	"testing"

	"herald/core/chat"
	"herald/core/intake"
	"herald/core/store"
	"herald/core/store/memory"
)

func TestAsk(t *testing.T) {
	t.Parallel()
	slash := func(text string) *chat.Inbound {
		in := message(7, text)
		in.Kind = chat.Command
		return in
	}
	for _, tc := range []struct {
		name        string
		in          *chat.Inbound
		agent, text string // of the message in the inbox; none when text is empty
		said        string // the notice
	}{
		{"in a message", message(7, "!herald ask what is\n  this?"), "", "what is\n  this?", ""},
		{"behind a slash", message(7, "/ask what is this?"), "", "what is this?", ""},
		{"an agent", message(7, "/herald Ask Writer what is this?"), "writer", "what is this?", ""},
		{"an agent with its mark", message(7, "/ask @writer\nwhat?"), "writer", "what?", ""},
		{"an agent alone", message(7, "/ask writer"), "", "", "Write what you want to ask `writer` behind its name."},
		{"an agent that is none", message(7, "/ask @wri`ter what?"), "", "", "`writer` is no agent that can be asked. These can: `main`, `writer`."},
		{"a word that is no agent", message(7, "/ask writers what?"), "", "writers what?", ""},
		{"nothing", message(7, "/ask  "), "", "", "That does not fit. Use `ask [AGENT] TEXT`"},
		{"the word alone goes to the agent", message(7, "ask writer something"), "", "ask writer something", ""},
		{"too long", message(7, "/ask "+strings.Repeat("x", 200_000)), "", "", "Your message has 200 kB"},
		{"as the slash command", slash("ask what\nis this?"), "", "what\nis this?", "Ada asks:\n\n> what\n> is this?"},
		{"an agent as the slash command", slash("ask writer what?"), "writer", "what?", "Ada asks `writer`:\n\n> what?"},
		{"nobody as the slash command", slash("ask @nobody what?"), "", "", "`nobody` is no agent"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, func(_ *memory.Options, o *intake.Options) {
				o.Chats = func() []string { return []string{"main", "writer"} }
			})
			r.take(tc.in, chat.Kept)
			r.take(tc.in, chat.Duplicate)
			var agent, text, said string
			for _, m := range r.inbox() {
				agent, text = agent+m.Agent, text+m.Text
				if m.MessageID != "m007" || m.Person != personOf(ada) {
					t.Errorf("the message is %+v", m)
				}
			}
			if agent != tc.agent || text != tc.text {
				t.Errorf("in the inbox stands %q for %q, want %q for %q", text, agent, tc.text, tc.agent)
			}
			for _, d := range r.notices() {
				said += d.Text
				if public := d.Interaction == ""; tc.in.Kind == chat.Command && public != (tc.text != "") {
					t.Errorf("what is said to all is the question alone, not %q", d.Text)
				}
			}
			if !strings.HasPrefix(said, tc.said) || tc.said == "" && said != "" {
				t.Errorf("said %q, want %q", said, tc.said)
			}
			if tc.text != "" && !r.due(store.Turns) {
				t.Error("the turn was not woken")
			}
		})
	}
}

// An edit of a question that was asked by command changes the question, not the command.
func TestEditOfAsk(t *testing.T) {
	t.Parallel()
	r := newRig(t, func(_ *memory.Options, o *intake.Options) { o.Chats = func() []string { return []string{"writer"} } })
	r.take(message(7, "/ask writer what?"), chat.Kept)
	r.take(edit(7, "008", "/ask writer why?"), chat.Kept)
	if c := r.controls(); len(c) != 1 || c[0].Text != "why?" {
		t.Errorf("the controls are %+v", c)
	}
}
