package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/pprof"
	"os"
	"os/signal"
	"syscall"
	"time"

	"herald/bots/bottest/testbot"
	"herald/cmd/internal/redact"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/chat"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// childEnv makes this program the service under test; its value is a [childSpec] as JSON.
const childEnv = "BENCH_CHILD"

// childSpec is what the service is told by its parent.
type childSpec struct {
	// Platform is the address of the test platform; without it the settings name the platform.
	Platform string
	// Settings are environment variables of Herald, and nothing else of the parent's environment counts.
	Settings []string
	// Dir is the working folder, where no configuration file stands.
	Dir string
	// OwnModel answers in the process instead of over HTTP.
	OwnModel bool
	// Think is how long the own model takes.
	Think time.Duration
}

// childMain is the service until a signal ends it. It returns the exit code.
func childMain(raw string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := serve(ctx, raw); err != nil {
		fmt.Fprintln(os.Stderr, "bench child:", err)
		return 1
	}
	return 0
}

func serve(ctx context.Context, raw string) error {
	var spec childSpec
	if err := json.Unmarshal([]byte(raw), &spec); err != nil {
		return fmt.Errorf("read %s: %w", childEnv, err)
	}
	cfg, err := config.Load(config.Options{Env: spec.Settings, Dir: spec.Dir})
	if err != nil {
		return err
	}
	level, secrets := new(slog.LevelVar), new(redact.Secrets)
	level.Set(service.Level(cfg))
	o := service.Options{Config: cfg, Level: level, Secrets: secrets, Version: "bench", Log: service.NewLogger(os.Stderr, cfg.Log.Format, level, secrets)}
	if spec.OwnModel {
		o.Models = []model.Configured{{Name: "instant", Model: modeltest.NewScripted(answer(spec.Think))}}
	}
	if spec.Platform != "" {
		named, err := testbot.New(testbot.Options{URL: spec.Platform})
		if err != nil {
			return err
		}
		o.Platforms = []service.Platform{{
			Name: named.Workspace().Platform(),
			Open: func(r chat.Receiver) (service.Connection, error) {
				return testbot.New(testbot.Options{URL: spec.Platform, Receiver: r, Log: o.Log})
			},
		}}
	}
	s, err := service.New(ctx, o)
	if err != nil {
		return err
	}
	end, err := serveGauges(ctx, o.Log)
	if err != nil {
		return err
	}
	defer end()
	return s.Run(ctx)
}

// answer names the marks of all messages that the model was shown since its last answer.
func answer(think time.Duration) modeltest.Rule {
	return func(r *model.Request) (modeltest.Reply, bool) {
		a := modeltest.Say("done " + markText(marksIn(modeltest.LastUser(r))))
		a.FirstDelay = think
		return a, true
	}
}

// gauges is what only the process itself can tell exactly.
type gauges struct {
	// CPUMicros is the processor time that the process has used so far, in user and system mode together.
	CPUMicros int64 `json:"cpu_us"`
}

// serveGauges serves the process's gauges and profiles on a free port, which it tells in the log.
func serveGauges(ctx context.Context, log *slog.Logger) (stop func(), err error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /gauges", func(w http.ResponseWriter, _ *http.Request) {
		var u syscall.Rusage
		if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		used := time.Duration(u.Utime.Nano() + u.Stime.Nano())
		_ = json.NewEncoder(w).Encode(gauges{CPUMicros: used.Microseconds()}) // a reader that has gone needs nothing
	})
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.Handle("GET /debug/pprof/allocs", pprof.Handler("allocs"))
	mux.Handle("GET /debug/pprof/mutex", pprof.Handler("mutex"))
	mux.Handle("GET /debug/pprof/goroutine", pprof.Handler("goroutine"))
	server := &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = server.Serve(l) // ends with Close
	}()
	log.Info("gauges", "address", l.Addr().String())
	return func() {
		_ = server.Close()
		<-done
	}, nil
}
