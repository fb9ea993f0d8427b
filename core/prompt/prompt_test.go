package prompt_test

import (
	"strings"
	"testing"
	"time"

	"herald/core/model"
	"herald/core/prompt"
)

func TestTheHistoryIsAStablePrefix(t *testing.T) {
	t.Parallel()
	a := prompt.Agent{ID: "main", Text: "You are main."}
	now := time.Date(2026, 3, 4, 15, 16, 17, 0, time.UTC)
	turn1 := []model.Message{{Role: model.User, Text: "hi"}}
	turn2 := []model.Message{turn1[0], {Role: model.Assistant, Text: "hello"}, {Role: model.User, Text: "again"}}
	r1 := prompt.Build(a, nil, turn1, now, time.UTC)
	r2 := prompt.Build(a, nil, turn2, now.Add(time.Hour), time.UTC)
	if strings.Join(r1.System, "\n") != strings.Join(r2.System, "\n") {
		t.Error("the system prompt changed with the hour")
	}
	if r2.Messages[0].Text != "hi" || turn1[0].Text != "hi" {
		t.Errorf("the first message became %q; the history itself must not change", r2.Messages[0].Text)
	}
	if want := "again\n\n<note>It is Wednesday, 2026-03-04, 16 o'clock, UTC.</note>"; r2.Messages[2].Text != want {
		t.Errorf("the last message is %q, want %q", r2.Messages[2].Text, want)
	}
}

func TestTheTailStandsWithThePersonsWordsDuringRounds(t *testing.T) {
	t.Parallel()
	h := []model.Message{
		{Role: model.User, Text: "go"},
		{Role: model.Assistant, Calls: []model.Call{{ID: "1", Name: "x"}}},
		{Role: model.Tool, CallID: "1", Text: "ok"},
	}
	now := time.Date(2026, 3, 4, 15, 0, 0, 0, time.UTC)
	first := prompt.Build(prompt.Agent{}, nil, h[:1], now, time.UTC)
	second := prompt.Build(prompt.Agent{}, nil, h, now.Add(time.Minute), time.UTC)
	if first.Messages[0].Text != second.Messages[0].Text || second.Messages[2].Text != "ok" {
		t.Errorf("%+v and %+v do not share their prefix", first.Messages, second.Messages)
	}
}
