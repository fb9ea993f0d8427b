package slack_test

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
	"herald/core/chat"
)

// thief is another host, which counts what reaches it.
func thief(t *testing.T) (*httptest.Server, *atomic.Int64) {
	t.Helper()
	var n atomic.Int64
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		n.Add(1)
		_, _ = w.Write([]byte("a,b\n"))
	}))
	t.Cleanup(s.Close)
	return s, &n
}

func TestFetch(t *testing.T) {
	t.Parallel()
	other, reached := thief(t)
	page := "<!DOCTYPE html><p>mine</p>"
	for name, tt := range map[string]struct {
		up slackfake.Upload
		// before changes what stands after the message was said.
		before func(s *slackfake.Server, id string)
		limit  int64
		want   string
		// refused is the code and part of the reason; outage part of one's.
		refused, reason, outage string
	}{
		"a file":                {up: slackfake.Upload{Name: "a b.csv", Data: []byte("a,b\n")}, want: "a,b\n"},
		"of another workspace":  {up: slackfake.Upload{Name: "a.csv", Data: []byte("a,b\n"), Access: "check_file_info"}, want: "a,b\n"},
		"a page of the web":     {up: slackfake.Upload{Name: "a.html", Mime: "text/html", Data: []byte(page)}, want: page},
		"none wanted":           {up: slackfake.Upload{Name: "a.csv", Data: []byte("a,b\n")}, limit: -1},
		"too large":             {up: slackfake.Upload{Name: "a.csv", Data: []byte("0123456789")}, limit: 9, refused: "file_too_large", reason: "at most 0 kB"},
		"kept elsewhere":        {up: slackfake.Upload{Name: "a.gdoc", Service: "gdrive"}, refused: "file_elsewhere", reason: "gdrive"},
		"not visible":           {up: slackfake.Upload{Name: "a.csv", Access: "access_denied"}, refused: "access_denied", reason: "does not let the app see"},
		"an address elsewhere":  {up: slackfake.Upload{Name: "a.csv", Data: []byte("x"), At: other.URL + "/a.csv"}, refused: "file_address", reason: "not its own"},
		"like Slack's":          {up: slackfake.Upload{Name: "a.csv", Data: []byte("x"), At: "https://evilslack.com/a.csv"}, refused: "file_address", reason: "not its own"},
		"Slack's without TLS":   {up: slackfake.Upload{Name: "a.csv", Data: []byte("x"), At: "http://files.slack.com/a.csv"}, refused: "file_address", reason: "not its own"},
		"with a name before it": {up: slackfake.Upload{Name: "a.csv", Data: []byte("x"), At: "https://files.slack.com@evil.example/a"}, refused: "file_address", reason: "not its own"},
		"sent on elsewhere":     {up: slackfake.Upload{Name: "a.csv", Data: []byte("x"), Redirect: other.URL}, refused: "file_address", reason: "not its own"},
		"deleted": {
			up: slackfake.Upload{Name: "a.csv", Data: []byte("x")}, before: func(s *slackfake.Server, id string) { s.DeleteFile(id) },
			refused: "file_deleted", reason: "deleted",
		},
		"without the scope": {
			up:     slackfake.Upload{Name: "a.csv", Data: []byte("x")},
			before: func(s *slackfake.Server, _ string) { s.SetScopes(slackfake.BotToken, granted("files:read")) }, outage: "the scope files:read is missing",
		},
		"a page for signing in": {
			up: slackfake.Upload{Name: "a.csv", Data: []byte("x")}, refused: "file_login_page", reason: "files:read",
			before: func(s *slackfake.Server, _ string) {
				s.Inject(slackfake.Fault{Method: slackfake.DownloadMethod, Kind: slackfake.HTML})
			},
		},
		"a page for signing in in place of a page": {
			up: slackfake.Upload{Name: "a.html", Mime: "text/html", Data: []byte(page)}, refused: "file_login_page", reason: "files:read",
			before: func(s *slackfake.Server, _ string) {
				s.Inject(slackfake.Fault{Method: slackfake.DownloadMethod, Kind: slackfake.HTML})
			},
		},
		"limited": {
			up: slackfake.Upload{Name: "a.csv", Data: []byte("x")}, outage: "status 429",
			before: func(s *slackfake.Server, _ string) {
				s.Inject(slackfake.Fault{Method: slackfake.DownloadMethod, Kind: slackfake.RateLimit})
			},
		},
		"Slack in trouble": {
			up: slackfake.Upload{Name: "a.csv", Data: []byte("x")}, outage: "status 503",
			before: func(s *slackfake.Server, _ string) {
				s.Inject(slackfake.Fault{Method: slackfake.DownloadMethod, Kind: slackfake.ServerError})
			},
		},
		"broken off": {
			up: slackfake.Upload{Name: "a.csv", Data: []byte("x")}, outage: "no whole answer",
			before: func(s *slackfake.Server, _ string) {
				s.Inject(slackfake.Fault{Method: slackfake.DownloadMethod, Kind: slackfake.Reset, Times: -1})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			told := s.Say(slackfake.Say{Text: "read this", Files: []slackfake.Upload{tt.up}, Held: true})
			if tt.before != nil {
				tt.before(s, told.Files[0])
			}
			a, err := slack.New(options(t, s, &inbox{}))
			if err != nil {
				t.Fatal(err)
			}
			limit := tt.limit
			if limit == 0 {
				limit = 1000
			}
			f, data, err := a.Fetch(t.Context(), chat.Conversation{}, chat.File{ID: told.Files[0]}, func(f chat.File) int64 {
				if f.Name != tt.up.Name || f.MIME == "" || f.Size != int64(len(tt.up.Data)) {
					t.Errorf("the file is described as %+v", f)
				}
				return limit
			})
			if string(data) != tt.want {
				t.Errorf("it gives %q, want %q", data, tt.want)
			}
			no, _ := errors.AsType[*chat.Refused](err)
			out, _ := errors.AsType[*chat.Outage](err)
			switch {
			case tt.refused != "":
				if no == nil || no.Code != tt.refused || !strings.Contains(no.Reason, tt.reason) {
					t.Errorf("the error is %v", err)
				}
			case tt.outage != "":
				if out == nil || !strings.Contains(out.Reason, tt.outage) {
					t.Errorf("the error is %v", err)
				}
			case err != nil:
				t.Error(err)
			case f.ID != told.Files[0]:
				t.Errorf("it is another file: %+v", f)
			}
			if err != nil && strings.Contains(err.Error(), slackfake.BotToken) {
				t.Errorf("the error holds the token: %v", err)
			}
		})
	}
	t.Cleanup(func() {
		if n := reached.Load(); n > 0 {
			t.Errorf("another host was asked %d times", n)
		}
	})
}
