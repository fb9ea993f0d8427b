package file

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/model"
	"herald/core/session"
)

const (
	// tries is how often a platform that cannot be used is asked for a file.
	tries = 3
	// pause is the wait before the second try; the third waits twice as long.
	pause = time.Second
	// maxPause is the longest wait that a platform may demand: a person waits for the answer.
	maxPause = 5 * time.Second
)

// Reader reads attached files. Fetcher is required.
type Reader struct {
	// Fetcher gives who fetches for a workspace; false where nobody does.
	Fetcher func(chat.Workspace) (chat.Fetcher, bool)
	// PDF takes at most limit bytes of text out of a PDF file; more says that there is more. nil reads none.
	PDF func(ctx context.Context, data []byte, limit int) (text string, more bool, err error)
	// Sleep waits; it ends early with ctx. nil means that of the machine.
	Sleep func(ctx context.Context, d time.Duration)
}

// Read gives f as a model is to see it: its text, its picture, or a sentence that says why there is neither. It returns early, with such a
// sentence, when ctx ends.
func (r *Reader) Read(ctx context.Context, c chat.Conversation, f chat.File) (session.File, *model.Image) {
	out := session.File{Name: f.Name, MIME: f.MIME}
	fetcher, ok := r.Fetcher(c.Workspace)
	if !ok {
		out.Problem = "files cannot be read on this platform"
		return out, nil
	}
	var k kind
	now, data, err := r.fetch(ctx, fetcher, c, f, func(f chat.File) int64 {
		k = kindOf(f)
		return k.limit()
	})
	out.Name, out.MIME = label(now.Name), label(now.MIME)
	switch {
	case err != nil:
		out.Problem = reason(err)
		return out, nil
	case k == picture:
		var image *model.Image
		if image, out.Problem = showable(data); image != nil {
			out.MIME = image.MIME
		}
		return out, image
	case k == document:
		out.Text, out.Problem = r.document(ctx, data)
	case k == text || k == unsure:
		if out.Text, ok = decodeText(data); !ok {
			out.Text, out.Problem = "", "it is no text"
		}
	default:
		out.Problem = "files of this kind are not read; text, code, CSV, JSON, PDF and pictures are"
	}
	return out, nil
}

// fetch asks again where the platform cannot be used for a moment.
func (r *Reader) fetch(ctx context.Context, from chat.Fetcher, c chat.Conversation, f chat.File, want func(chat.File) int64) (now chat.File, data []byte, err error) {
	for n := 1; ; n++ {
		now, data, err = from.Fetch(ctx, c, f, want)
		o, later := errors.AsType[*chat.Outage](err)
		if err == nil || !later || o.Dead || n == tries || o.RetryAfter > maxPause || ctx.Err() != nil {
			return now, data, err
		}
		r.sleep(ctx, max(pause<<(n-1), o.RetryAfter))
	}
}

func (r *Reader) sleep(ctx context.Context, d time.Duration) {
	if r.Sleep != nil {
		r.Sleep(ctx, d)
		return
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
	case <-ctx.Done():
	}
}

// document is the text of a PDF file, or the reason why there is none.
func (r *Reader) document(ctx context.Context, data []byte) (text, problem string) {
	if r.PDF == nil {
		return "", "PDF files are not read here"
	}
	text, more, err := r.PDF(ctx, data, MaxText)
	switch {
	case err != nil && ctx.Err() != nil:
		return "", broken
	case err != nil:
		return "", err.Error()
	case strings.TrimSpace(text) == "":
		return "", "it holds no text; it may be a scan, which has to be attached as a picture"
	case more:
		return text + "\n[The file goes on; only its beginning was read.]", ""
	}
	return text, ""
}

// broken is the reason of a file that nobody waits for any more.
const broken = "reading it was broken off"

// reason says to a person why a file could not be had.
func reason(err error) string {
	if no, ok := errors.AsType[*chat.Refused](err); ok {
		return no.Reason
	}
	if out, ok := errors.AsType[*chat.Outage](err); ok {
		if out.Dead {
			return out.Reason
		}
		return fmt.Sprintf("it could not be loaded now (%s); send it again in a while", out.Reason)
	}
	return broken
}

// label is a name on one line, of a sane length.
func label(s string) string {
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\uFFFD")), " ")
	if r := []rune(s); len(r) > 200 {
		s = string(r[:200]) + "…"
	}
	return s
}
