package turn

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/model"
	"herald/core/session"
)

const (
	// filesTime is how long all files of one look may take to be read.
	filesTime = time.Minute
	// filesAtOnce is how many are read at the same time.
	filesAtOnce = 4
	// maxFiles is how much of the files of one look is taken in, in bytes of the log: an entry of the store holds not much more.
	maxFiles = 3 << 20
)

// Files reads what people attach. It is safe for concurrent use.
type Files interface {
	// Read gives f as a model is to see it, with a reason where that is nothing. It ends early with ctx and never fails.
	Read(ctx context.Context, c chat.Conversation, f chat.File) (session.File, *model.Image)
}

// attached is what was read of the files of a message.
type attached struct {
	files  []session.File
	images []model.Image
}

// readFiles reads the files of the messages that the coming look can take in: before it, as nothing may be waited for between a look and its
// commit. What was read goes into the log with its message, so that only a crash before that commit reads it again.
func (r *run) readFiles(ctx context.Context) {
	if slices.ContainsFunc(r.state.Waits, func(w session.Wait) bool { return w.Kind == session.Approval }) {
		return // the messages stay where they are
	}
	left := maxFiles
	for _, m := range r.inbox[:min(len(r.inbox), maxTaken)] {
		if _, done := r.attached[m.MessageID]; done || len(m.Files) == 0 {
			continue
		}
		if r.attached == nil {
			r.attached = make(map[string]attached)
		}
		var a attached
		a, left = r.readAll(ctx, m, left)
		r.attached[m.MessageID] = a
		r.fresh = false
	}
}

// readAll reads the files of a message as far as left bytes hold them, and gives what is left then.
func (r *run) readAll(ctx context.Context, m conversation.Message, left int) (attached, int) {
	ctx, cancel := context.WithTimeout(r.workingOr(ctx), filesTime)
	defer cancel()
	files, images := make([]session.File, len(m.Files)), make([]*model.Image, len(m.Files))
	read := func(i int) {
		if r.Files == nil {
			files[i] = session.File{Name: m.Files[i].Name, MIME: m.Files[i].MIME, Problem: textNoFiles}
			return
		}
		files[i], images[i] = r.Files.Read(ctx, r.conv, m.Files[i])
	}
	if r.Spawn == nil {
		for i := range m.Files {
			read(i)
		}
	} else {
		var all sync.WaitGroup
		places := make(chan struct{}, filesAtOnce)
		for i := range m.Files {
			places <- struct{}{}
			all.Go(func() {
				defer func() { <-places }()
				read(i)
			})
		}
		all.Wait()
	}
	var a attached
	for i, f := range files {
		size := encodedSize(f, images[i])
		if size > left {
			f.Text, f.Problem, images[i] = "", textManyFiles, nil
		} else {
			left -= size
		}
		a.files = append(a.files, f)
		if images[i] != nil {
			a.images = append(a.images, *images[i])
		}
	}
	return a, left
}

// inReply is what the model sees of files that came with an answer to a question, which is text alone.
func (a attached) inReply() string {
	files := slices.Clone(a.files)
	for i := range files {
		if f := &files[i]; f.Text == "" && f.Problem == "" && len(a.images) > 0 && strings.HasPrefix(f.MIME, "image/") {
			f.Problem = textPictureReply
		}
	}
	return session.Attached(files)
}

// workingOr is the context of what is performed, which a stop ends; ctx where nothing is.
func (r *run) workingOr(ctx context.Context) context.Context {
	if w := r.working(); w != nil {
		return w
	}
	return ctx
}

// encodedSize is how much a file takes in the log.
func encodedSize(f session.File, image *model.Image) int {
	n := 0
	if b, err := json.Marshal(f); err == nil { // strings, which all encode
		n = len(b)
	}
	if image != nil {
		n += base64.StdEncoding.EncodedLen(len(image.Data))
	}
	return n
}
