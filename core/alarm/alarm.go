package alarm

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// Partition holds what is known.
const Partition store.Partition = "alarm"

const (
	kinds     = "trouble"
	welcomes  = "welcome"
	addresses = "address"
	// tries bounds how often a change that lost a race is decided anew.
	tries = 10
)

// Options of a [Watch]. All but Log are required.
type Options struct {
	Store store.Store
	// Holder names this process, NewID makes ids of commits.
	Holder string
	NewID  func() string
	// Admins are the accounts to tell, as the configuration names them now.
	Admins func() []chat.IdentityID
	// Open is that of [chat.Opener]; an account that it refuses is not told.
	Open func(ctx context.Context, id chat.IdentityID) (chat.Conversation, error)
	// Look gives the trouble of now. It may ask the outside.
	Look func(ctx context.Context) []Trouble
	// Every is the pause between two looks. Settle is how long trouble must last before it is told: a connection that is made anew is none.
	Every, Settle time.Duration
	// Welcome: admins are told once what to do next.
	Welcome bool
	Log     *slog.Logger
}

// Watch looks for trouble. Make it with [New].
type Watch struct {
	o Options
	// since is when this process first saw each kind of the present trouble.
	since map[string]time.Time
	clock func() time.Time
}

// New makes a watch.
func New(o Options) *Watch {
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return &Watch{o: o, since: map[string]time.Time{}, clock: time.Now}
}

// Run looks again and again until ctx ends. What fails is logged and tried again at the next look.
func (w *Watch) Run(ctx context.Context) error {
	t := time.NewTicker(w.o.Every)
	defer t.Stop()
	for {
		if err := w.Pass(ctx); err != nil && ctx.Err() == nil {
			w.o.Log.Warn("the admins could not be told of trouble; it is tried again", "error", err)
		}
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
	}
}

// address is where an account is told.
type address struct {
	V            int               `json:"v"`
	Identity     chat.IdentityID   `json:"identity"`
	Conversation chat.Conversation `json:"conversation"`
}

// stored is what the partition holds.
type stored struct {
	now      time.Time
	troubles map[string]doc
	welcomed map[string]bool
	places   map[chat.IdentityID]chat.Conversation
}

type doc struct {
	known
	version int64
}

// Pass looks once.
func (w *Watch) Pass(ctx context.Context) error {
	present := map[string]*Trouble{}
	for _, t := range w.o.Look(ctx) {
		if present[t.Kind] == nil {
			present[t.Kind] = &t
		}
	}
	now := w.clock()
	for kind := range w.since {
		if present[kind] == nil {
			delete(w.since, kind)
		}
	}
	for kind := range present {
		if _, ok := w.since[kind]; !ok {
			w.since[kind] = now
		}
		if now.Sub(w.since[kind]) < w.o.Settle {
			delete(present, kind)
		}
	}
	s, err := w.read(ctx)
	if err != nil {
		return err
	}
	to, errs := w.addresses(ctx, s)
	if w.o.Welcome {
		for id, c := range to {
			if !s.welcomed[string(id)] {
				errs = append(errs, w.welcome(ctx, id, c, s.now))
			}
		}
	}
	all := make([]string, 0, len(present)+len(s.troubles))
	for kind := range present {
		all = append(all, kind)
	}
	for kind := range s.troubles {
		if present[kind] == nil {
			all = append(all, kind)
		}
	}
	slices.Sort(all)
	for _, kind := range all {
		errs = append(errs, w.settle(ctx, kind, present[kind], to, s))
	}
	return errors.Join(errs...)
}

// read asks for all that is known.
func (w *Watch) read(ctx context.Context) (stored, error) {
	as, err := w.o.Store.Read(ctx, store.List{Partition: Partition, Collection: kinds}, store.List{Partition: Partition, Collection: welcomes}, store.List{Partition: Partition, Collection: addresses})
	if err != nil {
		return stored{}, fmt.Errorf("read what the admins were told: %w", err)
	}
	s := stored{now: as[0].Now, troubles: map[string]doc{}, welcomed: map[string]bool{}, places: map[chat.IdentityID]chat.Conversation{}}
	for _, d := range as[0].Docs {
		k := doc{version: d.Version}
		if err := json.Unmarshal(d.Value, &k.known); err != nil {
			return stored{}, fmt.Errorf("read what the admins were told of %s: %w", d.Key.Name, err)
		}
		s.troubles[k.Kind] = k
	}
	for _, d := range as[1].Docs {
		s.welcomed[d.Key.Name] = true
	}
	for _, d := range as[2].Docs {
		var a address
		if err := json.Unmarshal(d.Value, &a); err != nil {
			return stored{}, fmt.Errorf("read where an admin is told: %w", err)
		}
		s.places[a.Identity] = a.Conversation
	}
	return s, nil
}

