package slack_test

import (
	"sync/atomic"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
	"herald/core/chat"
)

// Guests and people of another workspace are seen wherever they read along; where that cannot be told it counts as if they did.
func TestWhoReadsAlong(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name  string
		make  func(s *slackfake.Server)
		where func(s *slackfake.Server) string
		want  bool
		fails bool
	}{
		{"a channel of members", func(*slackfake.Server) {}, nil, false, false},
		{"a guest elsewhere", func(s *slackfake.Server) {
			s.AddUser(slackfake.User{ID: "U0GUEST", Name: "guest", Team: slackfake.Team, Guest: true})
		}, nil, false, false},
		{"a guest in it", func(s *slackfake.Server) {
			s.AddUser(slackfake.User{ID: "U0GUEST", Name: "guest", Team: slackfake.Team, Guest: true})
			s.Join(slackfake.General, "U0GUEST")
		}, nil, true, false},
		{"a channel that is shared", func(s *slackfake.Server) {
			s.SetChannel(slackfake.General, func(c *slackfake.Channel) { c.SharedWith = []string{"T0OTHER"} })
		}, nil, true, false},
		{"a member's own conversation", func(*slackfake.Server) {}, func(s *slackfake.Server) string { return s.DM(slackfake.Bob, "") }, false, false},
		{"a guest's own conversation", func(s *slackfake.Server) {
			s.SetUser(slackfake.Bob, func(u *slackfake.User) { u.Guest = true })
		}, func(s *slackfake.Server) string { return s.DM(slackfake.Bob, "") }, true, false},
		{"no word of the members", func(s *slackfake.Server) {
			s.Inject(slackfake.Fault{Method: "users.list", Kind: slackfake.RateLimit, Times: -1})
		}, nil, true, true},
		{"no such channel", func(*slackfake.Server) {}, func(*slackfake.Server) string { return "C0NONE" }, true, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			tt.make(s)
			f := connect(t, s, options(t, s, &inbox{}))
			c := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.General}
			if tt.where != nil {
				c.Channel = tt.where(s)
			}
			for range 2 {
				if got, err := f.adapter.Mixed(within(t), c); got != tt.want || (err != nil) != tt.fails {
					t.Errorf("Mixed = %v, %v; want %v", got, err, tt.want)
				}
			}
			asked := 0
			for _, rec := range s.Journal() {
				if rec.Kind == slackfake.Called && rec.Method == "conversations.info" {
					asked++
				}
			}
			if !tt.fails && asked != 1 {
				t.Errorf("the channel was asked for %d times", asked)
			}
		})
	}
}

// Who joins later is seen soon.
func TestWhoJoinsIsSeen(t *testing.T) {
	t.Parallel()
	s := world(t, slackfake.Options{})
	s.AddUser(slackfake.User{ID: "U0GUEST", Name: "guest", Team: slackfake.Team, Guest: true})
	o := options(t, s, &inbox{})
	var later atomic.Int64
	o.Now = func() time.Time { return time.Now().Add(time.Duration(later.Load())) }
	f := connect(t, s, o)
	c := chat.Conversation{Workspace: "slack:" + slackfake.Team, Channel: slackfake.General}
	if got, err := f.adapter.Mixed(within(t), c); got || err != nil {
		t.Fatal(got, err)
	}
	s.Join(slackfake.General, "U0GUEST")
	later.Store(int64(3 * time.Minute))
	if got, err := f.adapter.Mixed(within(t), c); !got || err != nil {
		t.Errorf("Mixed = %v, %v", got, err)
	}
}
