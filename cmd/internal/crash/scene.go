package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/wire"
	"herald/core/model/modeltest"
)

const (
	// lease is short, so that what a dead service held is free soon. It must outlast a busy machine's pauses.
	lease = time.Second
	// sendTimeout is how long a call to the platform may take: an unknown send is not looked for sooner.
	sendTimeout = 500 * time.Millisecond
	// redeliver is how long the platform waits for an acknowledgement.
	redeliver = 500 * time.Millisecond
	// often is how often a store is looked at that must come to rest.
	often = 20 * time.Millisecond
)

// kinds of platforms: one that knows repeated sends by their nonce, and one where only looking back can tell.
const (
	byNonce    = "nonce"
	byLookBack = "lookback"
)

func features(kind string, timeout time.Duration) wire.Features {
	f := wire.Features{Edits: true, EditEvery: 100 * time.Millisecond, Cards: true, Ephemeral: true, TextLimit: textLimit, SendTimeout: timeout}
	f.Nonce, f.LookBack = kind == byNonce, kind == byLookBack
	return f
}

// scene is a service with all that is around it.
type scene struct {
	birth birth
	plat  *platform.Server // nil on Slack
	slack *slackWorld      // nil on the test platform
	fake  *modeltest.Server

	stopFake func()
	// ended is closed when the supervisor has ended; stopping tells it not to start another life.
	ended chan struct{}

	mu       sync.Mutex
	life     *life
	plan     plan
	trace    bool
	lives    int
	stopping bool
	// odd are ends of a life that nobody asked for, died counts those at the point.
	odd  []string
	died int
	// pointed says that a life has a point to die at, asked that a life was asked to end.
	pointed, asked bool
	// mortal: lives may kill themselves at any time.
	mortal bool
	// guest: platform and model are another scene's.
	guest bool

	said []said
	// torn: a death may part messages that came in the wrong order, so that the newer one is answered before the older one has come again.
	torn bool
}

// said is a message of a person that the oracle expects to be answered.
type said struct {
	thread, token string
	least, most   int
}

// open starts what is around a service. dir is the scene's own folder, timeout how long a call to the platform may take.
func open(ctx context.Context, dir, kind, store string, timeout time.Duration) (*scene, error) {
	s := &scene{ended: make(chan struct{})}
	err := hire(dir)
	if err != nil {
		return nil, err
	}
	var address string
	if kind == onSlack {
		if s.slack, err = openSlack(ctx, timeout); err != nil {
			return nil, err
		}
		address = s.slack.APIURL()
	} else {
		s.plat, err = platform.Start(ctx, platform.Options{Features: features(kind, timeout), RedeliverAfter: redeliver, Echo: true})
		if err != nil {
			return nil, err
		}
		address = s.plat.URL()
	}
	s.fake = &modeltest.Server{Rules: []modeltest.Rule{reply}}
	url, stop, err := s.fake.Start(ctx)
	if err != nil {
		s.shut()
		return nil, err
	}
	s.stopFake = stop
	s.birth = birth{Dir: dir, Platform: address, Slack: kind == onSlack, Model: url, Store: store, Lease: lease, Call: timeout, Grace: 5 * time.Second}
	return s, nil
}

// hire writes the agent that the main one gives work to.
func hire(dir string) error {
	path := filepath.Join(dir, "data", "agents", worker)
	if err := os.MkdirAll(path, 0o700); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(path, "AGENT.md"), []byte("---\nname: Worker\ndescription: Does a part of the work.\ntype: task\ntools: true\n---\nYou do your part.\n"), 0o600)
}

// say makes a person of a thread say "#token verb", which one answer must cover.
func (s *scene) say(thread, token, verb string) platform.Told {
	return s.expect(thread, token, verb, 1, 1)
}

// expect is say for a message that at least least and at most most answers cover.
func (s *scene) expect(thread, token, verb string, least, most int) platform.Told {
	s.said = append(s.said, said{thread, token, least, most})
	return s.tell(thread, "#"+token+" "+verb)
}

// tell makes a person say something that the oracle expects nothing of.
func (s *scene) tell(thread, text string) platform.Told {
	if s.slack != nil {
		told := s.slack.say(thread, text, false, 1)
		return platform.Told{Message: told.TS}
	}
	return s.plat.Post(platform.Say{Channel: channel, Thread: thread, Text: text, Direct: true})
}

// shut ends the platform.
func (s *scene) shut() {
	if s.slack != nil {
		s.slack.Close()
		return
	}
	s.plat.Close()
}

// channel is where all conversations of a scene stand.
const channel = "c"

// asks waits until the model was asked at least n times.
func (s *scene) asks(ctx context.Context, n int) error {
	return poll(ctx, fmt.Sprintf("the model was asked %d times", n), func() bool { return s.fake.Calls() >= n })
}

// stands waits until a message of the app that holds one of the texts stands in a thread.
func (s *scene) stands(ctx context.Context, thread string, texts ...string) (m platform.Message, err error) {
	err = s.until(ctx, fmt.Sprintf("%q stands in %s", texts, thread), func(v board) bool {
		for _, x := range v.messages(thread) {
			if x.ByApp && slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(x.Text, t) }) {
				m = *x
				return true
			}
		}
		return false
	})
	return m, err
}

// rest waits until all that was said is answered as often as it must be and the store has come to rest. It returns what is missing when
// ctx ends first.
func (s *scene) rest(ctx context.Context) []string {
	if err := s.until(ctx, "every message is answered", func(v board) bool { return v.unacked == 0 && s.answered(v) }); err != nil {
		left, _ := s.now().look()
		return append(left, err.Error())
	}
	return s.quiet(ctx)
}

// quiet waits until the store is at rest, and returns what is left in it.
func (s *scene) quiet(ctx context.Context) []string {
	var left []string
	err := poll(ctx, "the store is at rest", func() bool {
		var err error
		if left, err = s.now().look(); err != nil {
			left = []string{err.Error()}
			return false
		}
		for _, l := range left {
			if !strings.HasPrefix(l, deadLetter) {
				return false
			}
		}
		return true // dead letters do not go away by waiting
	})
	if err != nil {
		left = append(left, err.Error())
	}
	return left
}

func (s *scene) answered(v board) bool {
	found := map[string]int{}
	for _, w := range s.said {
		if _, seen := found[w.thread]; seen {
			continue
		}
		found[w.thread] = 0
		for _, m := range v.messages(w.thread) {
			if !m.ByApp {
				continue
			}
			if m.Live {
				return false
			}
			for _, t := range tokens.FindAllString(m.Text, -1) {
				found[w.thread+t]++
			}
		}
	}
	for _, w := range s.said {
		if found[w.thread+"#"+w.token] < w.least {
			return false
		}
	}
	return true
}

// effects are the starts of tools so far.
func (s *scene) effects() ([]effect, error) {
	data, err := os.ReadFile(filepath.Join(s.birth.Dir, effectsFile))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	var out []effect
	for line := range bytes.Lines(data) {
		var e effect
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("read an effect: %w", err)
		}
		out = append(out, e)
	}
	return out, nil
}

// poll asks until cond holds: for what gives no signal.
func poll(ctx context.Context, what string, cond func() bool) error {
	tick := time.NewTicker(often)
	defer tick.Stop()
	for !cond() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			return fmt.Errorf("wait until %s: %w", what, context.Cause(ctx))
		}
	}
	return nil
}
