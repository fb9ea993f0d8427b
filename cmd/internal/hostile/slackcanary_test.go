package hostile_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/store/redis/redistest"
)

// given are more ways in which a model gives secrets away, each a row of calls one after the other: in a question with buttons, and in a file
// that is written, named after it, and put into the thread.
func given(s secret) [][]modeltest.Call {
	open := modeltest.Call{Name: "activate_tools", Arguments: `{"groups":["files"]}`}
	return [][]modeltest.Call{
		{{Name: "ask_user_clarification", Arguments: `{"title":` + inJSON(s.value()) + `,"question":` + inJSON("Is it "+s.value()+"?") + `,"suggested_answers":[` + inJSON(s.value()) + `,"no"]}`}},
		{
			open,
			{Name: "write_file", Arguments: `{"path":"data/report.md","content":` + inJSON("The token is "+s.value()+".\n") + `}`},
			{Name: "show_file_to_user", Arguments: `{"path":"data/report.md"}`},
		},
		{open, {Name: "write_file", Arguments: `{"path":` + inJSON("data/"+s.value()+".md") + `,"content":"named"}`}, {Name: "show_file_to_user", Arguments: `{"path":` + inJSON("data/"+s.value()+".md") + `}`}},
	}
}

// giving plays a row of calls for "row 3 of secret 2", and then says what came of the last one.
func giving(all []secret) modeltest.Rule {
	return func(r *model.Request) (modeltest.Reply, bool) {
		var row, which int
		if n, _ := fmt.Sscanf(modeltest.LastUser(r)[max(0, strings.LastIndex(modeltest.LastUser(r), "row ")):], "row %d of secret %d", &row, &which); n != 2 {
			return modeltest.Reply{}, false
		}
		done, said := 0, ""
		for _, m := range r.Messages {
			switch m.Role {
			case model.User:
				done = 0
			case model.Tool:
				done, said = done+1, m.Text
			default:
			}
		}
		calls := given(all[which])[row]
		if done < len(calls) {
			return modeltest.Reply{Calls: calls[done : done+1]}, true
		}
		return modeltest.Say("It came to: " + said), true
	}
}

// Whatever a provider, a model, a person or Slack itself does, none of Slack's tokens and no key reaches a person, a view, a file, a log, a metric,
// the store or a prompt.
func TestNoSecretLeavesOnSlack(t *testing.T) {
	t.Parallel()
	all := newSecrets("key of the provider", "bot token", "app token", "signing secret")
	all[1].prefix, all[2].prefix, all[3].prefix = "xoxb-1-", "xapp-1-", "5"
	for _, tc := range []struct{ name, mode, format string }{{"Socket Mode on SQLite", "socket", "text"}, {"HTTP on Redis", "http", "json"}} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			var env []string
			read := func() []byte { return nil }
			if tc.mode == "http" {
				s := redistest.Run(t, redistest.Options{AOF: "always"})
				env = append(env, "HERALD_STORE__URL="+s.URL())
				read = func() []byte { s.Quit(); return huntFiles(t, all, s.Dir()) }
			}
			playSlackLeaks(t, all, tc.mode, tc.format, env, read)
		})
	}
}

