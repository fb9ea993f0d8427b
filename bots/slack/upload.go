package slack

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"

	"herald/core/chat"
)

const (
	uploadMethod   = "files.getUploadURLExternal"
	completeMethod = "files.completeUploadExternal"
)

// Upload puts a file into a conversation. After an error it may stand all the same: Slack takes the bytes before it says where they belong.
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
	return a.call(ctx, a.opt.BotToken, completeMethod, args, &struct{}{})
}
