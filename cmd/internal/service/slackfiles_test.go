package service_test

import (
	"bytes"
	"image"
	"image/png"
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/cmd/internal/service"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// What people attach in Slack reaches the model, and what cannot be read is named with its reason.
func TestSlackFiles(t *testing.T) {
	t.Parallel()
	var picture bytes.Buffer
	if err := png.Encode(&picture, image.NewGray(image.Rect(0, 0, 4, 4))); err != nil {
		t.Fatal(err)
	}
	// The model repeats what it saw of the last message.
	r := onSlack(t, slackfake.Options{}, func(o *service.Options) {
		o.Models = []model.Configured{{Name: "eyes", Images: true, Model: modeltest.NewScripted(func(q *model.Request) (modeltest.Reply, bool) {
			m := q.Messages[len(q.Messages)-1]
			return modeltest.Say("I saw " + strings.Repeat("a picture ", len(m.Images)) + "and: " + m.Text), true
		})}}
	})
	told := r.slack.Say(slackfake.Say{Text: mention + "look", Files: []slackfake.Upload{
		{Name: "numbers.csv", Data: []byte("city;people\nBonn;330000\n")},
		{Name: "dot.png", Data: picture.Bytes()},
		{Name: "all.zip", Data: []byte("PK")},
		{Name: "plan.gdoc", Service: "gdrive"},
		{Name: "shared.md", Data: []byte("from afar"), Access: "check_file_info"},
	}})
	got := strings.Join(r.said(told.Channel, told.TS, 1), "\n")
	for _, want := range []string{"I saw a picture and", "Bonn;330000", "dot.png", "all.zip", "not read", "gdrive", "from afar", "shared.md"} {
		if !strings.Contains(got, want) {
			t.Errorf("the answer has no %q:\n%s", want, got)
		}
	}
	var scopes []string
	for _, s := range slackScopes() {
		if s != "files:read" {
			scopes = append(scopes, s)
		}
	}
	r.slack.SetScopes(slackfake.BotToken, scopes)
	r.slack.Say(slackfake.Say{Thread: told.TS, Text: "again", Files: []slackfake.Upload{{Name: "more.csv", Data: []byte("x")}}})
	if got := r.said(told.Channel, told.TS, 2)[1]; !strings.Contains(got, "the scope files:read is missing") {
		t.Errorf("without the scope it says %s", got)
	}
}

// slackScopes are those that the app asks for.
func slackScopes() (out []string) {
	for _, s := range slack.BotScopes() {
		out = append(out, s.Name)
	}
	return out
}
