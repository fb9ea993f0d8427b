package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/testbot"
	"herald/bots/bottest/wire"
	"herald/cmd/internal/redact"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/chat"
	"herald/core/model"
	"herald/core/model/modeltest"
)

// authorsPlan is the pass with many agents and skills on disk.
type authorsPlan struct {
	Agents, Skills int
	// Messages are measured, each in a thread of its own, after a tenth as many to warm up; 0 leaves the pass out.
	Messages int
}

// authorsResult is what one service with its folders came to.
type authorsResult struct {
	// first are the times from a message on the platform to the first call of the model.
	first []time.Duration
	// open is how long the service took to read its folders and to open, heap what it held when it was idle.
	open time.Duration
	heap uint64
	// tokens are what the request to the model took.
	tokens int
}

// measureAuthors measures from a message to the first call of the model, with nothing on disk and with the plan's agents and skills. Service,
// platform and model share the process, so that what is between them is as little as can be.
func measureAuthors(ctx context.Context, p authorsPlan, dir string, out io.Writer) error {
	if p.Messages == 0 {
		return nil
	}
	bare, err := withAuthors(ctx, authorsPlan{Messages: p.Messages}, filepath.Join(dir, "bare"))
	if err != nil {
		return fmt.Errorf("without agents and skills: %w", err)
	}
	full, err := withAuthors(ctx, p, filepath.Join(dir, "authors"))
	if err != nil {
		return fmt.Errorf("with %d agents and %d skills: %w", p.Agents, p.Skills, err)
	}
	fmt.Fprintf(out, "\n| from message to first model call, memory store | nothing on disk | %d agents, %d skills | aim |\n|---|---|---|---|\n", p.Agents, p.Skills)
	for _, q := range []float64{0.5, 0.99} {
		fmt.Fprintf(out, "| ms, p%.0f | %.2f | %.2f | %s |\n", 100*q, ms(quantile(bare.first, q)), ms(quantile(full.first, q)), map[float64]string{0.5: "below 5"}[q])
	}
	fmt.Fprintf(out, "| tokens of the request | %d | %d | |\n", bare.tokens, full.tokens)
	fmt.Fprintf(out, "| ms to open | %.0f | %.0f | |\n", ms(bare.open), ms(full.open))
	fmt.Fprintf(out, "| heap MB, idle | %.1f | %.1f | |\n", float64(bare.heap)/(1<<20), float64(full.heap)/(1<<20))
	return nil
}

// withAuthors measures one service whose folders stand below dir.
func withAuthors(ctx context.Context, p authorsPlan, dir string) (res authorsResult, err error) {
	if err := writeAuthors(p, dir); err != nil {
		return res, err
	}
	plat, err := platform.Start(ctx, platform.Options{Features: wire.Features{Nonce: true, TextLimit: 4000, SendTimeout: 10 * time.Second}})
	if err != nil {
		return res, err
	}
	defer plat.Close()
	cfg, err := config.Load(config.Options{Dir: dir, Env: []string{"HERALD_DATA_DIR=" + dir, "HERALD_STORE__URL=memory:", "HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0", "HERALD_OUTBOX__WORKSPACE_INTERVAL_MS=0"}})
	if err != nil {
		return res, err
	}
	called := make(chan time.Time, 1)
	log := slog.New(slog.DiscardHandler)
	named, err := testbot.New(testbot.Options{URL: plat.URL()})
	if err != nil {
		return res, err
	}
	began := time.Now()
	s, err := service.New(ctx, service.Options{
		Config: cfg, Log: log, Level: new(slog.LevelVar), Secrets: new(redact.Secrets), Version: "bench", NoConsole: true, NoHTTP: true,
		Models: []model.Configured{{Name: "instant", Priority: model.DefaultPriority, Model: modeltest.NewScripted(func(r *model.Request) (modeltest.Reply, bool) {
			at := time.Now()
			res.tokens = r.Tokens()
			called <- at
			return modeltest.Say("done"), true
		})}},
		Platforms: []service.Platform{{Name: named.Workspace().Platform(), Open: func(r chat.Receiver) (service.Connection, error) {
			return testbot.New(testbot.Options{URL: plat.URL(), Receiver: r, Log: log})
		}}},
	})
	if err != nil {
		return res, err
	}
	res.open = time.Since(began)
	ctx, stop := context.WithCancel(ctx)
	ended := make(chan error, 1)
	go func() { ended <- s.Run(ctx) }()
	defer func() { stop(); err = errors.Join(err, <-ended) }()
	for i := range p.Messages + p.Messages/10 {
		posted := time.Now()
		told := plat.Post(platform.Say{Channel: "c", Thread: fmt.Sprint("t", i), Text: "hello", Mention: true})
		select {
		case at := <-called:
			if i >= p.Messages/10 {
				res.first = append(res.first, at.Sub(posted))
			}
		case err := <-ended:
			ended <- err
			return res, fmt.Errorf("the service ended: %w", err)
		case <-time.After(60 * time.Second):
			return res, fmt.Errorf("message %d did not come to the model within a minute", i)
		}
		wait, cancel := context.WithTimeout(ctx, 60*time.Second)
		err := plat.Wait(wait, "the answer", func(v platform.View) bool { return len(v.Answers(told.Message)) > 0 })
		cancel()
		if err != nil {
			return res, err
		}
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	res.heap = m.HeapAlloc
	return res, nil
}

// writeAuthors writes agents and skills of a usual size: each agent has 2 KB of text and owns a skill of its own, as far as there are enough.
func writeAuthors(p authorsPlan, dir string) error {
	file := func(path, text string) error {
		path = filepath.Join(dir, path)
		return errors.Join(os.MkdirAll(filepath.Dir(path), 0o700), os.WriteFile(path, []byte(text), 0o600))
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	body := ""
	for i := range 20 {
		body += fmt.Sprintf("\n%d. Do this step with care, and say what came of it before you go on to the one behind it.\n", i+1)
	}
	for i := range p.Agents {
		head := fmt.Sprintf("---\nname: Agent %d\ndescription: Knows subject %d and nothing else.\ntype: task\n---\nYou know subject %d.\n", i, i, i)
		if err := file(fmt.Sprintf("agents/agent-%d/AGENT.md", i), head+body); err != nil {
			return err
		}
	}
	for i := range p.Skills {
		at := fmt.Sprintf("skills/skill-%d", i)
		if i < p.Agents {
			at = fmt.Sprintf("agents/agent-%d/skills/skill-%d", i, i)
		}
		if err := file(at+"/SKILL.md", fmt.Sprintf("---\nname: skill-%d\ndescription: How subject %d is handled. Read it before you begin.\n---\n", i, i)+body); err != nil {
			return err
		}
	}
	return nil
}
