package slack

import (
	"context"
	"net/url"
	"sync"
	"time"
)

const (
	usersMethod = "users.info"
	// nameLife is how long a name is believed, namePause how long a person who could not be asked for is left alone.
	nameLife  = time.Hour
	namePause = time.Minute
	// nameWait bounds what a message waits for names: it is acknowledged only afterwards.
	nameWait = 800 * time.Millisecond
	// maxNames bounds the memory, askNames the people of one message that are asked for.
	maxNames = 20_000
	askNames = 5
)

// names knows what people are called. They are shown to models and never an authority.
type names struct {
	now func() time.Time

	mu    sync.Mutex
	known map[string]entry
}

type entry struct {
	name string
	till time.Time
}

func newNames(now func() time.Time) *names {
	return &names{now: now, known: map[string]entry{}}
}

// get is a person's name; "" when it is not known. stale says that it should be asked for.
func (n *names) get(user string) (name string, stale bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	k, ok := n.known[user]
	return k.name, !ok || !k.till.After(n.now())
}

func (n *names) put(user, name string, life time.Duration) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.known) >= maxNames {
		clear(n.known) // they are asked for again
	}
	n.known[user] = entry{name, n.now().Add(life)}
}

// meet asks for the names of a message's writer and of those that it mentions, as far as they are not known. It takes a short while at most; who
// cannot be asked for is left without a name.
func (a *Adapter) meet(ctx context.Context, m *message) {
	users := []string{m.User}
	for u := range tokens(m.Text).users {
		users = append(users, u)
	}
	ctx, cancel := context.WithTimeout(ctx, nameWait)
	defer cancel()
	asked := 0
	for _, u := range users {
		if _, stale := a.names.get(u); u == "" || !stale || asked == askNames {
			continue
		}
		asked++
		var answer struct {
			User struct {
				Name    string `json:"name"`
				Real    string `json:"real_name"`
				Profile struct {
					Display string `json:"display_name"`
					Real    string `json:"real_name"`
				} `json:"profile"`
			} `json:"user"`
		}
		life := nameLife
		if err := a.call(ctx, a.opt.BotToken, usersMethod, url.Values{"user": {u}}, &answer); err != nil {
			a.log.Debug("a person's name could not be asked for", "error", err)
			life = namePause
		}
		p := answer.User.Profile
		a.names.put(u, firstOf(p.Display, p.Real, answer.User.Real, answer.User.Name), life)
	}
}
