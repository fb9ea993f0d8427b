package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"
)

// The figures of an app on the fake Slack, by the names under which they are shown.
const (
	sRate1     = "messages/s, 1 in flight"
	sRate16    = "messages/s, 16 in flight"
	sRate64    = "messages/s, 64 in flight"
	sCPU1      = "CPU ms a message, 1 in flight"
	sCPU16     = "CPU ms a message, 16 in flight"
	sCPU64     = "CPU ms a message, 64 in flight"
	sP50       = "event to reply ms, steady 100/s, p50"
	sP99       = "event to reply ms, steady 100/s, p99"
	sFirst     = "exec to first answer ms"
	sRSS       = "RSS MB, after the load"
	sMessages  = "messages at 200/s with kills"
	sLost      = "lost"
	sDoubled   = "doubled"
	sReordered = "reordered"
)

func slackRows() []row {
	return []row{
		{metric: sRate1, more: true},
		{metric: sRate16, more: true},
		{metric: sRate64, more: true},
		{metric: sCPU1, digits: 2},
		{metric: sCPU16, digits: 2},
		{metric: sCPU64, digits: 2},
		{metric: sP50, digits: 1},
		{metric: sP99, digits: 1},
		{metric: sFirst},
		{metric: sRSS},
		{metric: sMessages, count: true},
		{metric: sLost, count: true},
		{metric: sDoubled, count: true},
		{metric: sReordered, count: true},
	}
}

// slackPlan is the pass on the fake Slack; no rounds leave it out.
type slackPlan struct {
	Rounds                            int
	People                            int
	One, Sixteen, SixtyFour           int
	SteadySeconds, KillSeconds, Kills int
}

// measureSlack visits Herald on SQLite and Redis, and Bolt where it is installed, in turn. It fails when Herald loses, doubles or reorders.
func measureSlack(ctx context.Context, p plan, dir string, out io.Writer) error {
	if p.Slack.Rounds == 0 {
		return nil
	}
	peers := []string{"sqlite", "redis"}
	if hasBolt(ctx) {
		peers = append(peers, boltPeer)
	} else {
		fmt.Fprintln(out, "Bolt is not installed (make setup with Node.js 20): it is left out")
	}
	found := map[string]map[string][]float64{}
	var errs []error
	for round := range p.Slack.Rounds {
		for _, peer := range peers {
			fmt.Fprintf(out, "Slack, round %d of %d: %s …\n", round+1, p.Slack.Rounds, peer)
			if found[peer] == nil {
				found[peer] = map[string][]float64{}
			}
			rec := func(m string, v float64) { found[peer][m] = append(found[peer][m], v) }
			if err := measureSpeed(ctx, p, peer, dir, rec); err != nil {
				return fmt.Errorf("measure %s on the fake Slack: %w", peer, err)
			}
			f, err := measureKills(ctx, p, peer, dir, rec)
			if err != nil {
				return fmt.Errorf("kill %s on the fake Slack: %w", peer, err)
			}
			if peer != boltPeer && f.Lost+f.Doubled+f.Reordered > 0 {
				errs = append(errs, fmt.Errorf("%s on the fake Slack: of %d messages %d were lost, %d doubled and %d out of order", peer, f.Messages, f.Lost, f.Doubled, f.Reordered))
			}
		}
	}
	fmt.Fprintf(out, "\non the fake Slack, best (median) of %d rounds; a kill every %.1f s, the model then takes %v\n", p.Slack.Rounds,
		float64(p.Slack.KillSeconds)/float64(p.Slack.Kills+1), modelTime)
	w := tabwriter.NewWriter(out, 0, 0, 3, ' ', 0)
	fmt.Fprintln(w, "figure\t"+strings.Join(peers, "\t"))
	for _, r := range slackRows() {
		fmt.Fprint(w, r.metric)
		for _, peer := range peers {
			fmt.Fprint(w, "\t"+r.text(found[peer][r.metric]))
		}
		fmt.Fprintln(w)
	}
	return errors.Join(append(errs, w.Flush())...)
}

// hasBolt reports whether node and Slack's own SDK are there.
func hasBolt(ctx context.Context) bool {
	root, err := moduleRoot(ctx)
	if err != nil {
		return false
	}
	_, err = os.Stat(filepath.Join(root, boltFolder, "node_modules", "@slack", "bolt", "package.json"))
	_, none := exec.LookPath("node")
	return err == nil && none == nil
}

// moduleRoot is the folder of the module.
func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("ask go for the folder of the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}

// usage is the processor time, user and system, that a process has used, and the memory that it holds.
func usage(pid int) (cpu time.Duration, rss int64, err error) {
	raw, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, 0, fmt.Errorf("read what a process used: %w", err)
	}
	// Behind the name, which is in parentheses and may hold anything.
	fields := bytes.Fields(raw[bytes.LastIndexByte(raw, ')')+1:])
	if len(fields) < 22 {
		return 0, 0, fmt.Errorf("read what a process used: %d fields are too few", len(fields))
	}
	at := func(i int) int64 {
		n, e := strconv.ParseInt(string(fields[i]), 10, 64)
		err = errors.Join(err, e)
		return n
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 on every Linux
	return time.Duration(at(11)+at(12)) * tick, at(21) * int64(os.Getpagesize()), err
}
