package slack

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"
	"time"

	"herald/core/chat"
)

const (
	fileMethod = "files.info"
	// downloadTime is how long the bytes of a file may take; a call of the API has its own, shorter, limit.
	downloadTime = 25 * time.Second
	// maxHops is how often Slack may send on to another of its own addresses.
	maxHops = 3
)

// fileInfo is a file as files.info shows it.
type fileInfo struct {
	ID        string `json:"id"`
	Name      string `json:"name"`
	MIME      string `json:"mimetype"`
	Size      int64  `json:"size"`
	Mode      string `json:"mode"`
	Access    string `json:"file_access"`
	External  bool   `json:"is_external"`
	Service   string `json:"external_type"`
	URL       string `json:"url_private"`
	DirectURL string `json:"url_private_download"`
	// Shares are the messages that hold it, by "public" and "private" and by channel.
	Shares map[string]map[string][]struct{} `json:"shares"`
}

// in reports whether a message of a channel holds the file.
func (f *fileInfo) in(channel string) bool {
	return len(f.Shares["public"][channel])+len(f.Shares["private"][channel]) > 0
}

// The codes of refusals that Slack has no word for.
const (
	codeElsewhere = "file_elsewhere"
	codeLogin     = "file_login_page"
	codeTooLarge  = "file_too_large"
	codeGone      = "file_deleted"
	codeAddress   = "file_address"
)

func refuseFile(code, reason string) error { return &chat.Refused{Code: code, Reason: reason} }

// Fetch implements [chat.Fetcher]. What the event said of a file can be little or old, so it is always asked for anew.
func (a *Adapter) Fetch(ctx context.Context, _ chat.Conversation, f chat.File, want func(chat.File) int64) (chat.File, []byte, error) {
	var answer struct {
		File fileInfo `json:"file"`
	}
	asking, cancel := context.WithTimeout(ctx, sendTimeout)
	err := a.call(asking, a.opt.BotToken, fileMethod, url.Values{"file": {f.ID}}, &answer)
	cancel()
	if err != nil {
		return f, nil, err
	}
	info := answer.File
	f.Name, f.MIME, f.Size = firstOf(info.Name, f.Name), firstOf(info.MIME, f.MIME), max(info.Size, 0)
	switch {
	case info.Mode == "tombstone":
		return f, nil, refuseFile(codeGone, "the file was deleted")
	case info.Mode == "hidden_by_limit":
		return f, nil, refuseFile(codeGone, "the workspace's plan hides files of this age")
	case info.External || info.Mode == "external":
		return f, nil, refuseFile(codeElsewhere, "the file lies at another service ("+firstOf(info.Service, "unknown")+"), which Slack only links to; upload it to Slack, or paste its text")
	case info.Access == "access_denied" || info.Access == "file_not_found":
		return f, nil, refuseFile(info.Access, "Slack does not let the app see the file")
	}
	limit := want(f)
	if limit <= 0 {
		return f, nil, nil
	}
	if f.Size > limit {
		return f, nil, tooLarge(f.Size, limit)
	}
	at := firstOf(info.DirectURL, info.URL)
	if at == "" {
		return f, nil, refuseFile(codeAddress, "Slack gives no address for the file")
	}
	data, err := a.download(ctx, at, f, limit)
	return f, data, err
}

func tooLarge(size, limit int64) error {
	return refuseFile(codeTooLarge, fmt.Sprintf("the file has %d kB, and at most %d kB are read", (size+999)/1000, limit/1000))
}

// download loads the bytes of a file. The token goes to Slack's own hosts and to no other, whatever sends there.
func (a *Adapter) download(ctx context.Context, at string, f chat.File, limit int64) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, downloadTime)
	defer cancel()
	client := *a.http
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	for range maxHops {
		u, err := url.Parse(at)
		if err != nil || !a.own(u) {
			return nil, refuseFile(codeAddress, "Slack sends to an address that is not its own for the file; the app's token is not sent there")
		}
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
		if err != nil {
			return nil, refuseFile(codeAddress, "the address that Slack gives for the file cannot be read")
		}
		req.Header.Set("Authorization", "Bearer "+a.opt.BotToken)
		res, err := client.Do(req)
		if err != nil {
			return nil, a.failed(ctx, fileMethod, err)
		}
		next, data, err := a.receive(ctx, res, f, limit)
		if next == "" || err != nil {
			return data, err
		}
		to, err := u.Parse(next)
		if err != nil {
			return nil, refuseFile(codeAddress, "Slack sends to an address that cannot be read for the file")
		}
		at = to.String()
	}
	return nil, refuseFile(codeAddress, fmt.Sprintf("Slack sends on more than %d times for the file", maxHops))
}

// receive reads the answer to a download; next is where Slack sends on to.
func (a *Adapter) receive(ctx context.Context, res *http.Response, f chat.File, limit int64) (next string, data []byte, err error) {
	defer func() { _ = res.Body.Close() }()
	switch code := res.StatusCode; {
	case code >= 300 && code < 400 && res.Header.Get("Location") != "":
		return res.Header.Get("Location"), nil, nil
	case code == http.StatusNotFound || code == http.StatusGone:
		return "", nil, refuseFile(codeGone, "the file is gone")
	case code == http.StatusTooManyRequests || code >= 500:
		return "", nil, &chat.Outage{Reason: fmt.Sprintf("load a file from Slack: status %d", code), NotSent: true}
	case code != http.StatusOK:
		return "", nil, refuseFile(codeLogin, fmt.Sprintf("Slack answers with status %d for the file; the scope files:read may be missing", code))
	}
	data, err = io.ReadAll(io.LimitReader(res.Body, limit+1))
	if err != nil {
		if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.DeadlineExceeded) {
			return "", nil, cause
		}
		return "", nil, &chat.Outage{Reason: "load a file from Slack: it broke off", NotSent: true, Err: hide(err)}
	}
	if int64(len(data)) > limit {
		return "", nil, tooLarge(max(f.Size, limit+1), limit)
	}
	// Who may not see a file gets the page for signing in, with status 200.
	if kind, _, _ := mime.ParseMediaType(res.Header.Get("Content-Type")); kind == "text/html" && (f.MIME != "text/html" || f.Size > 0 && int64(len(data)) != f.Size) {
		return "", nil, refuseFile(codeLogin, "Slack gives a page for signing in instead of the file; the scope files:read is missing, or the app may not see the file")
	}
	return "", data, nil
}

// own reports whether an address is Slack's: of the Web API's own host, or of Slack over TLS.
func (a *Adapter) own(u *url.URL) bool {
	if u.User != nil {
		return false
	}
	if api, err := url.Parse(a.opt.APIURL); err == nil && u.Host == api.Host && u.Scheme == api.Scheme {
		return true
	}
	host := "." + strings.ToLower(u.Host)
	return u.Scheme == "https" && (strings.HasSuffix(host, ".slack.com") || strings.HasSuffix(host, ".slack-gov.com"))
}
