package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strings"
	"testing"

	"herald/bots/bottest/platform"
	"herald/bots/bottest/testbot"
	"herald/bots/bottest/wire"
	"herald/core/chat"
)

// app plays a service towards a scene's platform: it acknowledges and posts what a test wants.
type app struct {
	t    *testing.T
	ctx  context.Context //nolint:containedctx // the life of one test
	s    *scene
	bot  *testbot.Bot
	conn net.Conn
}

func appOf(t *testing.T, ctx context.Context, s *scene) *app {
	t.Helper()
	bot, err := testbot.New(testbot.Options{URL: s.plat.URL()})
	if err != nil {
		t.Fatal(err)
	}
	base, _, err := wire.ParseAddress(s.plat.URL())
	if err != nil {
		t.Fatal(err)
	}
	conn, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(base, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n", wire.StreamPath, wire.StreamProtocol); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil || resp.StatusCode != http.StatusSwitchingProtocols {
		t.Fatal(resp, err)
	}
	_ = resp.Body.Close()
	return &app{t, ctx, s, bot, conn}
}

// acked acknowledges an event and returns when the platform knows.
func (a *app) acked(event string) {
	a.t.Helper()
	line, err := json.Marshal(wire.Ack{Ack: event})
	if err != nil {
		a.t.Fatal(err)
	}
	if _, err := a.conn.Write(append(line, '\n')); err != nil {
		a.t.Fatal(err)
	}
	if err := a.s.plat.Wait(a.ctx, "the event is acknowledged", func(v platform.View) bool { return v.Acked(event) }); err != nil {
		a.t.Fatal(err)
	}
}

// post posts a delivery of one piece.
func (a *app) post(delivery, text string) {
	a.t.Helper()
	if _, err := a.bot.Send(a.ctx, &chat.Post{Conversation: a.bot.Conversation(channel, "t1"), DeliveryID: delivery, Text: text}); err != nil {
		a.t.Fatal(err)
	}
}
