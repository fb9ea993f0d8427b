package terminal_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"herald/bots/console/proto"
	"herald/bots/console/terminal"
)

// TestFollowOverRestarts: each record comes once and in order, whatever happens to the service between.
func TestFollowOverRestarts(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	opt, _, _ := s.options("")
	c := terminal.NewClient(opt.Dial, "terminal")
	defer c.Close()
	s.begin("", "before", false) // stands already: not news
	got := make(chan *proto.Record, 64)
	links := make(chan error, 64)
	ctx, cancel := context.WithCancel(within(t))
	done := make(chan error, 1)
	go func() {
		done <- c.Follow(ctx, func(r *proto.Record) error { got <- r; return nil }, func(err error) {
			select {
			case links <- err:
			default:
			}
		})
	}()
	if r := <-got; r.Kind != proto.Ready {
		t.Fatalf("got %+v first", r)
	}
	seq := uint64(0)
	for i := range 12 {
		s.begin("", fmt.Sprint("n", i), false)
		if i%4 == 3 { // the last posts may not have reached the client yet
			s.down()
			s.up()
		}
	}
	for i := range 12 {
		r := <-got
		if r.Text != fmt.Sprint("n", i) || seq != 0 && r.Seq != seq+1 {
			t.Errorf("record %d is %q with number %d after %d", i, r.Text, r.Seq, seq)
		}
		seq = r.Seq
	}
	if err := <-links; err == nil {
		t.Error("a lost stream was told without a reason")
	}
	cancel()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("Follow: %v", err)
	}
	if len(got) != 0 {
		t.Errorf("%d records came twice", len(got))
	}
}

func TestFollowEndsWithItsFunction(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	opt, _, _ := s.options("")
	c := terminal.NewClient(opt.Dial, "terminal")
	defer c.Close()
	enough := errors.New("enough")
	if err := c.Follow(within(t), func(*proto.Record) error { return enough }, func(error) {}); !errors.Is(err, enough) {
		t.Errorf("got %v", err)
	}
}

// TestSayIsOnce: the answer to a line is lost twice; the service sees one message.
func TestSayIsOnce(t *testing.T) {
	t.Parallel()
	s := startService(t, nil, echo)
	opt, _, _ := s.options("")
	c := terminal.NewClient(opt.Dial, "terminal")
	defer c.Close()
	key := terminal.NewKey()
	one, err := c.Say(within(t), key, "hello")
	if err != nil {
		t.Fatal(err)
	}
	two, err := c.Say(within(t), key, "hello")
	if err != nil || one.ID != two.ID {
		t.Errorf("ids %s and %s, %v", one.ID, two.ID, err)
	}
	other, err := c.Say(within(t), terminal.NewKey(), "hello")
	if err != nil || other.ID <= two.ID {
		t.Errorf("another line got %s after %s, %v", other.ID, two.ID, err)
	}
}
