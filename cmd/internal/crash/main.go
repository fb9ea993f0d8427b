package main

import (
	"context"
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
		mainChild(spec)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the whole program but for the process: it returns the exit code, 0 when all cases went well, 1 when one did not, 2 for
// wrong arguments.
func command(ctx context.Context, args []string, out, errs io.Writer) int {
	o := settings{out: out}
	fs := flag.NewFlagSet("crash", flag.ContinueOnError)
	fs.SetOutput(errs)
	fs.IntVar(&o.sample, "sample", 0, "play so many cases, drawn by the seed; 0 plays all")
	fs.Uint64Var(&o.seed, "seed", 1, "seed of the sample and of the order")
	store := fs.String("store", "both", "sqlite, redis or both")
	on := fs.String("platform", "all", "nonce, lookback, slack or all")
	fs.StringVar(&o.scenario, "scenario", "", "play this scenario only")
	fs.StringVar(&o.only, "only", "", "die at this point only, as \"after send 1\"")
	fs.IntVar(&o.jobs, "jobs", 6, "cases side by side")
	fs.BoolVar(&o.verbose, "v", false, "print every case, and the log of those that failed")
	messages := fs.Int("load", 0, "instead of the matrix, put replicas through trouble under so many messages")
	flooded := fs.Int("flood", 0, "instead of the matrix, say so many messages in one conversation at once")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	switch *store {
	case onSQLite, onRedis:
		o.stores = []string{*store}
	case "both":
		o.stores = []string{onSQLite, onRedis}
	default:
		fmt.Fprintf(errs, "crash: the store %q is unknown; it is sqlite, redis or both\n", *store)
		return 2
	}
	switch *on {
	case byNonce, byLookBack, onSlack:
		o.platforms = []string{*on}
	case "all":
		o.platforms = []string{byNonce, byLookBack, onSlack}
	default:
		fmt.Fprintf(errs, "crash: the platform %q is unknown; it is nonce, lookback, slack or all\n", *on)
		return 2
	}
	if fs.NArg() > 0 || o.jobs < 1 || o.sample < 0 {
		fmt.Fprintln(errs, "crash: arguments are flags only; -jobs is at least 1 and -sample at least 0")
		return 2
	}
	if *messages > 0 {
		return playLoads(ctx, *messages, o, errs)
	}
	if *flooded > 0 {
		r, err := flood(ctx, *flooded)
		if err != nil {
			fmt.Fprintln(errs, "crash:", err)
			return 1
		}
		fmt.Fprintln(out, r)
		for _, b := range r.bad[:min(len(r.bad), 20)] {
			fmt.Fprintln(out, "  ", b)
		}
		return min(len(r.bad), 1)
	}
	r, err := run(ctx, o)
	if r != nil {
		fmt.Fprintf(out, "%d fail points at %d sites, %d cases, %d of them never came to their point, %d failed, %.0fs\n",
			r.points, len(r.sites), len(r.verdicts), r.missed, r.failed, r.took.Seconds())
	}
	switch {
	case err != nil:
		fmt.Fprintln(errs, "crash:", err)
		return 1
	case r.failed > 0:
		return 1
	}
	return 0
}

// playLoads puts replicas through every load, or through the one that -scenario names.
func playLoads(ctx context.Context, n int, o settings, errs io.Writer) int {
	code, played := 0, 0
	for _, l := range loads() {
		if o.scenario != "" && o.scenario != l.name || !slices.Contains(o.platforms, l.platform) {
			continue
		}
		played++
		var log io.Writer
		if o.verbose {
			log = errs
		}
		r, err := l.play(ctx, n, o.seed, log)
		if err != nil {
			fmt.Fprintln(errs, "crash:", err)
			return 1
		}
		fmt.Fprintf(o.out, "%s (seed %d): %s\n", l.name, o.seed, r)
		for _, b := range r.bad[:min(len(r.bad), 20)] {
			fmt.Fprintln(o.out, "  ", b)
			code = 1
		}
	}
	if played == 0 {
		fmt.Fprintf(errs, "crash: there is no load %q on %s\n", o.scenario, strings.Join(o.platforms, ", "))
		return 1
	}
	return code
}
