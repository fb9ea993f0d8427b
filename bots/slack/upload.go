package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"time"

	"herald/core/chat"
)

const (
	uploadMethod   = "files.getUploadURLExternal"
	completeMethod = "files.completeUploadExternal"
)

// Upload puts a file into a conversation, and returns when it stands there. After an error it may stand all the same, now or later: Slack takes the
// bytes before it says where they belong, and shows them some time after it has said that all is well, or never.
func (a *Adapter) Upload(ctx context.Context, c chat.Conversation, name string, content []byte) error {
	var to struct {
		URL string `json:"upload_url"`
		ID  string `json:"file_id"`
	}
	if err := a.call(ctx, a.opt.BotToken, uploadMethod, url.Values{"filename": {name}, "length": {strconv.Itoa(len(content))}}, &to); err != nil {
		return err
	}
	// The address is a secret of its own; the token does not go there.
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, to.URL, bytes.NewReader(content))
	if err != nil {
		return fmt.Errorf("upload a file to Slack: the address that it gave cannot be used")
	}
	req.Header.Set("Content-Type", "application/octet-stream")
	res, err := a.http.Do(req)
	if err != nil {
		return a.failed(ctx, uploadMethod, err)
	}
	_ = res.Body.Close()
	if res.StatusCode != http.StatusOK {
		return fmt.Errorf("upload a file to Slack: it answered %d", res.StatusCode)
	}
	files, err := json.Marshal([]map[string]string{{"id": to.ID, "title": name}})
	if err != nil {
		return fmt.Errorf("upload a file to Slack: %w", err)
	}
	args := url.Values{"files": {string(files)}, "channel_id": {c.Channel}}
	if c.Thread != "" {
		args.Set("thread_ts", c.Thread)
	}
	if err := a.call(ctx, a.opt.BotToken, completeMethod, args, &struct{}{}); err != nil {
		return err
	}
	return a.appears(ctx, to.ID, c.Channel)
}

// appears waits until an uploaded file stands in its channel.
func (a *Adapter) appears(ctx context.Context, file, channel string) error {
	waiting, cancel := context.WithTimeout(ctx, a.opt.ShareWait)
	defer cancel()
	for pause := 100 * time.Millisecond; sleep(waiting, pause); pause = min(2*pause, 2*time.Second) {
		var answer struct {
			File fileInfo `json:"file"`
		}
		err := a.call(waiting, a.opt.BotToken, fileMethod, url.Values{"file": {file}}, &answer)
		_, refused := errors.AsType[*chat.Refused](err)
		o, out := errors.AsType[*chat.Outage](err)
		switch {
		case err == nil && answer.File.in(channel):
			return nil
		case refused, out && o.Dead:
			return fmt.Errorf("see whether the uploaded file stands in the conversation, for Slack has taken it: %w", err)
		}
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("see whether Slack shows the file: %w", err)
	}
	return fmt.Errorf("the file is with Slack, which did not show it within %v; it may come later, so look before it is sent again", a.opt.ShareWait)
}
