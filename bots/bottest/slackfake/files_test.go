package slackfake_test

import (
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"herald/bots/bottest/slackfake"
)

// send puts bytes to an upload URL.
func send(t *testing.T, to, body string) int {
	t.Helper()
	res, err := http.Post(to, "application/octet-stream", strings.NewReader(body)) //nolint:noctx // loopback
	if err != nil {
		t.Fatal(err)
	}
	_ = res.Body.Close()
	return res.StatusCode
}

func TestUpload(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{ShareDelay: time.Hour})
	root := s.Say(slackfake.Say{Text: "a file, please"}).TS
	refused(t, s, "invalid_arguments", "files.getUploadURLExternal", "filename", "a.csv", "length", "0")
	out := call(t, s, "files.getUploadURLExternal", "filename", "a.csv", "length", "4")
	id, to := str(out, "file_id"), str(out, "upload_url")
	files := `[{"id":"` + id + `","title":"A"}]`
	refused(t, s, "file_not_found", "files.completeUploadExternal", "files", files, "channel_id", slackfake.General)
	if status := send(t, to, "too long"); status != http.StatusBadRequest {
		t.Errorf("an upload of another size: %d", status)
	}
	if status := send(t, to, "a,b\n"); status != http.StatusOK {
		t.Fatalf("the upload: %d", status)
	}
	refused(t, s, "thread_not_found", "files.completeUploadExternal", "files", files, "channel_id", slackfake.General, "thread_ts", "1.000001")
	call(t, s, "files.completeUploadExternal", "files", files, "channel_id", slackfake.General, "thread_ts", root, "initial_comment", "here")
	shares := func() int {
		public, _ := dig(call(t, s, "files.info", "file", id), "file", "shares", "public").(object)
		return len(public)
	}
	if n := len(s.Messages(slackfake.General, root)); n != 1 || shares() != 0 {
		t.Errorf("at once %d messages stand and %d shares", n, shares())
	}
	s.Advance(time.Hour)
	wait(t, s, "the share comes", func(v slackfake.View) bool {
		m := v.Messages(slackfake.General, root)
		return len(m) == 2 && m[1].Text == "here" && m[1].Subtype == "file_share" && string(v.File(m[1].Files[0])) == "a,b\n"
	})
	if shares() != 1 {
		t.Errorf("%d shares", shares())
	}
	refused(t, s, "file_not_found", "files.completeUploadExternal", "files", files)
}

func TestLostShare(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{ShareDelay: time.Nanosecond})
	s.LoseShares(true)
	out := call(t, s, "files.getUploadURLExternal", "filename", "a.csv", "length", "1")
	send(t, str(out, "upload_url"), "x")
	call(t, s, "files.completeUploadExternal", "files", `[{"id":"`+str(out, "file_id")+`"}]`, "channel_id", slackfake.General)
	s.Advance(time.Hour)
	if public, _ := dig(call(t, s, "files.info", "file", str(out, "file_id")), "file", "shares", "public").(object); len(public) != 0 {
		t.Errorf("the lost share is there: %v", public)
	}
}

func TestFilesOfPeople(t *testing.T) {
	t.Parallel()
	s := start(t, slackfake.Options{})
	k := open(t, s)
	s.Say(slackfake.Say{Text: "read this", Files: []slackfake.Upload{{Name: "a.md", Data: []byte("# A")}, {Name: "far.txt", Access: "check_file_info", Data: []byte("far")}}})
	e := event(k.take())
	files, _ := e["files"].([]any)
	if str(e, "subtype") != "file_share" || len(files) != 2 || str(files[0], "mimetype") != "text/markdown" || dig(files[0], "size") != float64(3) || str(files[1], "url_private") != "" {
		t.Fatalf("the message arrives as %v", e)
	}
	if f := event(k.take()); str(f, "type") != "file_shared" {
		t.Errorf("then came %v", f)
	}
	if out := call(t, s, "files.info", "file", str(files[1], "id")); str(out, "file", "url_private") == "" {
		t.Errorf("files.info says %v", out)
	}
	get := func(token string) (string, string) {
		req, err := http.NewRequestWithContext(within(t), http.MethodGet, str(files[0], "url_private"), nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = res.Body.Close() }()
		raw, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.Header.Get("Content-Type"), string(raw)
	}
	if kind, body := get(slackfake.BotToken); kind != "text/markdown" || body != "# A" {
		t.Errorf("the file is %s %q", kind, body)
	}
	s.SetScopes(slackfake.BotToken, []string{"chat:write"})
	if kind, body := get(slackfake.BotToken); !strings.HasPrefix(kind, "text/html") || strings.Contains(body, "# A") {
		t.Errorf("without the scope it is %s %q", kind, body)
	}
}