// addresses are where the admins are told. One that was found once is kept, because a platform in trouble gives none.
func (w *Watch) addresses(ctx context.Context, s stored) (map[chat.IdentityID]chat.Conversation, []error) {
	out := map[chat.IdentityID]chat.Conversation{}
	var errs []error
	for _, id := range w.o.Admins() {
		if c, ok := s.places[id]; ok {
			out[id] = c
			continue
		}
		c, err := w.o.Open(ctx, id)
		if _, refused := errors.AsType[*chat.Refused](err); refused {
			continue // of another platform, or gone
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("open the direct messages of the admin %s: %w", id, err))
			continue
		}
		out[id] = c
		_, err = w.o.Store.Commit(ctx, store.Commit{
			ID: "alarm.address/" + w.o.NewID(), Partition: Partition,
			Ops: []store.Op{store.Put{Key: store.Key{Collection: addresses, Name: string(id)}, Value: conversation.Encode(address{V: conversation.Version, Identity: id, Conversation: c})}},
		})
		if err != nil {
			errs = append(errs, fmt.Errorf("keep where the admin %s is told: %w", id, err))
		}
	}
	return out, errs
}

// welcome tells an admin once what to do next.
func (w *Watch) welcome(ctx context.Context, id chat.IdentityID, c chat.Conversation, now time.Time) error {
	key := store.Key{Collection: welcomes, Name: string(id)}
	ops := append([]store.Op{store.Put{Key: key, Value: conversation.Encode(address{V: conversation.Version, Identity: id, Conversation: c})}}, tell(c, textWelcome, now, "welcome", string(id))...)
	_, err := w.o.Store.Commit(ctx, store.Commit{
		ID: conversation.ID("alarm.welcome/", string(id)), Partition: Partition, Guards: []store.Guard{store.At{Key: key}}, Ops: ops,
	})
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return fmt.Errorf("tell the admin %s what to do next: %w", id, err)
	}
	return nil
}

// tell owes the words to a conversation.
func tell(c chat.Conversation, text string, now time.Time, parts ...string) []store.Op {
	d := &conversation.Delivery{ID: conversation.ID("n", append([]string{"alarm"}, parts...)...), Kind: conversation.Notice, Text: text, After: now, MadeAt: now}
	owed := conversation.OweSaying(conversation.Partition(c), d)
	owed.At = now
	return conversation.Owe(Partition, owed)
}

// settle brings what is known of a kind up to what this process sees.
func (w *Watch) settle(ctx context.Context, kind string, t *Trouble, to map[chat.IdentityID]chat.Conversation, s stored) error {
	if t == nil {
		k := s.troubles[kind]
		if _, mine := k.In[w.o.Holder]; !mine && !k.Open {
			return nil // nothing to change
		}
	}
	if t != nil && len(to) == 0 {
		return nil // nobody can be told yet
	}
	now := s.now
	for range tries {
		k := s.troubles[kind]
		k.V, k.Kind = conversation.Version, kind
		next, say := decide(k.known, w.o.Holder, t, now)
		if say == "" && len(next.In) == len(k.In) && t == nil {
			return nil
		}
		key := store.Key{Collection: kinds, Name: kind}
		ops := []store.Op{store.Put{Key: key, Value: conversation.Encode(next)}}
		if say != "" {
			for id, c := range to {
				ops = append(ops, tell(c, say, now, kind, fmt.Sprint(next.Count), string(id))...)
			}
		}
		_, err := w.o.Store.Commit(ctx, store.Commit{ID: "alarm.trouble/" + w.o.NewID(), Partition: Partition, Guards: []store.Guard{store.At{Key: key, Version: k.version}}, Ops: ops})
		switch {
		case err == nil:
			if say != "" {
				w.o.Log.Info("the admins are told", "kind", kind, "trouble", t != nil, "admins", len(to))
			}
			return nil
		case !errors.Is(err, store.ErrConflict):
			return fmt.Errorf("tell the admins of %s: %w", kind, err)
		}
		if s, err = w.read(ctx); err != nil {
			return err
		}
		now = s.now
	}
	return fmt.Errorf("tell the admins of %s: %d others in a row were faster: %w", kind, tries, store.ErrConflict)
}
