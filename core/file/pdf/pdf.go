package pdf

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/requests"
	"github.com/klippa-app/go-pdfium/webassembly"
	"github.com/tetratelabs/wazero"
	"github.com/tetratelabs/wazero/api"
	"github.com/tetratelabs/wazero/experimental"
)

const (
	// maxTime is how long one file may take, with the start of the library.
	maxTime = 20 * time.Second
	// maxMemory is the memory of the library in pages of 64 KiB: 256 MiB.
	maxMemory = 4096
	// maxPages bounds what is looked at: a small file can claim millions.
	maxPages = 2000
)

// The errors of [Text] that speak of the file itself.
var (
	ErrUnreadable = errors.New("it is damaged, or it is no PDF")
	ErrLocked     = errors.New("it is protected by a password")
	ErrSlow       = errors.New("reading it takes too long")
)

// one lets one file at a time be read: each takes up to 256 MiB.
var one = make(chan struct{}, 1)

// Text gives the text of a PDF file, page by page, at most limit bytes of it; more says that there is more than that, or more than 2,000 pages. A
// scanned file has none. Errors are [ErrUnreadable], [ErrLocked], [ErrSlow] and ctx's.
func Text(ctx context.Context, data []byte, limit int) (text string, more bool, err error) {
	if ctx.Err() != nil {
		return "", false, context.Cause(ctx)
	}
	select {
	case one <- struct{}{}:
		defer func() { <-one }()
	case <-ctx.Done():
		return "", false, context.Cause(ctx)
	}
	return read(ctx, data, limit, maxTime)
}

// read gives the library as long as within.
func read(ctx context.Context, data []byte, limit int, within time.Duration) (text string, more bool, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, within, ErrSlow)
	defer cancel()
	// The library is a stranger: its panics speak of the file.
	defer func() {
		if p := recover(); p != nil {
			text, err = "", fmt.Errorf("%w (the reader panicked: %v)", ErrUnreadable, p)
		}
		// A library that was broken off fails in any way it likes.
		if err != nil && ctx.Err() != nil {
			text, err = "", context.Cause(ctx)
		}
	}()
	// An interpreter starts in a third of a second where a compiler takes three, and no file is read twice.
	pool, err := webassembly.Init(webassembly.Config{
		Context: ctx, MaxIdle: 1, MaxTotal: 1, FSConfig: wazero.NewFSConfig(), Stdout: io.Discard, Stderr: io.Discard,
		RuntimeConfig: wazero.NewRuntimeConfigInterpreter().WithCoreFeatures(api.CoreFeaturesV2 | experimental.CoreFeaturesExceptionHandling).
			WithMemoryLimitPages(maxMemory).WithCloseOnContextDone(true),
	})
	if err != nil {
		return "", false, fmt.Errorf("start the reader of PDF files: %w", err)
	}
	defer func() { _ = pool.Close() }()
	lib, err := pool.GetInstanceWithContext(ctx)
	if err != nil {
		return "", false, fmt.Errorf("start the reader of PDF files: %w", err)
	}
	return pages(ctx, lib, data, limit)
}

func pages(ctx context.Context, lib pdfium.Pdfium, data []byte, limit int) (text string, more bool, err error) {
	doc, err := lib.OpenDocument(&requests.OpenDocument{File: &data})
	if err != nil {
		if strings.Contains(strings.ToLower(err.Error()), "password") {
			return "", false, ErrLocked
		}
		return "", false, fmt.Errorf("%w (%v)", ErrUnreadable, err)
	}
	count, err := lib.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: doc.Document})
	if err != nil {
		return "", false, fmt.Errorf("%w (%v)", ErrUnreadable, err)
	}
	var b strings.Builder
	for i := range min(count.PageCount, maxPages) {
		if ctx.Err() != nil {
			return "", false, context.Cause(ctx)
		}
		page, err := lib.GetPageText(&requests.GetPageText{Page: requests.Page{ByIndex: &requests.PageByIndex{Document: doc.Document, Index: i}}})
		if err != nil {
			if ctx.Err() != nil {
				return "", false, context.Cause(ctx)
			}
			fmt.Fprintf(&b, "[Page %d cannot be read.]\n\n", i+1)
			continue
		}
		t := strings.TrimSpace(plain.Replace(page.Text))
		if t == "" {
			continue
		}
		if b.Len()+len(t) > limit {
			return b.String() + strings.ToValidUTF8(t[:max(limit-b.Len(), 0)], ""), true, nil
		}
		b.WriteString(t + "\n\n")
	}
	return strings.TrimSpace(b.String()), count.PageCount > maxPages, nil
}

// plain undoes what the library adds: its mark of a word that is divided over two lines, and other systems' ends of lines.
var plain = strings.NewReplacer("\x02\r\n", "", "\x02", "", "\ufffe", "", "\r\n", "\n", "\r", "\n")
