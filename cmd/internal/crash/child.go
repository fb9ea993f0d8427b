package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"herald/bots/bottest/testbot"
	"herald/bots/slack"
	"herald/cmd/internal/failpoint"
	"herald/cmd/internal/redact"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/chat"
	"herald/core/model/openai"
)

// childEnv holds the [birth] of a child as JSON; without it the process is the parent.
const childEnv = "HERALD_TEST_CRASH_CHILD"

// birth is what a child is told.
type birth struct {
	// Dir is the service's folder: configuration, effects, trace.
	Dir string
	// Platform and Model are the addresses of the test platform and of the fake model, Store is the URL of the store.
	Platform, Model, Store string
	// Slack says that the platform is the fake Slack.
	Slack bool
	// Point is where to die, in the words of [failpoint.Parse]; "" is nowhere.
	Point string
	// Trace makes the child write each point that it reaches to the file "trace".
	Trace bool
	// Lease of turns and deliveries.
	Lease time.Duration
	// Turns is how many turns run at once; 0 is the default.
	Turns int
	// Grace is how long turns may go on at a stop.
	Grace time.Duration
	// Call is how long a call to the fake Slack may take.
	Call time.Duration
	// Inbox is how many messages may wait in a conversation; 0 is the default.
	Inbox int
}

// The files of a service's folder.
const (
	traceFile   = "trace"
	effectsFile = "effects"
	logFile     = "log"
)

// child runs the service until SIGTERM, or until its parent is gone.
func child(spec string) error {
	var b birth
	if err := json.Unmarshal([]byte(spec), &b); err != nil {
		return fmt.Errorf("read %s: %w", childEnv, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	stops := make(chan os.Signal, 2)
	signal.Notify(stops, syscall.SIGTERM)
	go func() {
		<-stops
		cancel()
		<-stops // who asks twice does not want to wait; see the service's own command
		os.Exit(exitHard)
	}()
	points, err := b.points()
	if err != nil {
		return err
	}
	cfg, err := b.config()
	if err != nil {
		return err
	}
	level := new(slog.LevelVar)
	secrets := new(redact.Secrets)
	log := service.NewLogger(os.Stderr, "text", level, secrets)
	st, err := service.OpenStore(ctx, cfg, true, log)
	if err != nil {
		return err
	}
	defer st.Close()
	transport := openai.NewTransport()
	models, err := service.Models(cfg, transport)
	if err != nil {
		return err
	}
	for i := range models {
		models[i].Model = failpoint.Model(shaky{models[i].Model, b.Dir}, points)
	}
	platform := service.Platform{Name: "test", Open: b.connect(log, points)}
	if b.Slack {
		platform = service.Platform{Name: slack.Platform, Open: connectSlack(&b, st, log, points)}
	}
	tools := newTools(filepath.Join(b.Dir, effectsFile), points)
	s, err := service.New(ctx, service.Options{
		Config: cfg, Log: log, Level: level, Secrets: secrets, Version: "crash", Store: failpoint.Store(st, points), Models: models,
		Platforms: []service.Platform{platform}, NoConsole: true, NoHTTP: true,
		Tools: tools.list, Allow: tools.allowed, Lease: b.Lease,
	})
	if err != nil {
		return err
	}
	served := make(chan struct{})
	var asking sync.WaitGroup
	asking.Go(func() { answer(ctx, st, served) })
	err = s.Run(ctx)
	close(served)
	return err
}

// exitHard is the exit code of a child that was told twice to stop.
const exitHard = 7

func (b *birth) points() (*failpoint.Points, error) {
	o := failpoint.Options{Die: failpoint.Kill}
	if b.Point != "" {
		var err error
		if o.Target, err = failpoint.Parse(b.Point); err != nil {
			return nil, err
		}
	}
	if b.Trace {
		f, err := os.OpenFile(filepath.Join(b.Dir, traceFile), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
		if err != nil {
			return nil, err
		}
		o.Log = f // open as long as the process lives
	}
	return failpoint.New(o), nil
}

func (b *birth) config() (*config.Config, error) {
	var t strings.Builder
	fmt.Fprintf(&t, "data_dir = %q\n", filepath.Join(b.Dir, "data"))
	fmt.Fprintf(&t, "shutdown_grace_seconds = %d\n", int(b.Grace/time.Second))
	fmt.Fprintf(&t, "[store]\nurl = %q\n", b.Store)
	fmt.Fprintf(&t, "[providers.fake]\nbase_url = %q\ndefault_model = \"test\"\n", b.Model)
	fmt.Fprintf(&t, "[http]\nlisten = \"off\"\n")
	fmt.Fprintf(&t, "[turn]\nstream_edit_ms = 100\n")
	fmt.Fprintf(&t, "[outbox]\nchannel_interval_ms = 0\nworkspace_interval_ms = 0\n")
	if b.Turns > 0 {
		fmt.Fprintf(&t, "[workers]\nturns = %d\n", b.Turns)
	}
	if b.Inbox > 0 {
		fmt.Fprintf(&t, "[intake]\ninbox_limit = %d\n", b.Inbox)
	}
	return config.Load(config.Options{
		File: "herald.toml", Dir: b.Dir,
		ReadFile: func(string) ([]byte, error) { return []byte(t.String()), nil },
	})
}

// connect opens the test platform, with points around calls and acknowledgements.
func (b *birth) connect(log *slog.Logger, points *failpoint.Points) func(chat.Receiver) (service.Connection, error) {
	return func(r chat.Receiver) (service.Connection, error) {
		var acks sync.Map // event → how to leave its point
		bot, err := testbot.New(testbot.Options{
			URL: b.Platform, Receiver: r, Log: log,
			Observe: func(s testbot.Stage, in *chat.Inbound) {
				switch s {
				case testbot.BeforeAck:
					acks.Store(in, points.Enter("ack"))
				case testbot.AfterAck:
					if leave, ok := acks.LoadAndDelete(in); ok {
						leave.(func())()
					}
				case testbot.BeforeReceive: // the commits of the intake have their own points
				}
			},
		})
		if err != nil {
			return nil, err
		}
		return failpoint.Adapter(bot, points), nil
	}
}

// answer tells the parent what the store holds each time that it asks with a line. The end of the input is the end of the parent.
func answer(ctx context.Context, st looker, served <-chan struct{}) {
	in := bufio.NewScanner(os.Stdin)
	for in.Scan() {
		left, err := look(ctx, st)
		if err != nil {
			left = append(left, "the store could not be read: "+err.Error())
		}
		line, err := json.Marshal(left)
		if err != nil {
			panic(err) // strings
		}
		fmt.Printf("%s\n", line)
	}
	select {
	case <-served:
	case <-ctx.Done():
	default:
		failpoint.Kill()
	}
}

// mainChild is the whole life of a child process.
func mainChild(spec string) {
	if err := child(spec); err != nil && !errors.Is(err, context.Canceled) {
		fmt.Fprintln(os.Stderr, "crash child:", err)
		os.Exit(1)
	}
	os.Exit(0)
}
