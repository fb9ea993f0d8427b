package slack

import (
	"net"
	"net/http"
	"time"
)

// sendTimeout is how long a call may take. Slack answers in well below a second; after this nobody waits for the answer any more, and a repeat
// is preceded by a look.
const sendTimeout = 10 * time.Second

// NewHTTPClient is a client for Slack's Web API: with a pool that a busy service needs (Go keeps two idle connections a host by default) and
// with limits of time.
func NewHTTPClient() *http.Client {
	return &http.Client{
		Timeout: 30 * time.Second, // calls carry their own, shorter, limit
		Transport: careful{&http.Transport{
			Proxy:                 http.ProxyFromEnvironment,
			DialContext:           (&net.Dialer{Timeout: 5 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
			TLSHandshakeTimeout:   5 * time.Second,
			ResponseHeaderTimeout: 15 * time.Second,
			MaxIdleConns:          128,
			MaxIdleConnsPerHost:   64,
			IdleConnTimeout:       90 * time.Second,
			ForceAttemptHTTP2:     true,
		}},
		// The token must not follow a redirect, and no method of the API answers with one.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// careful mends what the SDK trips over.
type careful struct{ next http.RoundTripper }

// RoundTrip gives a 429 that names no pause one of a second: without it the SDK reports no rate limit.
func (c careful) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := c.next.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusTooManyRequests && res.Header.Get("Retry-After") == "" {
		res.Header.Set("Retry-After", "1")
	}
	return res, err
}

// CloseIdleConnections lets the client close its pool.
func (c careful) CloseIdleConnections() {
	if p, ok := c.next.(interface{ CloseIdleConnections() }); ok {
		p.CloseIdleConnections()
	}
}
