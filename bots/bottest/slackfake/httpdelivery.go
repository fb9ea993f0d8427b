package slackfake

import (
	"bytes"
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"time"
)

// Sign is Slack's signature of a request's body: the value of X-Slack-Signature beside the X-Slack-Request-Timestamp given.
func Sign(secret, timestamp string, body []byte) string {
	mac := hmac.New(sha256.New, []byte(secret))
	_, _ = fmt.Fprintf(mac, "v0:%s:", timestamp)
	mac.Write(body)
	return "v0=" + hex.EncodeToString(mac.Sum(nil))
}

// post makes an attempt over HTTP. s.mu is held; the request itself goes on its own.
func (s *Server) post(d *delivery) {
	body, kind := []byte(d.payload), "application/json"
	if d.form != nil {
		body, kind = []byte(d.form.Encode()), "application/x-www-form-urlencoded"
	}
	target, secret, retry, reason := d.target(), d.app.SigningSecret, d.attempt-1, d.reason
	s.note(d.record(Delivered))
	if s.ctx.Err() != nil {
		return
	}
	s.wg.Go(func() {
		headers := map[string]string{"Content-Type": kind}
		if retry > 0 {
			headers["X-Slack-Retry-Num"], headers["X-Slack-Retry-Reason"] = strconv.Itoa(retry), reason
		}
		status, header, answer, err := s.request(target, secret, body, headers)
		s.mu.Lock()
		defer s.mu.Unlock()
		switch {
		case s.ctx.Err() != nil:
		case err == nil && status >= 200 && status < 300:
			s.ack(d, "", answer)
		case err == nil:
			if header.Get("X-Slack-No-Retry") == "1" {
				d.spent = len(s.opt.RetryAfter) + 1
			}
			s.failed(d, "http_error")
		case errors.Is(err, context.DeadlineExceeded):
			s.failed(d, "http_timeout")
		default:
			s.failed(d, "connection_failed")
		}
	})
}

// request sends a signed body and reads the answer, at most until the acknowledgement is due.
func (s *Server) request(target, secret string, body []byte, headers map[string]string) (int, http.Header, json.RawMessage, error) {
	ctx, cancel := context.WithTimeout(s.ctx, s.opt.AckTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, target, bytes.NewReader(body))
	if err != nil {
		return 0, nil, nil, err
	}
	stamp := strconv.FormatInt(time.Now().Unix(), 10)
	req.Header.Set("User-Agent", "Slackbot 1.0 (fake)")
	req.Header.Set("X-Slack-Request-Timestamp", stamp)
	req.Header.Set("X-Slack-Signature", Sign(secret, stamp, body))
	for k, v := range headers {
		req.Header.Set(k, v)
	}
	res, err := s.client.Do(req)
	if err != nil {
		return 0, nil, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	raw, err := io.ReadAll(io.LimitReader(res.Body, 1<<20))
	if err != nil {
		return 0, nil, nil, err
	}
	raw = bytes.TrimSpace(raw)
	if len(raw) > 0 && !json.Valid(raw) { // plain text answers a slash command
		raw = mustEncode(map[string]string{"text": string(raw)})
	}
	if string(raw) == "{}" || len(raw) > 0 && raw[0] != '{' {
		raw = nil
	}
	return res.StatusCode, res.Header, raw, nil
}

// Challenge does what Slack does when a request URL is entered: it sends a signed url_verification and checks the answer.
func (s *Server) Challenge(app string) error {
	s.mu.Lock()
	a := s.apps[app]
	s.mu.Unlock()
	if a == nil || a.RequestURL == "" {
		return fmt.Errorf("challenge the request URL of app %q on the fake Slack: it has none", app)
	}
	body := []byte(`{"token":"legacy","challenge":"3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P","type":"url_verification"}`)
	status, _, answer, err := s.request(a.RequestURL, a.SigningSecret, body, map[string]string{"Content-Type": "application/json"})
	if err != nil {
		return fmt.Errorf("challenge the request URL %s: %w", a.RequestURL, err)
	}
	var got struct{ Challenge, Text string }
	if len(answer) > 0 {
		if err := json.Unmarshal(answer, &got); err != nil {
			return fmt.Errorf("challenge the request URL %s: read the answer: %w", a.RequestURL, err)
		}
	}
	if want := "3eZbrw1aBm2rZgRNFdxV2595E9CY3gmdALWMmHkvFXO7tYXAYM8P"; status != http.StatusOK || got.Challenge != want && got.Text != want {
		return fmt.Errorf("challenge the request URL %s: status %d, answer %q; it must give the challenge back", a.RequestURL, status, answer)
	}
	return nil
}
