package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"herald/bots/bottest/slackfake"
)

const (
	// boltFolder is where the echo bot on Slack's own SDK stands, below the folder of the module.
	boltFolder = "bots/bottest/slackfake/bolt"
	boltPeer   = "Bolt"
	// modelTime is how long the model takes in the pass with kills.
	modelTime = 300 * time.Millisecond
	// calm is how long nothing must be answered after the kills until what is not answered counts as lost.
	calm = 45 * time.Second
)

// slackRig is one app on a fake Slack of its own.
type slackRig struct {
	peer  string
	fake  *slackfake.Server
	board *board
	dms   []string
	// boot makes the command of the app; proc is its present life.
	boot func() (*exec.Cmd, error)
	proc *exec.Cmd
	rec  func(metric string, v float64)
	end  []func() error
}

// startSlack opens a fake Slack with so many people, and an app on it: Herald on a store, or Bolt.
func startSlack(ctx context.Context, peer, dir string, people int, think time.Duration, rec func(string, float64)) (_ *slackRig, err error) {
	g := &slackRig{peer: peer, board: &board{}, rec: rec}
	defer func() {
		if err != nil {
			err = errors.Join(err, g.close())
		}
	}()
	o := slackfake.Options{Lean: true, Patient: true, Observe: func(at slackfake.Stage, c slackfake.Call) {
		if at == slackfake.Applied && c.Method == "chat.postMessage" {
			g.board.answered(cmp.Or(c.Args["markdown_text"], c.Args["text"], c.Args["blocks"]))
		}
	}}
	for range 50 {
		o.RetryAfter = append(o.RetryAfter, time.Second)
	}
	if g.fake, err = slackfake.Start(ctx, o); err != nil {
		return nil, err
	}
	g.end = append(g.end, func() error { g.fake.Close(); return nil })
	for i := range people {
		id := "U" + strconv.Itoa(i)
		g.fake.AddUser(slackfake.User{ID: id, Team: slackfake.Team})
		g.dms = append(g.dms, g.fake.DM(id, ""))
	}
	if peer == boltPeer {
		root, err := moduleRoot(ctx)
		if err != nil {
			return nil, err
		}
		g.boot = func() (*exec.Cmd, error) {
			cmd := exec.Command("node", "echo.js")
			cmd.Dir = filepath.Join(root, boltFolder)
			cmd.Env = append(os.Environ(), "SLACK_API_URL="+g.fake.APIURL(), "BOT_TOKEN="+slackfake.BotToken, "APP_TOKEN="+slackfake.AppToken)
			if think > 0 {
				cmd.Env = append(cmd.Env, "DELAY_MS="+strconv.FormatInt(think.Milliseconds(), 10))
			}
			return cmd, nil
		}
		return g, g.live(ctx)
	}
	home, err := os.MkdirTemp(dir, peer)
	if err != nil {
		return nil, err
	}
	url, end, err := openStore(ctx, peer, home)
	if err != nil {
		return nil, err
	}
	g.end = append(g.end, end)
	spec, err := json.Marshal(childSpec{Dir: home, OwnModel: true, Think: think, Settings: []string{
		"HERALD_DATA_DIR=" + home, "HERALD_STORE__URL=" + url, "HERALD_HTTP__LISTEN=127.0.0.1:0",
		"HERALD_OUTBOX__CHANNEL_INTERVAL_MS=0", "HERALD_OUTBOX__WORKSPACE_INTERVAL_MS=0",
		"BOT=" + slackfake.BotToken, "APP=" + slackfake.AppToken,
		"HERALD_SLACK__BOT_TOKEN_ENV=BOT", "HERALD_SLACK__APP_TOKEN_ENV=APP", "HERALD_SLACK__API_URL=" + g.fake.APIURL(), "HERALD_SLACK__INTRODUCE=false",
	}})
	if err != nil {
		return nil, err
	}
	g.boot = func() (*exec.Cmd, error) {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		cmd := exec.Command(self)
		cmd.Env = append(os.Environ(), childEnv+"="+string(spec))
		return cmd, nil
	}
	return g, g.live(ctx)
}

// live begins a life of the app and waits for its socket.
func (g *slackRig) live(ctx context.Context) error {
	cmd, err := g.boot()
	if err != nil {
		return err
	}
	before := g.fake.Counts().Connected
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("start %s: %w", g.peer, err)
	}
	g.proc = cmd
	ctx, cancel := context.WithTimeout(ctx, startWait)
	defer cancel()
	return g.fake.Wait(ctx, g.peer+" is connected", func(v slackfake.View) bool { return v.Counts().Connected > before })
}

// kill ends the app's life at once.
func (g *slackRig) kill() {
	if g.proc != nil {
		_ = g.proc.Process.Kill()
		_ = g.proc.Wait()
		g.proc = nil
	}
}

func (g *slackRig) close() error {
	g.kill()
	var errs []error
	for i := len(g.end) - 1; i >= 0; i-- {
		errs = append(errs, g.end[i]())
	}
	g.end = nil
	return errors.Join(errs...)
}

