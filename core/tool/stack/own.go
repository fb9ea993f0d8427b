package stack

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"herald/core/session"
	"herald/core/tool"
)

// Limits of what one call may say.
const (
	maxTodos   = 100
	maxTodo    = 500 // runes
	maxKey     = 80
	maxChoices = 10
	maxChoice  = 75 // runes: the longest label of a button that every platform takes
	maxTitle   = 150
	maxAsked   = 3000
)

// reserved is the group that holds what agents must not open.
const reserved = "config"

func (s *Source) newTodos() tool.Tool {
	return own(WriteTodos, `Keeps your own plan: the full list each time, with what is done and what you are working on. Nobody else sees it. Use it for work of three steps and more.`, `{"type":"object","properties":{"todos":{"type":"array","items":{"type":"object","properties":{"content":{"type":"string"},"status":{"type":"string","enum":["pending","in_progress","completed"]}},"required":["content","status"]}}},"required":["todos"]}`,
		session.Traits{Repeatable: true}, func(_ context.Context, c tool.Call) (tool.Result, error) {
			var in struct {
				Todos []Todo `json:"todos"`
			}
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			text, err := Todos(in.Todos)
			return tool.Result{Text: text}, err
		})
}

// Todo is a line of an agent's plan.
type Todo struct {
	Content string `json:"content"`
	Status  string `json:"status"`
}

// Todos is a plan as text.
func Todos(todos []Todo) (string, error) {
	switch {
	case len(todos) == 0:
		return "", errors.New("the list is empty; write the full list each time")
	case len(todos) > maxTodos:
		return "", fmt.Errorf("the list has %d entries, at most %d", len(todos), maxTodos)
	}
	marks := map[string]string{"pending": "[ ]", "in_progress": "[~]", "completed": "[x]"}
	counts := make(map[string]int)
	var b strings.Builder
	for i, t := range todos {
		text := strings.Join(strings.Fields(t.Content), " ")
		mark, ok := marks[t.Status]
		switch {
		case text == "":
			return "", fmt.Errorf("entry %d has no content", i+1)
		case utf8.RuneCountInString(text) > maxTodo:
			return "", fmt.Errorf("entry %d has more than %d characters", i+1, maxTodo)
		case !ok:
			return "", fmt.Errorf("entry %d: %q is no status; there are pending, in_progress, completed", i+1, t.Status)
		}
		counts[t.Status]++
		fmt.Fprintf(&b, "%s %s\n", mark, text)
	}
	fmt.Fprintf(&b, "%d completed, %d in progress, %d pending", counts["completed"], counts["in_progress"], counts["pending"])
	return b.String(), nil
}

func (s *Source) newScratchpad() tool.Tool {
	return own(UpdateScratchpad, `Writes a line of the scratchpad, which every agent of this conversation sees in its prompt: findings, decisions, names of files that the others need. An empty value takes the line away. Plans belong in write_todos.`, `{"type":"object","properties":{"key":{"type":"string"},"value":{"type":"string"}},"required":["key","value"]}`,
		session.Traits{Repeatable: true}, func(_ context.Context, c tool.Call) (tool.Result, error) {
			var in struct{ Key, Value string }
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			key := strings.Join(strings.Fields(in.Key), " ")
			switch n := utf8.RuneCountInString(key); {
			case n == 0:
				return tool.Result{}, errors.New("the line has no key")
			case n > maxKey:
				return tool.Result{}, fmt.Errorf("the key has %d characters, at most %d", n, maxKey)
			}
			l := session.PadLine{Key: key, Value: strings.TrimSpace(in.Value)}
			text := "The line stands in the scratchpad."
			if l.Value == "" {
				text = "The line is gone from the scratchpad."
			}
			return tool.Result{Text: text, Pad: &l}, nil
		})
}

