package service

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"regexp"
	"slices"
	"strings"

	"herald/agents"
	"herald/core/model"
	"herald/core/tool"
	"herald/core/tool/stack"
)

// stage plays tools.
type stage struct {
	files, answers map[string]string
}

// answer is what the scenario says of a tool.
func (s stage) answer(name string) (string, bool) {
	for _, expr := range slices.Sorted(maps.Keys(s.answers)) {
		if ok, err := regexp.MatchString("^(?:"+expr+")$", name); err == nil && ok {
			return s.answers[expr], true
		}
	}
	return "", false
}

// staged are the tools as a scenario plays them. Those that change the session alone are the real ones.
func (s stage) staged(tools []tool.Tool) []tool.Tool {
	real := []string{stack.WriteTodos, stack.UpdateScratchpad, stack.ActivateTools, stack.ListItems}
	for i, t := range tools {
		if _, answered := s.answer(t.Spec.Name); answered || !slices.Contains(real, t.Spec.Name) {
			tools[i].Run = func(_ context.Context, c tool.Call) (tool.Result, error) {
				text, failed := s.play(c)
				if failed {
					return tool.Result{}, errors.New(text)
				}
				return tool.Result{Text: text}, nil
			}
		}
	}
	return tools
}

func (s stage) play(c tool.Call) (text string, failed bool) {
	if answer, ok := s.answer(c.Name); ok {
		return answer, false
	}
	var in struct {
		Path    string `json:"path"`
		Content string `json:"content"`
		Text    string `json:"text"`
		Old     string `json:"old"`
		New     string `json:"new"`
	}
	if err := json.Unmarshal(c.Arguments, &in); err != nil {
		return "the arguments do not fit: " + err.Error(), true
	}
	held, there := s.files[in.Path]
	switch c.Name {
	case "read_file":
		if !there {
			return in.Path + " does not exist", true
		}
		return held, false
	case "list_files", "search_file", "grep_files":
		var out []string
		for _, name := range slices.Sorted(maps.Keys(s.files)) {
			for i, line := range strings.Split(strings.TrimSuffix(s.files[name], "\n"), "\n") {
				if c.Name == "list_files" {
					out = append(out, name)
					break
				}
				out = append(out, fmt.Sprintf("%s:%d: %s", name, i+1, line))
			}
		}
		return strings.Join(out, "\n"), false
	case "write_file":
		s.files[in.Path] = in.Content
	case "append_file":
		s.files[in.Path] = held + in.Content
	case "edit_file":
		if !there || in.Old == "" || !strings.Contains(held, in.Old) {
			return in.Path + " does not hold this text", true
		}
		s.files[in.Path] = strings.Replace(held, in.Old, in.New, 1)
	case "current_time":
		return "2026-03-04 09:00 UTC", false
	case "ask_user_clarification":
		return "Take what you think best.", false
	}
	return "done", false
}

// Script is a model that answers step by step and knows nothing.
type Script []agents.Step

// Generate gives the step for as many answers as the history holds.
func (s Script) Generate(_ context.Context, r *model.Request) iter.Seq2[model.Chunk, error] {
	return func(yield func(model.Chunk, error) bool) {
		n := 0
		for _, m := range r.Messages {
			if m.Role == model.Assistant {
				n++
			}
		}
		if n >= len(s) {
			yield(model.Chunk{}, errors.New("the script has no further step"))
			return
		}
		a := &model.Answer{Text: s[n].Say, Finish: model.FinishStop}
		if s[n].Call != "" {
			a.Finish, a.Calls = model.FinishCalls, []model.Call{{ID: r.NewCallID(), Name: s[n].Call, Arguments: json.RawMessage(s[n].Arguments)}}
		}
		yield(model.Chunk{Done: a}, nil)
	}
}
