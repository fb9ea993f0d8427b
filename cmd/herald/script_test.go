package main

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// The scripts run the program as a person does: its own process, folder and environment.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){"herald": main, "newer": makeNewer})
}

// makeNewer makes the store of a file one that a later version of Herald wrote.
func makeNewer() {
	db, err := sql.Open("sqlite", os.Args[1])
	if err == nil {
		_, err = db.Exec("UPDATE meta SET value = '999' WHERE key = 'format'")
		err = errors.Join(err, db.Close())
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func TestScripts(t *testing.T) {
	t.Parallel()
	testscript.Run(t, testscript.Params{
		Dir: "testdata/script",
		Setup: func(e *testscript.Env) error {
			// Nothing of the account that runs the tests may show. The data folder's path is short enough for a socket.
			data, err := os.MkdirTemp("", "hd")
			if err != nil {
				return err
			}
			e.Defer(func() { _ = os.RemoveAll(data) })
			e.Setenv("DATA", data)
			e.Setenv("HERALD_DATA_DIR", filepath.Join(data, "herald"))
			e.Setenv("XDG_CONFIG_HOME", e.WorkDir+"/config")
			e.Setenv("HERALD_HTTP__LISTEN", "off")
			return nil
		},
		Cmds: map[string]func(ts *testscript.TestScript, neg bool, args []string){"model": startModel, "slack": startSlack},
	})
}

// afterTools answers a request that shows the results of the last calls. The service's own note may stand behind them.
func afterTools(reply modeltest.Reply) modeltest.Rule {
	return func(r *model.Request) (modeltest.Reply, bool) {
		for _, m := range slices.Backward(r.Messages) {
			if m.Role != model.User {
				return reply, m.Role == model.Tool
			}
		}
		return reply, false
	}
}

// startModel starts an endpoint that answers "4" to "two and two", uses the clock when asked for the time, refuses every key but
// "good-key" when told "model keyed", makes the file "hanging" and never answers to "hang", and echoes the rest. Its address is $MODEL.
func startModel(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: model [keyed]")
	}
	hang := func(r *model.Request) (modeltest.Reply, bool) {
		if !strings.Contains(modeltest.LastUser(r), "hang") {
			return modeltest.Reply{}, false
		}
		_ = os.WriteFile(ts.MkAbs("hanging"), nil, 0o644)
		return modeltest.Reply{FirstDelay: time.Hour}, true
	}
	s := &modeltest.Server{Rules: []modeltest.Rule{
		hang,
		modeltest.When("two and two", modeltest.Say("It is **4**.")),
		afterTools(modeltest.Say("I looked at the clock.")),
		modeltest.Whenever("what time", modeltest.Use("current_time", "{}")),
		modeltest.Echo(),
	}}
	if len(args) == 1 {
		s.Key = "good-key"
	}
	url, stop, err := s.Start(context.Background())
	ts.Check(err)
	ts.Defer(stop)
	ts.Setenv("MODEL", url)
}

// startSlack starts a Slack whose tokens stand in the variables that init proposes; "slack SCOPE" takes a scope away. $SLACK is its address.
func startSlack(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) > 1 {
		ts.Fatalf("usage: slack [SCOPE]")
	}
	s, err := slackfake.Start(context.Background(), slackfake.Options{})
	ts.Check(err)
	ts.Defer(s.Close)
	var scopes []string
	for _, scope := range slack.BotScopes() {
		if len(args) == 0 || scope.Name != args[0] {
			scopes = append(scopes, scope.Name)
		}
	}
	s.SetScopes(slackfake.BotToken, scopes)
	ts.Setenv("SLACK", s.APIURL())
	ts.Setenv("HERALD_SLACK__API_URL", s.APIURL())
	ts.Setenv("SLACK_BOT_TOKEN", slackfake.BotToken)
	ts.Setenv("SLACK_APP_TOKEN", slackfake.AppToken)
}