// post is one message in the direct message of a person.
func (g *slackRig) post(person int, wake chan<- int) {
	n := g.board.add(person, time.Now(), wake)
	g.fake.Say(slackfake.Say{Channel: g.dms[person], User: "U" + strconv.Itoa(person), Text: "How far is the work? " + mark(n)})
}

// closed keeps flight messages in flight until total are answered, never two with one person.
func (g *slackRig) closed(ctx context.Context, flight, total int) error {
	return each(ctx, flight, func(ctx context.Context, slot int) error {
		wake := make(chan int, 1)
		person := slot
		for n := slot; n < total; n += flight {
			g.post(person, wake)
			if err := wait(ctx, wake); err != nil {
				return err
			}
			if person += flight; person >= len(g.dms) {
				person = slot
			}
		}
		return nil
	})
}

// steady posts total messages at a pace; wake is told of each answer.
func (g *slackRig) steady(ctx context.Context, every time.Duration, total int, wake chan<- int) error {
	next := time.Now()
	for n := range total {
		next = next.Add(every)
		if pause(ctx, time.Until(next)); ctx.Err() != nil {
			return ctx.Err()
		}
		g.post(n%len(g.dms), wake)
	}
	return nil
}

// measureSpeed is rates, waits, processor time and memory of an app whose model answers at once.
func measureSpeed(ctx context.Context, p plan, peer, dir string, rec func(string, float64)) (err error) {
	began := time.Now()
	g, err := startSlack(ctx, peer, dir, p.Slack.People, 0, rec)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	if err := g.closed(ctx, 1, 1); err != nil {
		return err
	}
	rec(sFirst, ms(time.Since(began)))
	if err := g.closed(ctx, 4, p.Slack.People); err != nil { // everybody is known
		return err
	}
	for _, f := range []struct {
		flight, total int
		rate, cpu     string
	}{{1, p.Slack.One, sRate1, sCPU1}, {16, p.Slack.Sixteen, sRate16, sCPU16}, {64, p.Slack.SixtyFour, sRate64, sCPU64}} {
		before, _, err := usage(g.proc.Process.Pid)
		if err != nil {
			return err
		}
		began := time.Now()
		if err := g.closed(ctx, f.flight, f.total); err != nil {
			return err
		}
		took := time.Since(began)
		after, _, err := usage(g.proc.Process.Pid)
		if err != nil {
			return err
		}
		rec(f.rate, float64(f.total)/took.Seconds())
		rec(f.cpu, ms(after-before)/float64(f.total))
	}
	from := len(g.board.msgs)
	total := 100 * p.Slack.SteadySeconds
	wake := make(chan int, total)
	if err := g.steady(ctx, 10*time.Millisecond, total, wake); err != nil {
		return err
	}
	for range total {
		if err := wait(ctx, wake); err != nil {
			return err
		}
	}
	waits := g.board.waits(from)
	rec(sP50, ms(quantile(waits, 0.50)))
	rec(sP99, ms(quantile(waits, 0.99)))
	_, rss, err := usage(g.proc.Process.Pid)
	rec(sRSS, float64(rss)/(1<<20))
	return err
}

// measureKills kills an app again and again at 200 messages a second with a slow model, and counts what came of them.
func measureKills(ctx context.Context, p plan, peer, dir string, rec func(string, float64)) (f faults, err error) {
	g, err := startSlack(ctx, peer, dir, p.Slack.People, modelTime, rec)
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, g.close()) }()
	total := 200 * p.Slack.KillSeconds
	wake := make(chan int, total)
	var posting sync.WaitGroup
	var failed error
	posting.Go(func() { failed = g.steady(ctx, 5*time.Millisecond, total, wake) })
	for range p.Slack.Kills {
		pause(ctx, time.Duration(p.Slack.KillSeconds)*time.Second/time.Duration(p.Slack.Kills+1))
		g.kill()
		if err := g.live(ctx); err != nil {
			posting.Wait()
			return f, errors.Join(failed, err)
		}
	}
	posting.Wait()
	if failed != nil {
		return f, failed
	}
	still := time.NewTimer(calm)
	defer still.Stop()
	for left := total; left > 0; {
		select {
		case <-wake:
			left--
			still.Reset(calm)
		case <-still.C:
			left = 0
		case <-ctx.Done():
			return f, ctx.Err()
		}
	}
	posted := map[int][]int{}
	for n, m := range g.board.msgs {
		posted[m.session] = append(posted[m.session], n)
	}
	g.fake.Look(func(v slackfake.View) {
		for person, ns := range posted {
			var answers []string
			for _, m := range v.Said(g.dms[person], "") {
				answers = append(answers, cmp.Or(m.Markdown, m.Text))
			}
			f.add(judge(ns, answers))
		}
	})
	rec(sMessages, float64(f.Messages))
	rec(sLost, float64(f.Lost))
	rec(sDoubled, float64(f.Doubled))
	rec(sReordered, float64(f.Reordered))
	return f, nil
}
