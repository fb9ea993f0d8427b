package slackfake_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

const setUpBolt = "install Node.js 20 or newer with npm (https://nodejs.org), then run: make setup"

// bolt reports where node is, when the SDK's app can be run. Where CI is set the SDK must be there: nobody else holds the fake to the truth.
func bolt(t *testing.T) (node string, ok bool) {
	t.Helper()
	node, err := exec.LookPath("node")
	if err == nil {
		_, err = os.Stat(filepath.Join("bolt", "node_modules", "@slack", "bolt", "package.json"))
	}
	if err == nil {
		return node, true
	}
	if os.Getenv("CI") != "" {
		t.Fatalf("Slack's own SDK cannot be run (%v): %s", err, setUpBolt)
	}
	fmt.Fprintf(os.Stderr, "%s: NOT CHECKED against Slack's own SDK (%v): %s\n", t.Name(), err, setUpBolt)
	return "", false
}

// lines keeps what a process says and passes its first READY line on.
type lines struct {
	mu    sync.Mutex
	said  strings.Builder
	ready chan string
}

func (l *lines) read(r io.Reader) {
	scan := bufio.NewScanner(r)
	for scan.Scan() {
		l.mu.Lock()
		l.said.WriteString(scan.Text() + "\n")
		l.mu.Unlock()
		if port, ok := strings.CutPrefix(scan.Text(), "READY "); ok {
			l.ready <- port
		}
	}
	close(l.ready)
}

// runApp starts a script of the folder bolt on a server and gives its port, and a function that kills it.
func runApp(t *testing.T, node, script string, s *slackfake.Server, env ...string) (port string, kill func()) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), node, script)
	cmd.Dir = "bolt"
	cmd.Env = append(os.Environ(), "SLACK_API_URL="+s.APIURL(), "BOT_TOKEN="+slackfake.BotToken, "APP_TOKEN="+slackfake.AppToken,
		"SIGNING_SECRET="+slackfake.SigningSecret, "PATIENCE_MS=1500")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = cmd.Stdout
	if err := cmd.Start(); err != nil {
		t.Fatalf("start the SDK's app: %v", err)
	}
	l := &lines{ready: make(chan string, 1)}
	var reader sync.WaitGroup
	reader.Go(func() { l.read(out) })
	kill = sync.OnceFunc(func() {
		_ = cmd.Process.Kill()
		reader.Wait()
		_ = cmd.Wait()
	})
	t.Cleanup(func() {
		kill()
		if t.Failed() {
			t.Logf("the SDK's app said:\n%s", l.said.String())
		}
	})
	boot, cancel := context.WithTimeout(t.Context(), 3*patience)
	defer cancel()
	select {
	case port = <-l.ready:
	case <-boot.Done():
	}
	if port == "" {
		t.Fatal("the SDK's app did not get ready")
	}
	return port, kill
}

// runBolt starts the app of bolt/app.js on a fresh server.
func runBolt(t *testing.T, node, mode string, o slackfake.Options, env ...string) *slackfake.Server {
	t.Helper()
	s := start(t, o)
	port, _ := runApp(t, node, "app.js", s, append(env, "MODE="+mode)...)
	if mode == "http" {
		a := slackfake.App{ID: slackfake.AppID, Name: "herald", AppToken: slackfake.AppToken, SigningSecret: slackfake.SigningSecret}
		a.RequestURL = "http://127.0.0.1:" + port + "/slack/events"
		a.AssistantView = o.App.AssistantView
		s.AddApp(a)
		if err := s.Challenge(a.ID); err != nil {
			t.Error(err)
		}
	} else {
		wait(t, s, "the app has a socket", func(v slackfake.View) bool { return v.Counts().Sockets > 0 })
	}
	return s
}

// TestKilledApp kills the app, says something meanwhile, and starts it anew: the server must hold what it was not told to forget.
func TestKilledApp(t *testing.T) {
	t.Parallel()
	node, ok := bolt(t)
	if !ok {
		return
	}
	s := start(t, slackfake.Options{Patient: true})
	_, kill := runApp(t, node, "echo.js", s)
	s.Say(slackfake.Say{Text: "before"})
	wait(t, s, "it is echoed", func(v slackfake.View) bool { return len(v.Said(slackfake.General, "")) == 1 })
	kill()
	wait(t, s, "its socket is gone", func(v slackfake.View) bool { return v.Counts().Sockets == 0 })
	told := s.Say(slackfake.Say{Text: "meanwhile"})
	runApp(t, node, "echo.js", s)
	wait(t, s, "what was said meanwhile is echoed", func(v slackfake.View) bool {
		m := v.Said(slackfake.General, "")
		return len(m) == 2 && m[1].Text == "meanwhile" && v.Acked(told.Events...)
	})
}

