package main

import (
	"bytes"
	"flag"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"herald/cmd/internal/failpoint"
)

func TestMain(m *testing.M) {
	if spec := os.Getenv(childEnv); spec != "" {
		mainChild(spec)
	}
	// These tests wait for leases, kills and models far more than they compute: more of them fit side by side than there are processors.
	flag.Parse()
	if p := flag.Lookup("test.parallel"); p.Value.String() == p.DefValue {
		if err := p.Value.Set(strconv.Itoa(2 * runtime.GOMAXPROCS(0))); err != nil {
			panic(err) // a number
		}
	}
	os.Exit(m.Run())
}

// sampleSize is how many cases a plain test run plays; the program plays all.
const sampleSize = 40

// unreached are sites that no story of a service can come to yet, with the reason.
var unreached = map[string]string{
	"intake.loop":      "no setting lets other bots through yet",
	"intake.silence":   "no setting lets other bots through yet",
	"intake.row":       "needs an event of yesterday, or a crowded outbox on a platform that does not answer",
	"handover.settle":  "needs hundreds of debts at once",
	"handover.card":    "no platform of the stories lets Herald write to a person first",
	"handover.cardend": "no platform of the stories lets Herald write to a person first",
	"intake.show":      "needs an answer that could not be delivered for a quarter of an hour",
	"memory.log":       "the tools of files must be activated first, which no story does",
	"intake.greeting":  "Herald introduces itself on Slack alone, which has a matrix of its own",
	"turn.compact":     "no story fills a model's context",
	"intake.compact":   "no story asks for a summary",
	"command.taskstop": "no story ends a task by a command",
	"command.threads":  "no story chooses which messages of threads are for Herald",
	"intake.running":   "only Slack's commands come without their thread",
	"alarm.address":    "admins are told on Slack alone, and the stories name none there",
	"alarm.welcome":    "admins are told on Slack alone, and the stories name none there",
	"alarm.trouble":    "admins are told on Slack alone, and the stories name none there",
	"handover.say":     "only introductions and notices to admins are owed as words, on Slack alone",
}

// TestMatrix plays every story without a death, holds the sites that were reached against those that the source names, and then plays a
// seeded sample of all deaths.
func TestMatrix(t *testing.T) {
	var out bytes.Buffer
	r, err := run(t.Context(), settings{sample: sampleSize, seed: 1, stores: []string{onSQLite, onRedis}, platforms: []string{byNonce, byLookBack}, jobs: 6, verbose: testing.Verbose(), out: &out})
	if err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	if r.failed > 0 {
		t.Errorf("%d of %d cases failed:\n%s", r.failed, len(r.verdicts), out.String())
	}
	t.Logf("%d fail points at %d sites, %d cases, %d never came to their point, %.0fs", r.points, len(r.sites), len(r.verdicts), r.missed, r.took.Seconds())
	if len(r.verdicts) < sampleSize || r.missed > sampleSize/4 {
		t.Errorf("%d cases were played and %d never came to their point: the sample proves too little", len(r.verdicts), r.missed)
	}

	sites, unnamed, err := sourceSites(root(t))
	if err != nil {
		t.Fatal(err)
	}
	if len(sites) < 20 {
		t.Errorf("only %d sites were found in the source", len(sites))
	}
	for _, at := range unnamed {
		t.Errorf("%s: the id of this commit begins with no site (\"package.what/\"), so that nothing can die there", at)
	}
	for site, at := range sites {
		why, excused := unreached[site]
		switch {
		case r.sites[site] && excused:
			t.Errorf("the site %s is reached; take it off the list of those that are not (%s)", site, why)
		case !r.sites[site] && !excused:
			t.Errorf("%s: no story comes to the commit %s, so that no service dies there; add one", at, site)
		}
	}
	for site := range unreached {
		if _, ok := sites[site]; !ok {
			t.Errorf("the list of sites that are not reached names %s, which the source does not", site)
		}
	}
	if r.sites[failpoint.Unnamed] {
		t.Error("a commit without a site was made")
	}
	for _, site := range []string{"send", "edit", "find", "model", "ack", "claim:turns", "claim:outbox", "claim:handover", "extend", "tool:" + toolEffect} {
		if !r.sites[site] {
			t.Errorf("no story comes to %s", site)
		}
	}
}

// root is the folder of the module.
func root(t *testing.T) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMOD").Output()
	if err != nil {
		t.Fatal(err)
	}
	return filepath.Dir(strings.TrimSpace(string(out)))
}

// TestSourceSites proves that the reading of the source can fail.
func TestSourceSites(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for _, d := range sources {
		if err := os.MkdirAll(filepath.Join(dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	src := `package turn
import "herald/core/store"
var kind = "text.plain"
func f(id string, st store.Store, site string) {
	st.Commit(nil, store.Commit{ID: "turn.good/" + id})
	st.Commit(nil, store.Commit{ID: site + id})
	st.Commit(nil, store.Commit{ID: id})
	st.Commit(nil, store.Commit{})
	g("turn.other")
}`
	if err := os.WriteFile(filepath.Join(dir, "core", "x.go"), []byte(src), 0o600); err != nil {
		t.Fatal(err)
	}
	sites, unnamed, err := sourceSites(dir)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for s := range sites {
		names = append(names, s)
	}
	slices.Sort(names)
	if !slices.Equal(names, []string{"turn.good", "turn.other"}) || len(unnamed) != 1 || !strings.Contains(unnamed[0], "x.go:7:") {
		t.Errorf("sites %v, unnamed %v; want turn.good and turn.other, and line 7", names, unnamed)
	}
}
