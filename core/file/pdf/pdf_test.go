package pdf_test

import (
	"bytes"
	"compress/zlib"
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"herald/core/file/pdf"
)

// document writes a PDF file whose pages have these content streams.
func document(streams ...string) []byte {
	var objects []string
	kids := make([]string, len(streams))
	for i := range streams {
		kids[i] = fmt.Sprintf("%d 0 R", 4+2*i)
	}
	objects = append(objects,
		"<< /Type /Catalog /Pages 2 0 R >>",
		fmt.Sprintf("<< /Type /Pages /Kids [%s] /Count %d >>", strings.Join(kids, " "), len(streams)),
		"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
	)
	for i, s := range streams {
		objects = append(objects,
			fmt.Sprintf("<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Resources << /Font << /F1 3 0 R >> >> /Contents %d 0 R >>", 5+2*i), s)
	}
	var b bytes.Buffer
	b.WriteString("%PDF-1.4\n")
	at := make([]int, len(objects))
	for i, o := range objects {
		at[i] = b.Len()
		fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", i+1, o)
	}
	xref := b.Len()
	fmt.Fprintf(&b, "xref\n0 %d\n0000000000 65535 f \n", len(objects)+1)
	for _, n := range at {
		fmt.Fprintf(&b, "%010d 00000 n \n", n)
	}
	fmt.Fprintf(&b, "trailer << /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n", len(objects)+1, xref)
	return b.Bytes()
}

// line is a page's content stream with one line of text.
func line(text string) string {
	s := "BT /F1 12 Tf 72 720 Td (" + text + ") Tj ET"
	return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(s), s)
}

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data)
	_ = w.Close()
	return b.Bytes()
}

// bomb is a page whose content stream grows by a thousand when it is unpacked, twice.
func bomb() []byte {
	packed := deflated(deflated(bytes.Repeat([]byte("q "), 32<<20/2)))
	return document(fmt.Sprintf("<< /Length %d /Filter [/FlateDecode /FlateDecode] >>\nstream\n%s\nendstream", len(packed), packed))
}

func TestText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		data  []byte
		limit int
		want  string
		more  bool
		err   error
	}{
		"two pages":      {data: document(line("first page"), line("second")), limit: 1000, want: "first page\n\nsecond"},
		"more than fits": {data: document(line("first page"), line("second")), limit: 8, want: "first pa", more: true},
		"without text":   {data: document("<< /Length 0 >>\nstream\n\nendstream"), limit: 1000},
		"no PDF":         {data: []byte("hello"), limit: 1000, err: pdf.ErrUnreadable},
		"cut off":        {data: document(line("first page"))[:60], limit: 1000, err: pdf.ErrUnreadable},
		"empty":          {limit: 1000, err: pdf.ErrUnreadable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			got, more, err := pdf.Text(t.Context(), tt.data, tt.limit)
			if got != tt.want || more != tt.more || !errors.Is(err, tt.err) {
				t.Errorf("it gives %q, more %v, %v", got, more, err)
			}
		})
	}
}

// What a hostile file costs is bounded: it ends with an error or with what there was, and the next one is read.
func TestHostile(t *testing.T) {
	t.Parallel()
	loop := document(line("x"))
	loop = bytes.Replace(loop, []byte("/Kids [4 0 R]"), []byte("/Kids [2 0 R]"), 1)
	for name, data := range map[string][]byte{"a bomb": bomb(), "pages that hold themselves": loop} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			text, _, err := pdf.Text(t.Context(), data, 1000)
			t.Logf("%q %v", text, err)
			if len(text) > 1000 {
				t.Errorf("it gives %d bytes", len(text))
			}
			if got, _, err := pdf.Text(t.Context(), document(line("after it")), 1000); got != "after it" || err != nil {
				t.Errorf("the next file gives %q, %v", got, err)
			}
		})
	}
}

func TestBrokenOff(t *testing.T) {
	t.Parallel()
	stopped := errors.New("stopped")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	if _, _, err := pdf.Text(ctx, document(line("x")), 1000); !errors.Is(err, stopped) {
		t.Errorf("the error is %v", err)
	}
}

func FuzzText(f *testing.F) {
	f.Add(document(line("first page"), line("second")))
	f.Add(document(line("first page"))[:200])
	f.Fuzz(func(t *testing.T, data []byte) {
		text, _, err := pdf.Text(t.Context(), data, 100)
		if len(text) > 200 || err != nil && text != "" {
			t.Errorf("%d bytes, %v", len(text), err)
		}
	})
}