// said waits for the app's messages in a thread to be these.
func said(t *testing.T, s *slackfake.Server, channel, thread string, want ...string) {
	t.Helper()
	var got []string
	err := s.Wait(within(t), fmt.Sprintf("the app has said %q", want), func(v slackfake.View) bool {
		got = nil
		for _, m := range v.Said(channel, thread) {
			got = append(got, m.Text)
		}
		return slices.Equal(got, want)
	})
	if err != nil {
		t.Fatalf("%v; it said %q", err, got)
	}
}

func TestSDK(t *testing.T) {
	t.Parallel()
	node, ok := bolt(t)
	if !ok {
		return
	}
	for _, mode := range []string{"socket", "http"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := runBolt(t, node, mode, slackfake.Options{AckTimeout: patience, TriggerTTL: patience, Notice: 100 * time.Millisecond, Patient: true})
			for _, c := range []struct {
				name string
				f    func(*testing.T, *slackfake.Server)
			}{
				{"echo", sdkEcho},
				{"mention, button and form", sdkForm},
				{"slash command", sdkCommand},
				{"stream", sdkStream},
				{"file", sdkFile},
				{"edit", sdkEdit},
				{"shortcut", sdkShortcut},
				{"home", sdkHome},
			} {
				t.Run(c.name, func(t *testing.T) { c.f(t, s) })
			}
			wait(t, s, "all is acknowledged", func(v slackfake.View) bool { c := v.Counts(); return c.Acked == c.Happened })
			for _, r := range s.Journal() {
				if r.Kind == slackfake.Refused || r.Kind == slackfake.AckUnknown || r.Kind == slackfake.AckDropped {
					t.Errorf("the server refused what the SDK does: %+v", r)
				}
			}
			if mode == "socket" {
				sdkReconnects(t, s)
			}
		})
		t.Run("assistant over "+mode, func(t *testing.T) {
			t.Parallel()
			o := slackfake.Options{AckTimeout: patience, App: slackfake.App{AssistantView: true}}
			sdkAssistant(t, runBolt(t, node, mode, o, "ASSISTANT=1"))
		})
	}
}

func sdkEcho(t *testing.T, s *slackfake.Server) {
	dm := s.DM(slackfake.Bob, "")
	s.Say(slackfake.Say{Channel: dm, User: slackfake.Bob, Text: "echo one"})
	said(t, s, dm, "", "one")
	root := s.Say(slackfake.Say{Text: "a root"})
	s.Say(slackfake.Say{Thread: root.TS, Text: "echo a < b"})
	said(t, s, slackfake.General, root.TS, "a &lt; b")
}

func sdkForm(t *testing.T, s *slackfake.Server) {
	asked := s.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> please"})
	said(t, s, slackfake.General, asked.TS, "<@"+slackfake.Alice+"> asked")
	var card string
	s.Look(func(v slackfake.View) { card = v.Said(slackfake.General, asked.TS)[0].TS })
	clicked, err := s.Click(slackfake.Click{Channel: slackfake.General, TS: card, ActionID: "more"})
	if err != nil {
		t.Fatal(err)
	}
	var form slackfake.Modal
	top := func(v slackfake.View) bool {
		m := v.Modals(slackfake.AppID, slackfake.Alice)
		if len(m) > 0 {
			form = m[len(m)-1]
		}
		return len(m) > 0 && v.Acked(clicked.ID)
	}
	wait(t, s, "the form is open", top)
	submit := func(name string) {
		values := map[string]map[string]any{"name": {"text": slackfake.Text(name)}}
		if _, err := s.Submit(form.ID, slackfake.Alice, values); err != nil {
			t.Fatal(err)
		}
	}
	submit("nobody")
	wait(t, s, "the form shows an error", func(v slackfake.View) bool { return top(v) && form.Errors["name"] == "somebody, please" })
	submit("Ann")
	said(t, s, slackfake.General, asked.TS, "<@"+slackfake.Alice+"> asked", "Ann sent v1")
	wait(t, s, "the form is closed", func(v slackfake.View) bool { return len(v.Modals(slackfake.AppID, slackfake.Alice)) == 0 })
	s.Say(slackfake.Say{Thread: asked.TS, User: slackfake.Carol, Text: "look back"})
	said(t, s, slackfake.General, asked.TS, "<@"+slackfake.Alice+"> asked", "Ann sent v1", "carol: - answer - -")
}

