package openai

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"
)

const (
	maxErrorBody = 64 << 10
	drainBytes   = 64 << 10
	drainTime    = 50 * time.Millisecond
)

// exchange is one request and its answer. It is the HTTP client that go-openai is given for this call.
type exchange struct {
	d     *driver
	ctx   context.Context
	body  []byte
	watch *watch

	resp   *http.Response
	norm   *normaliser
	failed *failure
}

func (d *driver) exchange(ctx context.Context, body []byte) *exchange {
	ctx, cancel := context.WithCancelCause(ctx)
	return &exchange{d: d, ctx: ctx, body: body, watch: newWatch(cancel, d.o.FirstToken, d.o.BetweenTokens)}
}

// Do implements go-openai's HTTPDoer. Every answer that is no stream of events comes back as an error.
func (x *exchange) Do(req *http.Request) (*http.Response, error) {
	req.Body = io.NopCloser(bytes.NewReader(x.body))
	req.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(x.body)), nil }
	req.ContentLength = int64(len(x.body))
	req.Header.Set("User-Agent", "herald")
	req.Header.Del("Connection") // HTTP/2 knows none

	x.watch.arm()
	resp, err := x.d.client.Do(req)
	x.watch.disarm()
	if err != nil {
		return nil, err
	}
	x.resp = resp
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		body, _ := io.ReadAll(io.LimitReader(watched{resp.Body, x.watch}, maxErrorBody)) // what came is all there is to tell
		x.failed = failureOf(resp.StatusCode, resp.Header, body, x.d.o.Now())
		return nil, x.failed
	}
	limited := &bounded{r: watched{resp.Body, x.watch}, left: x.d.o.MaxStreamBytes, limit: x.d.o.MaxStreamBytes}
	x.norm = newNormaliser(limited, resp.Header.Get("Content-Type"), x.watch.data)
	resp.Body = struct {
		io.Reader
		io.Closer
	}{x.norm, resp.Body}
	return resp, nil
}

// done reports whether the stream was ended by the server in the protocol's way.
func (x *exchange) done() bool { return x.norm != nil && x.norm.done }

// failure is what the server said went wrong, or nil.
func (x *exchange) failure() *failure {
	if x.failed == nil && x.norm != nil {
		return x.norm.failed
	}
	return x.failed
}

// close ends the exchange. After a complete stream it reads what little is left, so that the connection can be used again.
func (x *exchange) close() {
	if x.resp != nil {
		if x.done() && x.ctx.Err() == nil {
			x.watch.drain(drainTime)
			_, _ = io.CopyN(io.Discard, x.norm.upstream(), drainBytes) // any outcome will do
		}
		_ = x.resp.Body.Close() // the answer is read or given up; there is nobody to tell
	}
	x.watch.stop()
}

// bounded fails once more than the limit is read, so that an endless stream ends in a clear error.
type bounded struct {
	r           io.Reader
	left, limit int
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, tooLong(fmt.Sprintf("the stream is longer than %d MB", b.limit>>20))
	}
	n, err := b.r.Read(p[:min(len(p), b.left)])
	b.left -= n
	return n, err
}
