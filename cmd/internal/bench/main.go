package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
)

func main() {
	if spec := os.Getenv(childEnv); spec != "" {
		os.Exit(childMain(spec))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	p, err := parse(os.Args[1:], os.Stderr)
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err == nil {
		err = run(ctx, p, os.Stdout)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		os.Exit(1) //nolint:gocritic // stop only ends the watching of signals
	}
}

// storeNames are the stores in the order in which each round visits them.
func storeNames() []string { return []string{"memory", "sqlite", "redis"} }

// plan is what one run of the bench does.
type plan struct {
	Stores []string
	Rounds int
	// Sessions are known before anything is measured; People take part in them.
	Sessions, People int
	// One, Sixteen and SixtyFour are the messages sent with so many in flight; Crowd those with 16 in flight in each of 4 threads.
	One, Sixteen, SixtyFour, Crowd int
	// SteadySeconds is how long 100 messages a second arrive.
	SteadySeconds int
	// Starts is how often the shipped program is built once and started; 0 leaves it out.
	Starts int
	// Wire adds a pass with the model behind HTTP, as real ones are.
	Wire bool
	// Slack is the pass on the fake Slack.
	Slack slackPlan
	// Authors is the pass with many agents and skills.
	Authors authorsPlan
	// Profile is a folder for profiles of the service at 64 in flight; "" makes none.
	Profile string
}

func full() plan {
	return plan{
		Stores: storeNames(), Rounds: 3, Sessions: 1000, People: 50, One: 500, Sixteen: 2000, SixtyFour: 8000, Crowd: 1000,
		SteadySeconds: 10, Starts: 5, Wire: true,
		Slack:   slackPlan{Rounds: 3, People: 200, One: 200, Sixteen: 2000, SixtyFour: 4000, SteadySeconds: 10, KillSeconds: 12, Kills: 5},
		Authors: authorsPlan{Agents: 500, Skills: 2000, Messages: 400},
	}
}

// short is a smoke run: it shows that everything works, and its rates mean little.
func short() plan {
	return plan{
		Stores: storeNames(), Rounds: 1, Sessions: 100, People: 10, One: 50, Sixteen: 200, SixtyFour: 600, Crowd: 200,
		SteadySeconds: 2, Starts: 1, Wire: true,
		Slack:   slackPlan{Rounds: 1, People: 200, One: 50, Sixteen: 400, SixtyFour: 1000, SteadySeconds: 3, KillSeconds: 6, Kills: 5},
		Authors: authorsPlan{Agents: 500, Skills: 2000, Messages: 100},
	}
}

// parse reads the command line.
func parse(args []string, out io.Writer) (plan, error) {
	fs := flag.NewFlagSet("bench", flag.ContinueOnError)
	fs.SetOutput(out)
	p := full()
	quick := fs.Bool("short", false, "a smoke run of seconds")
	rounds := fs.Int("rounds", 0, "rounds over all stores; the best and the median are shown")
	messages := fs.Int("messages", 0, "messages at 64 in flight")
	stores := fs.String("stores", strings.Join(p.Stores, ","), "stores to measure; empty measures on the fake Slack alone")
	slack := fs.Int("slack", -1, "rounds on the fake Slack; 0 leaves them out")
	authors := fs.Int("authors", -1, "messages with many agents and skills on disk; 0 leaves them out")
	starts := fs.Int("starts", -1, "starts of the shipped program; 0 leaves it out")
	profile := fs.String("profile", "", "write processor and heap profiles of the service to this folder")
	if err := fs.Parse(args); err != nil {
		return plan{}, err
	}
	if fs.NArg() > 0 {
		return plan{}, fmt.Errorf("unexpected argument %q; see -help", fs.Arg(0))
	}
	if *quick {
		p = short()
	}
	if *rounds > 0 {
		p.Rounds = *rounds
	}
	if *messages > 0 {
		p.SixtyFour = *messages
	}
	if *slack >= 0 {
		p.Slack.Rounds = *slack
	}
	if *authors >= 0 {
		p.Authors.Messages = *authors
	}
	if *starts >= 0 {
		p.Starts = *starts
	}
	p.Profile = *profile
	if *stores == "" {
		p.Stores, p.Starts, p.Wire = nil, 0, false
		return p, nil
	}
	p.Stores = strings.Split(*stores, ",")
	for _, s := range p.Stores {
		if !slices.Contains(storeNames(), s) {
			return plan{}, fmt.Errorf("there is no store %q; the stores are %s", s, strings.Join(storeNames(), ", "))
		}
	}
	return p, nil
}

// run measures and reports to out. It fails when a message was lost, doubled or out of order.
func run(ctx context.Context, p plan, out io.Writer) error {
	r := newReport(p)
	dir, err := os.MkdirTemp("", "bench")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := measure(ctx, p, dir, out, r); err != nil {
		return err
	}
	if len(p.Stores) > 0 {
		if err := r.print(out); err != nil {
			return err
		}
	}
	return errors.Join(r.verdict(), measureSlack(ctx, p, dir, out), measureAuthors(ctx, p.Authors, dir, out))
}

// measure does all that p plans, round by round over all stores, so that none has the quiet hour for itself.
func measure(ctx context.Context, p plan, dir string, out io.Writer, r *report) error {
	if p.Starts > 0 {
		fmt.Fprintln(out, "starting the shipped program …")
		if err := measureStarts(ctx, p.Starts, dir, r); err != nil {
			return fmt.Errorf("start the shipped program: %w", err)
		}
	}
	for round := range p.Rounds {
		for _, name := range p.Stores {
			fmt.Fprintf(out, "round %d of %d: %s …\n", round+1, p.Rounds, name)
			if err := measureStore(ctx, p, name, dir, r); err != nil {
				return fmt.Errorf("round %d, store %s: %w", round+1, name, err)
			}
		}
	}
	if p.Wire {
		fmt.Fprintln(out, "with the model behind HTTP …")
		if err := measureWire(ctx, p, dir, r); err != nil {
			return fmt.Errorf("with the model behind HTTP: %w", err)
		}
	}
	return nil
}