func (s *Source) newClarification() tool.Tool {
	return own(AskClarification, `Asks the person one question and waits for the answer. Ask only what you cannot find out yourself and what changes what you do next. Suggested answers become buttons; the person may also answer in their own words.`, `{"type":"object","properties":{"title":{"type":"string","description":"the question in a few words"},"question":{"type":"string"},"suggested_answers":{"type":"array","items":{"type":"string"}}},"required":["question"]}`,
		session.Traits{Repeatable: true}, func(_ context.Context, c tool.Call) (tool.Result, error) {
			var in struct {
				Title    string   `json:"title"`
				Question string   `json:"question"`
				Answers  []string `json:"suggested_answers"`
			}
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			if c.Unattended {
				return tool.Result{}, errors.New("nobody is there who could answer in this run; go on without it and say what is missing")
			}
			question, title := strings.TrimSpace(in.Question), strings.Join(strings.Fields(in.Title), " ")
			switch {
			case question == "":
				return tool.Result{}, errors.New("there is no question")
			case utf8.RuneCountInString(question) > maxAsked:
				return tool.Result{}, fmt.Errorf("the question has more than %d characters", maxAsked)
			case utf8.RuneCountInString(title) > maxTitle:
				return tool.Result{}, fmt.Errorf("the title has more than %d characters", maxTitle)
			}
			var choices []string
			for _, a := range in.Answers {
				a = strings.Join(strings.Fields(a), " ")
				switch {
				case a == "" || slices.Contains(choices, a):
				case utf8.RuneCountInString(a) > maxChoice:
					return tool.Result{}, fmt.Errorf("the suggested answer %q has more than %d characters", short(a, 30), maxChoice)
				default:
					choices = append(choices, a)
				}
			}
			if len(choices) > maxChoices {
				return tool.Result{}, fmt.Errorf("%d answers are suggested, at most %d", len(choices), maxChoices)
			}
			return tool.Result{Wait: &session.Wait{Kind: session.Question, Title: title, Text: question, Choices: choices}}, nil
		})
}

func (s *Source) newActivate() tool.Tool {
	groups := s.o.Groups()
	names := slices.Sorted(maps.Keys(groups))
	var about []string
	for _, g := range names {
		about = append(about, g+" ("+strings.Join(groups[g], ", ")+")")
	}
	return own(ActivateTools, `Opens further groups of tools for you: `+strings.Join(about, "; ")+`. They are there from your next step on.`, `{"type":"object","properties":{"groups":{"type":"array","items":{"type":"string","enum":["`+strings.Join(names, `","`)+`"]}}},"required":["groups"]}`,
		session.Traits{Repeatable: true}, func(_ context.Context, c tool.Call) (tool.Result, error) {
			var in struct {
				Groups []string `json:"groups"`
			}
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			if len(in.Groups) == 0 {
				return tool.Result{}, fmt.Errorf("no group is named; there are %s", strings.Join(names, ", "))
			}
			var open, lines []string
			for _, g := range in.Groups {
				g = strings.TrimSpace(g)
				switch {
				case g == reserved:
					return tool.Result{}, fmt.Errorf("the group %q is not open to agents; an admin changes the settings", g)
				case groups[g] == nil:
					return tool.Result{}, fmt.Errorf("there is no group %q; there are %s", g, strings.Join(names, ", "))
				case !slices.Contains(open, g):
					open = append(open, g)
					lines = append(lines, g+": "+strings.Join(groups[g], ", "))
				}
			}
			return tool.Result{Text: "These tools are open now, as far as the rules let you use them.\n" + strings.Join(lines, "\n"), Groups: open}, nil
		})
}

// absent are the types of list_items that a model may know from elsewhere, where nothing of the kind is given in [Options.Lists].
var absent = map[string]string{
	"cron":    "There are none: nothing runs by a timetable in this version.",
	"mcp":     "There are none: this version connects to no MCP servers.",
	"plugins": "There are none: this version has no plugins. Skills are listed by the type skills.",
}

func (s *Source) newList() tool.Tool {
	types := append([]string{"agents"}, slices.Sorted(maps.Keys(s.o.Lists))...)
	return own(ListItems, `Lists what there is: `+strings.Join(types, ", ")+`.`, `{"type":"object","properties":{"type":{"type":"string","enum":["`+strings.Join(types, `","`)+`"]}},"required":["type"]}`,
		session.Traits{ReadOnly: true, Repeatable: true}, func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var in struct {
				Type string `json:"type"`
			}
			if err := c.Decode(&in); err != nil {
				return tool.Result{}, err
			}
			text := ""
			if list, ok := s.o.Lists[in.Type]; ok {
				var err error
				if text, err = list(ctx, c.Scope); err != nil {
					return tool.Result{}, err
				}
			} else if in.Type == "agents" {
				text = s.agents(ctx, c.Agent)
			} else if text, ok = absent[in.Type]; !ok {
				return tool.Result{}, fmt.Errorf("there is no list of %q; there are %s", in.Type, strings.Join(types, ", "))
			}
			if text == "" {
				text = "There are none."
			}
			return tool.Result{Text: text}, nil
		})
}

// agents lists the agents that take tasks, as models read them.
func (s *Source) agents(ctx context.Context, caller string) string {
	var lines []string
	for _, i := range s.o.Agents.List(ctx) {
		if i.Type != taskType || i.ID == caller {
			continue
		}
		l := "- **" + i.ID + "**"
		if i.Description != "" {
			l += " — " + i.Description
		}
		if i.Instructions != "" {
			l += "\n  How to ask it: " + i.Instructions
		}
		lines = append(lines, l)
	}
	return strings.Join(lines, "\n")
}
