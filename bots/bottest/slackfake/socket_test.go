package slackfake_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"herald/bots/bottest/slackfake"
)

func TestMentionIsTwoEvents(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	told := s.Say(slackfake.Say{Text: "<@" + slackfake.BotUser + "> is 1 < 2 && 3 > 2? <@U0NOBODY"})
	var kinds, ids []string
	for range 2 {
		f := k.take()
		kinds = append(kinds, str(event(f), "type"))
		ids = append(ids, str(f, "payload", "event_id"))
		if got, want := str(event(f), "text"), "<@U0BOT> is 1 &lt; 2 &amp;&amp; 3 &gt; 2? &lt;@U0NOBODY"; got != want {
			t.Errorf("the text is %q, want %q", got, want)
		}
		if str(event(f), "ts") != told.TS || str(event(f), "client_msg_id") == "" {
			t.Errorf("the event %v is not the message %+v", event(f), told)
		}
		auth, _ := dig(f, "payload", "authorizations").([]any)
		if len(auth) != 1 || str(auth[0], "user_id") != slackfake.BotUser || str(f, "payload", "api_app_id") != slackfake.AppID {
			t.Errorf("the event is not addressed to the app: %v", f)
		}
	}
	if !slices.Equal(kinds, []string{"message", "app_mention"}) || !slices.Equal(ids, told.Events) {
		t.Errorf("got %v %v, want a message and a mention: %v", kinds, ids, told.Events)
	}
	wait(t, s, "both are acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
}

func TestRedelivery(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{AckTimeout: 50 * time.Millisecond, RetryAfter: []time.Duration{0, 10 * time.Millisecond, 20 * time.Millisecond}})
	k := open(t, s)
	told := s.Say(slackfake.Say{Text: "hello"})
	envelopes := map[string]bool{}
	for i := range 4 {
		f := k.next()
		envelopes[str(f, "envelope_id")] = true
		if str(f, "payload", "event_id") != told.Events[0] || f["retry_attempt"] != float64(i) || (str(f, "retry_reason") == "timeout") != (i > 0) {
			t.Errorf("attempt %d is %v", i, f)
		}
	}
	if len(envelopes) != 4 {
		t.Errorf("%d envelopes for 4 attempts", len(envelopes))
	}
	wait(t, s, "the event is given up", func(v slackfake.View) bool { return v.Event(told.Events[0]).GaveUp })
}

func TestNoRedeliveryAfterAck(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	told := s.Say(slackfake.Say{Text: "hello"})
	k.ack(k.next(), object{})
	wait(t, s, "the event is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
	s.Advance(time.Hour)
	next := s.Say(slackfake.Say{Text: "again"})
	if f := k.take(); str(f, "payload", "event_id") != next.Events[0] {
		t.Errorf("after the acknowledgement of %s came %v", told.Events[0], f)
	}
	s.Again(told.Events...)
	if f := k.take(); str(f, "payload", "event_id") != told.Events[0] {
		t.Errorf("asked to send %v again, it sent %v", told.Events, f)
	}
	wait(t, s, "the repeat is noted", func(v slackfake.View) bool {
		return slices.ContainsFunc(v.Journal(), func(r slackfake.Record) bool { return r.Kind == slackfake.AckedAgain })
	})
}

func TestEventsWithoutSocket(t *testing.T) {
	t.Parallel()
	for name, patient := range map[string]bool{"patient": true, "retried": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{Patient: patient, RetryAfter: []time.Duration{0, time.Minute}})
			told := s.Say(slackfake.Say{Text: "hello"})
			if !patient {
				wait(t, s, "two attempts failed", func(v slackfake.View) bool { return v.Counts().Failed == 2 })
			}
			k := open(t, s)
			s.Advance(time.Minute)
			f := k.take()
			if str(f, "payload", "event_id") != told.Events[0] || (f["retry_attempt"] == float64(0)) != patient {
				t.Errorf("got %v", f)
			}
		})
	}
}

func TestSeveredSocketPassesItsEventsOn(t *testing.T) {
	t.Parallel()
	for name, patient := range map[string]bool{"patient": true, "retried": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{Patient: patient})
			first := open(t, s)
			told := s.Say(slackfake.Say{Text: "hello"})
			first.next()
			second := open(t, s)
			s.Sever("")
			wait(t, s, "both sockets are gone", func(v slackfake.View) bool { return v.Counts().Sockets == 0 })
			if _, err := second.read(); err == nil {
				// It may have been given the event before it broke, but must break.
				if f, err := second.read(); err == nil {
					t.Errorf("a severed socket says %v", f)
				}
			}
			third := open(t, s)
			s.Advance(2 * time.Minute)
			if f := third.take(); str(f, "payload", "event_id") != told.Events[0] {
				t.Errorf("got %v", f)
			}
		})
	}
}

func TestAckMustComeBackOnItsSocket(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	a := open(t, s)
	told := s.Say(slackfake.Say{Text: "hello"})
	f := a.next()
	b := open(t, s)
	b.ack(f, nil)
	wait(t, s, "the acknowledgement is dropped", dropped("other_socket"))
	a.ack(f, object{"text": strings.Repeat("x", 21<<10)})
	wait(t, s, "the large acknowledgement is dropped", dropped("too_large"))
	a.ack(f, nil)
	wait(t, s, "the acknowledgement counts", func(v slackfake.View) bool { return v.Acked(told.Events...) })
}

func dropped(code string) func(slackfake.View) bool {
	return func(v slackfake.View) bool {
		return slices.ContainsFunc(v.Journal(), func(r slackfake.Record) bool { return r.Kind == slackfake.AckDropped && r.Code == code })
	}
}

