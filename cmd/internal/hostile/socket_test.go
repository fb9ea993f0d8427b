package hostile_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"herald/bots/console/proto"
	"herald/core/model/modeltest"
)

// request is bytes for a socket and what may come back.
type request struct {
	name, bytes string
	// want is the status that is answered; 0 where the connection may end without one.
	want int
}

func post(path, body string) string {
	return fmt.Sprintf("POST %s HTTP/1.1\r\nHost: h\r\nContent-Type: application/json\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s", path, len(body), body)
}

func get(path string) string {
	return "GET " + path + " HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n"
}

// garbage is the same on every socket.
func garbage() []request {
	noise := make([]byte, 64<<10)
	source := rand.NewChaCha8([32]byte{7})
	_, _ = source.Read(noise)
	return []request{
		{"nothing", "", 0},
		{"noise", string(noise), 0},
		{"TLS", "\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 0},
		{"one line", "hello\r\n\r\n", 400},
		{"half a request line", "GET /hea", 0},
		{"half of the headers", "GET /healthz HTTP/1.1\r\nHost: h\r\nX-A", 0},
		{"headers without end", "GET /healthz HTTP/1.1\r\nHost: h\r\n" + strings.Repeat("X-Filler: "+strings.Repeat("x", 1000)+"\r\n", 2000) + "\r\n", 431},
		{"a header with a zero", "GET /healthz HTTP/1.1\r\nHost: h\r\nX: \x00\r\n\r\n", 400},
		{"a path without end", get("/" + strings.Repeat("a", 2<<20)), 431},
		{"a path that climbs", get("/../../../../etc/passwd"), 0},
		{"an unknown path", get("/v1/nothing"), 404},
		{"an odd method", "FROB /healthz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 0},
		{"a negative length", "POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: -1\r\n\r\n", 400},
		{"two lengths", "POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nxx", 400},
		{"a smuggled request", "POST /healthz HTTP/1.1\r\nHost: h\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffff\r\n", 0},
		{"an old protocol", "GET /healthz\r\n", 0},
	}
}

// play sends bytes and reads the status of what is answered, 0 for nothing. A connection that is answered too early for all of the bytes
// to go out is no failure.
func play(t *testing.T, network, address string, r request) int {
	t.Helper()
	conn, err := net.Dial(network, address)
	if err != nil {
		t.Fatalf("%s: %v", r.name, err)
	}
	defer conn.Close()
	_ = conn.SetDeadline(time.Now().Add(patience))
	go func() { _, _ = io.Copy(conn, strings.NewReader(r.bytes)) }()
	if r.want == 0 {
		_ = conn.SetReadDeadline(time.Now().Add(200 * time.Millisecond)) // nothing may come, and that is fine
	}
	res, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		return 0
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, res.Body)
	return res.StatusCode
}

// Whatever is written to the service's sockets, they go on serving those who know how to ask.
func TestHostileRequests(t *testing.T) {
	t.Parallel()
	fake := &modeltest.Server{}
	h := newHome(t, "HERALD_PROVIDERS__P__DEFAULT_MODEL=m", "HERALD_PROVIDERS__P__BASE_URL="+startModel(t, fake))
	svc := h.start("run")
	socket := filepath.Join(h.dir, "data", "herald.sock")
	line := proto.LinesPath(proto.DefaultPlace)
	for _, target := range []struct {
		network, address string
		more             []request
	}{
		{"tcp", svc.address(), []request{
			{"a post to metrics", post("/metrics", "x"), 405},
			{"a deletion", "DELETE /readyz HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 405},
			{"a head", "HEAD /metrics HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n", 200},
			{"ten megabytes", post("/healthz", strings.Repeat("x", 10<<20)), 405},
			{"the console, which belongs to the socket", post(line, `{"key":"k","text":"hello"}`), 404},
			{"the doctor, which belongs to the socket", get("/v1/doctor"), 404},
			{"an odd wish", "GET /metrics HTTP/1.1\r\nHost: h\r\nAccept: */\x7f;q=9\r\nAccept-Encoding: frob\r\nConnection: close\r\n\r\n", 0},
			{"the profile of the process", get("/debug/pprof/"), 404},
		}},
		{"unix", socket, []request{
			{"no JSON", post(line, "hello"), 400},
			{"half of the JSON", post(line, `{"key":"k","te`), 400},
			{"a body that is shorter than said", strings.Replace(post(line, `{"key":"k","text":"x`), "Content-Length: 20", "Content-Length: 99", 1), 0},
			{"other types", post(line, `{"key":7,"text":["x"]}`), 400},
			{"null", post(line, `null`), 400},
			{"no key", post(line, `{"text":"x"}`), 400},
			{"a key without end", post(line, `{"key":"`+strings.Repeat("k", 1<<16)+`","text":"x"}`), 400},
			{"no text", post(line, `{"key":"k","text":" \n "}`), 400},
			{"a text that is too long", post(line, `{"key":"k","text":"`+strings.Repeat("x", proto.MaxText+1)+`"}`), 413},
			{"ten megabytes", post(line, `{"key":"k","text":"`+strings.Repeat("x", 10<<20)+`"}`), 413},
			{"deep JSON", post(line, strings.Repeat(`{"a":`, 100_000)), 400},
			{"a place that climbs", post("/v1/console/..%2f..%2fetc/lines", `{"key":"k","text":"x"}`), 400},
			{"a place with a zero", post("/v1/console/a%00b/lines", `{"key":"k","text":"x"}`), 400},
			{"a place without end", post("/v1/console/"+strings.Repeat("p", 5000)+"/lines", `{"key":"k","text":"x"}`), 400},
			{"a click on nothing", post(proto.ClicksPath(proto.DefaultPlace), `{"key":"c1","action":"`+strings.Repeat("a", 1000)+`"}`), 400},
			{"a click without an action", post(proto.ClicksPath(proto.DefaultPlace), `{"key":"c2"}`), 400},
			{"a stream from nowhere", get("/v1/console/terminal/stream?after=-1"), 400},
			{"a stream from the future", get("/v1/console/terminal/stream?after=18446744073709551616"), 400},
			{"history without end", get("/v1/console/terminal/history?limit=99999999999999999999"), 400},
			{"facts about nothing", get("/v1/console/terminal/facts?message=" + strings.Repeat("9", 3000)), 404},
			{"an odd route", get("/v1/console//lines"), 0},
		}},
	} {
		for _, r := range slices.Concat(garbage(), target.more) {
			if got := play(t, target.network, target.address, r); r.want != 0 && got != r.want {
				t.Errorf("%s, %s: status %d, want %d", target.network, r.name, got, r.want)
			}
		}
	}

	// Two hundred who begin and say no more do not keep out who has something to say, nor the end of the service.
	var idle []net.Conn
	for i := range 200 {
		conn, err := net.Dial("unix", socket)
		if err != nil {
			t.Fatal(err)
		}
		idle = append(idle, conn)
		fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: h\r\nContent-Length: 100\r\n\r\n%s", line, `{"key":"half`[:i%12])
	}
	if r := h.do("", "chat", "--once", "still there?"); r.code != 0 || !strings.HasPrefix(r.out, "You said: still there?") {
		t.Errorf("code %d: %q %q", r.code, r.out, r.err)
	}
	if body := fetch(t, svc, "/readyz"); !strings.Contains(body, "store: ok") {
		t.Errorf("readyz: %s", body)
	}
	if log := svc.log.String(); strings.Contains(log, "panic") {
		t.Errorf("something panicked:\n%.3000s", log)
	}
	began := time.Now()
	svc.stop()
	if d := time.Since(began); d > 10*time.Second {
		t.Errorf("the stop took %s", d)
	}
	for _, conn := range idle {
		_ = conn.Close()
	}
	// None of it was taken for a message.
	if n := fake.Calls(); n != 1 {
		t.Errorf("the model was asked %d times, want once", n)
	}
	data, err := os.ReadFile(filepath.Join(h.dir, "data", "console", "terminal.jsonl"))
	if err != nil || bytes.Contains(data, []byte(strings.Repeat("x", 1000))) || !bytes.Contains(data, []byte("still there?")) {
		t.Errorf("a refused line stands in the transcript, or it cannot be read: %v", err)
	}
}
