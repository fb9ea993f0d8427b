package slackfake_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/gorilla/websocket"

	"herald/bots/bottest/slackfake"
)

const patience = 20 * time.Second

func start(t *testing.T, o slackfake.Options) *slackfake.Server {
	t.Helper()
	s, err := slackfake.Start(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	t.Cleanup(cancel)
	return ctx
}

func wait(t *testing.T, s *slackfake.Server, what string, cond func(slackfake.View) bool) {
	t.Helper()
	if err := s.Wait(within(t), what, cond); err != nil {
		t.Fatal(err)
	}
}

type object = map[string]any

// dig follows keys into decoded JSON.
func dig(v any, keys ...string) any {
	for _, k := range keys {
		o, ok := v.(object)
		if !ok {
			return nil
		}
		v = o[k]
	}
	return v
}

func str(v any, keys ...string) string {
	text, _ := dig(v, keys...).(string)
	return text
}

// post calls a method with a form and gives the answer with its status.
func post(t *testing.T, s *slackfake.Server, token, method string, fields ...string) (*http.Response, []byte, error) {
	t.Helper()
	form := url.Values{"token": {token}}
	for i := 0; i < len(fields); i += 2 {
		form.Set(fields[i], fields[i+1])
	}
	req, err := http.NewRequestWithContext(within(t), http.MethodPost, s.APIURL()+method, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(res.Body)
	return res, raw, err
}

// try calls a method as the standing world's bot and gives its answer, refused or not.
func try(t *testing.T, s *slackfake.Server, method string, fields ...string) object {
	t.Helper()
	_, raw, err := post(t, s, slackfake.BotToken, method, fields...)
	if err != nil {
		t.Fatalf("%s: %v", method, err)
	}
	var out object
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatalf("%s: %v in %s", method, err, raw)
	}
	return out
}

// call is try for a call that must go well.
func call(t *testing.T, s *slackfake.Server, method string, fields ...string) object {
	t.Helper()
	out := try(t, s, method, fields...)
	if out["ok"] != true {
		t.Fatalf("%s %q was refused: %v", method, fields, out)
	}
	return out
}

// refused checks the error of a call.
func refused(t *testing.T, s *slackfake.Server, want, method string, fields ...string) object {
	t.Helper()
	out := try(t, s, method, fields...)
	if out["ok"] != false || out["error"] != want {
		t.Errorf("%s %q: answered %v, want the error %s", method, fields, out, want)
	}
	return out
}

// socket is a client of Socket Mode that reads frames and acknowledges when told.
type socket struct {
	t  *testing.T
	ws *websocket.Conn
}

func open(t *testing.T, s *slackfake.Server) *socket {
	t.Helper()
	k, hello := dial(t, s)
	if hello["type"] != "hello" || str(hello, "connection_info", "app_id") != slackfake.AppID {
		t.Fatalf("greeted with %v", hello)
	}
	return k
}

func dial(t *testing.T, s *slackfake.Server) (*socket, object) {
	t.Helper()
	k, err := dialURL(t, socketURL(t, s))
	if err != nil {
		t.Fatal(err)
	}
	return k, k.next()
}

// socketURL asks for the URL of one socket.
func socketURL(t *testing.T, s *slackfake.Server) string {
	t.Helper()
	_, raw, err := post(t, s, slackfake.AppToken, "apps.connections.open")
	if err != nil {
		t.Fatal(err)
	}
	var out struct{ URL string }
	if err := json.Unmarshal(raw, &out); err != nil {
		t.Fatal(err)
	}
	return out.URL
}

func dialURL(t *testing.T, to string) (*socket, error) {
	t.Helper()
	ws, res, err := websocket.DefaultDialer.DialContext(within(t), to, nil)
	if res != nil {
		_ = res.Body.Close()
	}
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() { _ = ws.Close() })
	return &socket{t, ws}, nil
}

// next is the next frame.
func (k *socket) next() object {
	k.t.Helper()
	f, err := k.read()
	if err != nil {
		k.t.Fatalf("read a frame: %v", err)
	}
	return f
}

func (k *socket) read() (object, error) {
	_ = k.ws.SetReadDeadline(time.Now().Add(patience))
	_, raw, err := k.ws.ReadMessage()
	if err != nil {
		return nil, err
	}
	var f object
	d := json.NewDecoder(bytes.NewReader(raw))
	return f, d.Decode(&f)
}

// ack acknowledges a frame, with a payload or nil.
func (k *socket) ack(f object, payload any) {
	k.t.Helper()
	out := object{"envelope_id": f["envelope_id"]}
	if payload != nil {
		out["payload"] = payload
	}
	if err := k.ws.WriteJSON(out); err != nil {
		k.t.Fatalf("acknowledge: %v", err)
	}
}

// take reads a frame and acknowledges it.
func (k *socket) take() object {
	k.t.Helper()
	f := k.next()
	k.ack(f, nil)
	return f
}

func event(f object) object {
	e, _ := dig(f, "payload", "event").(object)
	return e
}