func TestTooManySockets(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{MaxSockets: 2})
	open(t, s)
	open(t, s)
	_, f := dial(t, s)
	if f["type"] != "disconnect" || f["reason"] != "too_many_websockets" {
		t.Errorf("the third socket of two is greeted with %v", f)
	}
}

func TestTicketIsForOneSocket(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	to := socketURL(t, s)
	if _, err := dialURL(t, to); err != nil {
		t.Fatal(err)
	}
	if _, err := dialURL(t, to); err == nil {
		t.Error("a second socket came in by the first one's ticket")
	}
	if _, err := dialURL(t, "ws"+strings.TrimPrefix(s.URL(), "http")+"/link/?ticket=none"); err == nil {
		t.Error("a socket came in without a ticket")
	}
}

func TestSocketsAreRefreshed(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, query string
		life        time.Duration
	}{{"standard", "", 18060 * time.Second}, {"debug_reconnects", "&debug_reconnects=true", 360 * time.Second}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{Notice: time.Millisecond})
			k, err := dialURL(t, socketURL(t, s)+c.query)
			if err != nil {
				t.Fatal(err)
			}
			if got := dig(k.next(), "debug_info", "approximate_connection_time"); got != c.life.Seconds() {
				t.Errorf("the socket is said to live %v s", got)
			}
			s.Advance(c.life - time.Minute)
			told := s.Say(slackfake.Say{Text: "before its end"})
			if f := k.take(); str(f, "payload", "event_id") != told.Events[0] {
				t.Errorf("got %v", f)
			}
			wait(t, s, "the event is acknowledged", func(v slackfake.View) bool { return v.Acked(told.Events...) })
			s.Advance(time.Minute)
			if f := k.next(); f["type"] != "disconnect" || f["reason"] != "warning" {
				t.Errorf("got %v", f)
			}
			if f, err := k.read(); err == nil {
				t.Errorf("the socket lives on: %v", f)
			}
		})
	}
}

func TestSilentSocketHearsNothing(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	told := s.Say(slackfake.Say{Text: "hello"})
	f := k.next()
	s.Hush("")
	k.ack(f, nil)
	_ = k.ws.Close()
	wait(t, s, "the socket is gone", func(v slackfake.View) bool { return v.Counts().Sockets == 0 })
	s.Look(func(v slackfake.View) {
		if v.Acked(told.Events...) {
			t.Error("an acknowledgement on a silent socket counts")
		}
	})
}

func TestDisconnects(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		reason string
		atOnce bool
	}{{"warning", false}, {"refresh_requested", false}, {"link_disabled", true}, {"too_many_websockets", true}} {
		t.Run(c.reason, func(t *testing.T) {
			t.Parallel()
			s := start(t, slackfake.Options{Notice: time.Hour})
			k := open(t, s)
			s.Disconnect("", c.reason)
			if f := k.next(); f["type"] != "disconnect" || f["reason"] != c.reason {
				t.Fatalf("got %v", f)
			}
			if !c.atOnce {
				// Within the notice the old socket still takes events, unless there is another one.
				old := s.Say(slackfake.Say{Text: "old"})
				if f := k.take(); str(f, "payload", "event_id") != old.Events[0] {
					t.Errorf("got %v", f)
				}
				fresh := open(t, s)
				for range 3 {
					s.Say(slackfake.Say{Text: "new"})
					fresh.take()
				}
				s.Advance(2 * time.Hour)
			}
			if f, err := k.read(); err == nil {
				t.Errorf("the socket lives on: %v", f)
			}
		})
	}
}

func TestSocketTroubles(t *testing.T) {
	t.Parallel()
	t.Run("cut in the middle of a frame", func(t *testing.T) {
		t.Parallel()
		s := start(t, slackfake.Options{})
		k := open(t, s)
		s.CutFrame("")
		if f, err := k.read(); err == nil {
			t.Errorf("half a frame was read as %v", f)
		}
	})
	t.Run("silent", func(t *testing.T) {
		t.Parallel()
		s := start(t, slackfake.Options{
			AckTimeout: 30 * time.Millisecond, PingEvery: 5 * time.Millisecond, RetryAfter: slices.Repeat([]time.Duration{20 * time.Millisecond}, 1000),
		})
		k := open(t, s)
		pings := make(chan struct{}, 100)
		k.ws.SetPingHandler(func(string) error { pings <- struct{}{}; return nil })
		read := make(chan object, 10)
		go func() {
			defer close(read)
			for {
				f, err := k.read()
				if err != nil {
					return
				}
				read <- f
			}
		}()
		<-pings
		s.Hush("")
		told := s.Say(slackfake.Say{Text: "into the void"})
		wait(t, s, "the attempt failed", func(v slackfake.View) bool { return v.Counts().Failed > 0 })
		select {
		case f := <-read:
			t.Errorf("the silent socket said %v", f)
		default:
		}
		fresh := open(t, s)
		if f := fresh.take(); str(f, "payload", "event_id") != told.Events[0] {
			t.Errorf("got %v", f)
		}
		_ = k.ws.Close()
		for range read {
		}
	})
	t.Run("pings are answered", func(t *testing.T) {
		t.Parallel()
		s := start(t, slackfake.Options{})
		k := open(t, s)
		pong := make(chan string, 1)
		k.ws.SetPongHandler(func(data string) error { pong <- data; return nil })
		if err := k.ws.WriteControl(websocket.PingMessage, []byte("mine"), time.Now().Add(patience)); err != nil {
			t.Fatal(err)
		}
		for range 10_000 {
			s.Say(slackfake.Say{Text: "so that the reader returns"})
			k.take()
			select {
			case data := <-pong:
				if data != "mine" {
					t.Errorf("the pong says %q", data)
				}
				return
			default:
			}
		}
		t.Error("no pong")
	})
}
