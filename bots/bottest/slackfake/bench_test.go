package slackfake_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"

	"github.com/gorilla/websocket"

	"herald/bots/bottest/slackfake"
)

// BenchmarkEcho is what the fake costs: a message goes out, is acknowledged and answered, by an app that does nothing else.
func BenchmarkEcho(b *testing.B) {
	s, err := slackfake.Start(b.Context(), slackfake.Options{Lean: true, Silent: true})
	if err != nil {
		b.Fatal(err)
	}
	defer s.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	do := func(token, method, body string) []byte {
		req, err := http.NewRequestWithContext(b.Context(), http.MethodPost, s.APIURL()+method, bytes.NewReader([]byte(body)))
		if err != nil {
			b.Error(err)
			return nil
		}
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return nil
		}
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			b.Error(err)
		}
		return raw
	}
	raw := do(slackfake.AppToken, "apps.connections.open", "{}")
	_, tail, _ := bytes.Cut(raw, []byte(`"url":"`))
	url, _, _ := bytes.Cut(tail, []byte(`"`))
	ws, res, err := websocket.DefaultDialer.DialContext(b.Context(), string(url), nil)
	if err != nil {
		b.Fatal(err)
	}
	_ = res.Body.Close()
	defer func() { _ = ws.Close() }()
	if _, _, err := ws.ReadMessage(); err != nil {
		b.Fatal(err)
	}
	const inFlight = 64
	work := make(chan struct{}, inFlight)
	var app sync.WaitGroup
	for range inFlight {
		app.Go(func() {
			for range work {
				do(slackfake.BotToken, "chat.postMessage", `{"channel":"`+slackfake.General+`","text":"hello there"}`)
				s.Say(slackfake.Say{Text: "hello there"})
			}
		})
	}
	defer func() {
		close(work)
		app.Wait()
	}()
	b.ResetTimer()
	for range inFlight {
		s.Say(slackfake.Say{Text: "hello there"})
	}
	for range b.N {
		_, raw, err := ws.ReadMessage()
		if err != nil {
			b.Fatal(err)
		}
		_, tail, _ := bytes.Cut(raw, []byte(`"envelope_id":"`))
		id, _, _ := bytes.Cut(tail, []byte(`"`))
		if err := ws.WriteMessage(websocket.TextMessage, fmt.Appendf(nil, `{"envelope_id":%q}`, id)); err != nil {
			b.Fatal(err)
		}
		work <- struct{}{}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}