func sdkCommand(t *testing.T, s *slackfake.Server) {
	ran := s.Command(slackfake.Command{Channel: slackfake.Random, Text: "this & that"})
	wait(t, s, "the command is answered twice", func(v slackfake.View) bool {
		w, m := v.Whispers(slackfake.Random, slackfake.Alice), v.Said(slackfake.Random, "")
		return len(w) == 1 && w[0].Text == "on it: this &amp; that" && w[0].Interaction == ran.ID &&
			len(m) == 1 && m[0].Text == "done: this &amp; that" && m[0].Interaction == ran.ID
	})
}

func sdkStream(t *testing.T, s *slackfake.Server) {
	asked := s.Say(slackfake.Say{Text: "stream"})
	wait(t, s, "the stream is stopped", func(v slackfake.View) bool {
		m := v.Said(slackfake.General, asked.TS)
		return len(m) == 1 && m[0].Stream == slackfake.Stopped && strings.HasPrefix(m[0].Markdown, "**part 0** **part 1** ") &&
			strings.HasSuffix(m[0].Markdown, "**part 9** the end") && m[0].Appends > 2
	})
}

func sdkFile(t *testing.T, s *slackfake.Server) {
	asked := s.Say(slackfake.Say{Text: "file"})
	wait(t, s, "the file is shared", func(v slackfake.View) bool {
		m := v.Said(slackfake.General, asked.TS)
		return len(m) == 1 && m[0].Text == "as asked" && len(m[0].Files) == 1 && string(v.File(m[0].Files[0])) == "a,b\n1,2\n"
	})
}

func sdkEdit(t *testing.T, s *slackfake.Server) {
	asked := s.Say(slackfake.Say{Text: "edit"})
	said(t, s, slackfake.General, asked.TS, "final")
	wait(t, s, "the reaction is there", func(v slackfake.View) bool {
		return len(v.Message(slackfake.General, asked.TS).Reactions["white_check_mark"]) == 1
	})
}

func sdkShortcut(t *testing.T, s *slackfake.Server) {
	if _, err := s.Shortcut(slackfake.Shortcut{User: slackfake.Carol, CallbackID: "wave"}); err != nil {
		t.Fatal(err)
	}
	said(t, s, s.DM(slackfake.Carol, ""), "", "hello there")
}

func sdkHome(t *testing.T, s *slackfake.Server) {
	s.OpenHome(slackfake.Bob, "")
	wait(t, s, "the home is published", func(v slackfake.View) bool {
		return strings.Contains(string(v.Home(slackfake.AppID, slackfake.Bob).Blocks), "home of <@"+slackfake.Bob+">")
	})
}

// sdkReconnects breaks the socket in each way that the SDK survives, and asks for a sign of life after each.
func sdkReconnects(t *testing.T, s *slackfake.Server) {
	for _, c := range []struct {
		name string
		do   func()
	}{
		{"warning", func() { s.Disconnect("", "warning") }},
		{"refresh_requested", func() { s.Disconnect("", "refresh_requested") }},
		{"severed", func() { s.Sever("") }},
		{"cut in the middle of a frame", func() { s.CutFrame("") }},
		{"silent", func() { s.Hush("") }},
	} {
		t.Run("after "+c.name, func(t *testing.T) {
			before := s.Counts().Connected
			c.do()
			wait(t, s, "the app has a new socket", func(v slackfake.View) bool { return v.Counts().Connected > before })
			root := s.Say(slackfake.Say{Text: "alive?"})
			s.Say(slackfake.Say{Thread: root.TS, Text: "echo " + c.name})
			said(t, s, slackfake.General, root.TS, c.name)
		})
	}
}

func sdkAssistant(t *testing.T, s *slackfake.Server) {
	opened := s.OpenAssistant(slackfake.Bob, "")
	said(t, s, opened.Channel, opened.TS, "New Assistant Thread", "how can I help?")
	wait(t, s, "prompts are there", func(v slackfake.View) bool {
		return strings.Contains(string(v.Thread(opened.Channel, opened.TS).Prompts), "do one")
	})
	s.Say(slackfake.Say{Channel: opened.Channel, Thread: opened.TS, User: slackfake.Bob, Text: "good day"})
	said(t, s, opened.Channel, opened.TS, "New Assistant Thread", "how can I help?", "you said good day")
	s.Look(func(v slackfake.View) {
		if th := v.Thread(opened.Channel, opened.TS); th.Title != "good day" || th.Status != "" {
			t.Errorf("after the answer the thread shows %+v", th)
		}
		seen := slices.ContainsFunc(v.Journal(), func(r slackfake.Record) bool {
			return r.Kind == slackfake.StatusSet && r.Text == "is thinking"
		})
		if !seen {
			t.Error("the status was never shown")
		}
	})
}
