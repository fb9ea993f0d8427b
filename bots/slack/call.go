package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"
)

// maxAnswer is above every answer of the API.
const maxAnswer = 16 << 20

// call makes a call whose answer is decoded here: the SDK loses a whole page for one malformed block.
func (a *Adapter) call(ctx context.Context, token, method string, args url.Values, out any) error {
	return a.exchange(ctx, token, method, args, out, nil)
}

// exchange is call that shows the header of the answer to see, unless that is nil.
func (a *Adapter) exchange(ctx context.Context, token, method string, args url.Values, out any, see func(http.Header)) error {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, a.opt.APIURL+method, strings.NewReader(args.Encode()))
	if err != nil {
		return fmt.Errorf("call %s of Slack: %w", method, err)
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := a.http.Do(req)
	if err != nil {
		return a.failed(ctx, method, err)
	}
	defer func() { _ = res.Body.Close() }()
	if see != nil {
		see(res.Header)
	}
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxAnswer))
	switch {
	case err != nil:
		return a.failed(ctx, method, err)
	case res.StatusCode == http.StatusTooManyRequests:
		seconds, _ := strconv.Atoi(res.Header.Get("Retry-After"))
		return a.failed(ctx, method, &slackgo.RateLimitedError{RetryAfter: time.Duration(seconds) * time.Second})
	case res.StatusCode != http.StatusOK:
		return a.failed(ctx, method, slackgo.StatusCodeError{Code: res.StatusCode, Status: res.Status})
	}
	var head slackgo.SlackResponse
	if err := json.NewDecoder(bytes.NewReader(raw)).Decode(&head); err != nil {
		return a.failed(ctx, method, fmt.Errorf("the answer is not JSON: %w", err))
	}
	if !head.Ok {
		return a.failed(ctx, method, slackgo.SlackErrorResponse{
			Err: firstOf(head.Error, "unknown_error"), ResponseMetadata: head.ResponseMetadata, Needed: head.Needed, Provided: head.Provided,
		})
	}
	if err := json.Unmarshal(raw, out); err != nil {
		return a.failed(ctx, method, fmt.Errorf("the answer has another form: %w", err))
	}
	return nil
}