func playSlackLeaks(t *testing.T, all []secret, mode, format string, env []string, read func() []byte) {
	provider := &modeltest.Server{Key: all[0].value(), Rules: append([]modeltest.Rule{giving(all)}, leaking(all)...), Record: true}
	fake := fakeSlack(t, slackfake.Options{App: slackfake.App{AppToken: all[2].value(), SigningSecret: all[3].value()}})
	fake.Install(slackfake.Install{App: slackfake.AppID, Team: slackfake.Team, Token: all[1].value(), BotUser: slackfake.BotUser, BotID: slackfake.BotID})
	fake.Kill(slackfake.BotToken, "invalid_auth") // the standing one is not used
	h := newHome(t, append(env,
		"HERALD_LOG__LEVEL=debug", "HERALD_LOG__FORMAT="+format, "CANARY_KEY="+all[0].value(), "CANARY_BOT="+all[1].value(), "CANARY_APP="+all[2].value(),
		"HERALD_SLACK__MODE="+mode, "HERALD_SLACK__BOT_TOKEN_ENV=CANARY_BOT", "HERALD_SLACK__APP_TOKEN_ENV=CANARY_APP", "HERALD_SLACK__API_URL="+fake.APIURL(),
		"HERALD_ADMINS=slack:"+slackfake.Team+"/"+slackfake.Bob, "HERALD_RULES__1__TOOL=*", "HERALD_RULES__1__ACTION=allow",
	)...)
	h.write("signing.txt", all[3].value()+"\n")
	h.write("herald.toml", fmt.Sprintf("[slack]\nsigning_secret_file = \"signing.txt\"\n[providers.one]\nbase_url = %q\napi_key_env = \"CANARY_KEY\"\n[models.first]\nprovider = \"one\"\nmodel = \"m\"\n", startModel(t, provider)))
	said := map[string]result{}
	for _, args := range []string{"store create", "config check", "config explain", "doctor --ask"} {
		said[args] = h.do("", strings.Fields(args)...)
	}
	svc := h.start("run")
	if mode == "http" {
		fake.AddApp(slackfake.App{ID: slackfake.AppID, Name: "herald", AppToken: all[2].value(), SigningSecret: all[3].value(), RequestURL: "http://" + svc.address() + "/slack/events"})
	}
	r := &slackRig{rig: &rig{t: t, log: svc.log}, slack: fake}

	say := func(text string) slackfake.Told { return r.ask("", text) }
	var told []slackfake.Told
	for i := range leaks(all) {
		told = append(told, say(fmt.Sprint("leak ", i)))
	}
	for which := range all {
		for row := range given(all[which]) {
			told = append(told, say(fmt.Sprintf("row %d of secret %d", row, which)))
		}
	}
	told = append(told, say("marmalade is "+all[0].value()+" or "+all[1].value()+" or "+all[2].value()+" or "+all[3].value()))
	for i, tt := range told {
		r.wait(fmt.Sprint("an answer to leak ", i), func(v slackfake.View) bool { return len(standing(v, tt)) > 0 && v.Acked(tt.Events...) })
	}
	// A command's echo, and what Slack says of a call that it refuses.
	asked := fake.Command(slackfake.Command{Text: "jam " + all[1].value()})
	r.wait("the command is answered", func(v slackfake.View) bool {
		return v.Event(asked.ID).Acked && len(v.Whispers(slackfake.General, slackfake.Alice)) > 0
	})
	for _, s := range all {
		fake.Inject(slackfake.Fault{Channel: slackfake.Random, Kind: slackfake.Refusal, Error: s.value(), Messages: []string{"not " + s.value()}})
	}
	refused := r.ask(slackfake.Random, "hello")
	r.wait("Slack has refused calls", func(v slackfake.View) bool { return v.Counts().Faulted >= len(all) && v.Acked(refused.Events...) })

	for _, path := range []string{"/metrics", "/readyz", "/healthz", "/", "/slack/events"} {
		hunt(t, all, path, []byte(fetch(t, svc, path)))
	}
	svc.stop()
	if !strings.Contains(svc.log.String(), "turn failed") || !strings.Contains(svc.log.String(), "[redacted]") {
		t.Errorf("the log holds no failure, or nothing that was hidden: nothing was looked through\n%s", svc.log)
	}
	hunt(t, all, "the log", []byte(svc.log.String()))
	hunt(t, all, "stdout", []byte(svc.out.String()))
	files, cards := 0, 0
	fake.Look(func(v slackfake.View) {
		for _, rec := range v.Journal() {
			switch rec.Kind {
			case slackfake.Called:
				for name, arg := range rec.Args {
					hunt(t, all, rec.Method+"'s "+name, []byte(arg))
				}
				if strings.Contains(rec.Args["blocks"], "Is it [redacted]") {
					cards++
				}
			case slackfake.Sent, slackfake.Edited, slackfake.Acked:
				hunt(t, all, "a message", []byte(rec.Text+rec.Payload))
			case slackfake.Shared:
				files++
				hunt(t, all, "a file", append([]byte(rec.Text), v.File(rec.Event)...))
			default:
			}
		}
		for _, who := range []string{slackfake.Alice, slackfake.Bob} {
			for _, m := range append(v.Modals(slackfake.AppID, who), v.Home(slackfake.AppID, who)) {
				hunt(t, all, "a view", fmt.Append(m.Blocks, m.Title, m.Private))
			}
			for _, m := range v.Whispers(slackfake.General, who) {
				hunt(t, all, "a whisper", []byte(m.Text))
			}
		}
	})
	if files < len(all) || cards == 0 {
		t.Errorf("%d files were shown and %d questions asked: nothing was looked through", files, cards)
	}
	if provider.Calls() == 0 {
		t.Error("the provider was not asked: its key was not tried")
	}
	for _, rec := range provider.Records() {
		hunt(t, all, "a prompt", rec.Body)
	}
	for name, res := range said {
		hunt(t, all, name, []byte(res.out+res.err))
	}
	if said["doctor --ask"].out == "" || !strings.Contains(said["config explain"].out, "bot_token_env") {
		t.Errorf("the commands said nothing: %+v", said)
	}
	stored := string(huntFiles(t, all, filepath.Join(h.dir, "data"))) + string(read())
	if !strings.Contains(stored, "marmalade is [redacted] or [redacted]") {
		t.Error("what people say is not found in the files of the store: nothing was looked through")
	}
}
