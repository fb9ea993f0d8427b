package file_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"image"
	"image/color"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"
	"time"

	"herald/core/chat"
	"herald/core/file"
)

// shelf gives one file, after some errors.
type shelf struct {
	now    chat.File
	data   []byte
	errs   []error
	asked  int
	limits []int64
}

func (s *shelf) Fetch(_ context.Context, _ chat.Conversation, f chat.File, want func(chat.File) int64) (chat.File, []byte, error) {
	s.asked++
	if len(s.errs) > 0 {
		err := s.errs[0]
		s.errs = s.errs[1:]
		return f, nil, err
	}
	limit := want(s.now)
	s.limits = append(s.limits, limit)
	if limit == 0 {
		return s.now, nil, nil
	}
	return s.now, s.data, nil
}

func reader(s *shelf) *file.Reader {
	return &file.Reader{
		Fetcher: func(chat.Workspace) (chat.Fetcher, bool) { return s, s != nil },
		PDF: func(_ context.Context, data []byte, _ int) (string, bool, error) {
			switch string(data) {
			case "scan":
				return "", false, nil
			case "locked":
				return "", false, errors.New("it is protected by a password")
			case "long":
				return "the beginning", true, nil
			}
			return "text of " + string(data), false, nil
		},
		Sleep: func(context.Context, time.Duration) {},
	}
}

func TestTexts(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		name, mime string
		data       string
		want       string
		problem    string
	}{
		"plain text":            {name: "a.txt", mime: "text/plain", data: "hé\r\nb\x1b[1m", want: "hé\nb[1m"},
		"a byte order mark":     {name: "a.csv", mime: "text/csv", data: "\xef\xbb\xbfa;b", want: "a;b"},
		"UTF-16":                {name: "a.csv", mime: "text/csv", data: "\xff\xfea\x00\xe4\x00", want: "aä"},
		"UTF-16 the other way":  {name: "a.csv", mime: "text/csv", data: "\xfe\xff\x00a\x00\xe4", want: "aä"},
		"an old spreadsheet's":  {name: "a.csv", mime: "text/csv", data: "Stra\xdfe;10\x80", want: "Straße;10€"},
		"JSON":                  {name: "a", mime: "application/json; charset=utf-8", data: "{}", want: "{}"},
		"a type with a suffix":  {name: "a", mime: "application/geo+json", data: "{}", want: "{}"},
		"code":                  {name: "main.go", mime: "application/octet-stream", data: "package main", want: "package main"},
		"code of a wrong type":  {name: "a.ts", mime: "video/mp2t", data: "let a", want: "let a"},
		"nothing is known":      {name: "Makefile", data: "all:\n", want: "all:\n"},
		"nothing known, binary": {name: "core", data: "\x7fELF\x00\x01", problem: "no text"},
		"binary called text":    {name: "a.txt", mime: "text/plain", data: "\x01\x02\x03\x04ab", problem: "no text"},
		"a drawing":             {name: "a.svg", mime: "image/svg+xml", data: "<svg/>", want: "<svg/>"},
		"an archive":            {name: "a.zip", mime: "application/zip", data: "PK", problem: "files of this kind are not read"},
		"a document of Office":  {name: "a.docx", mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", data: "PK", problem: "not read"},
		"sound":                 {name: "a.mp3", mime: "audio/mpeg", problem: "not read"},
		"empty":                 {name: "a.txt", mime: "text/plain"},
		"PDF":                   {name: "a.pdf", mime: "application/pdf", data: "x", want: "text of x"},
		"PDF by its name":       {name: "a.PDF", data: "x", want: "text of x"},
		"a scan":                {name: "a.pdf", mime: "application/pdf", data: "scan", problem: "may be a scan"},
		"a locked PDF":          {name: "a.pdf", mime: "application/pdf", data: "locked", problem: "password"},
		"a long PDF":            {name: "a.pdf", mime: "application/pdf", data: "long", want: "the beginning\n[The file goes on; only its beginning was read.]"},
		"no picture":            {name: "a.png", mime: "image/png", data: "<html>", problem: "no picture"},
		"a damaged picture":     {name: "a.png", mime: "image/png", data: "\x89PNG\x0d\x0a\x1a\x0a", problem: "damaged"},
		"a picture of a kind":   {name: "a.tiff", mime: "image/tiff", data: "II*\x00", problem: "no picture of the kinds"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{now: chat.File{ID: "F1", Name: tt.name, MIME: tt.mime, Size: int64(len(tt.data))}, data: []byte(tt.data)}
			got, image := reader(s).Read(t.Context(), chat.Conversation{}, chat.File{ID: "F1"})
			if got.Text != tt.want || image != nil || (got.Problem == "") != (tt.problem == "") || !strings.Contains(got.Problem, tt.problem) || got.Name != tt.name {
				t.Errorf("it gives %+v, a picture: %v", got, image != nil)
			}
		})
	}
}

func TestFetching(t *testing.T) {
	t.Parallel()
	away := &chat.Outage{Reason: "Slack is away"}
	for name, tt := range map[string]struct {
		errs    []error
		asked   int
		problem string
	}{
		"at the third try": {errs: []error{away, away}, asked: 3},
		"never":            {errs: []error{away, away, away}, asked: 3, problem: "could not be loaded now (Slack is away)"},
		"refused":          {errs: []error{&chat.Refused{Code: "gone", Reason: "the file was deleted"}}, asked: 1, problem: "the file was deleted"},
		"a right is missing": {
			errs: []error{&chat.Outage{Dead: true, Reason: "the scope files:read is missing"}}, asked: 1, problem: "the scope files:read is missing",
		},
		"a long pause":    {errs: []error{&chat.Outage{RetryAfter: time.Minute, Reason: "later"}}, asked: 1, problem: "later"},
		"of another kind": {errs: []error{context.Canceled}, asked: 1, problem: "broken off"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{now: chat.File{Name: "a.txt", MIME: "text/plain"}, data: []byte("hello"), errs: tt.errs}
			got, _ := reader(s).Read(t.Context(), chat.Conversation{}, chat.File{Name: "a.txt"})
			if s.asked != tt.asked || !strings.Contains(got.Problem, tt.problem) || (got.Text == "hello") != (tt.problem == "") {
				t.Errorf("asked %d times it gives %+v", s.asked, got)
			}
		})
	}
	r := reader(nil)
	r.Fetcher = func(chat.Workspace) (chat.Fetcher, bool) { return nil, false }
	if got, _ := r.Read(t.Context(), chat.Conversation{}, chat.File{Name: "a.txt"}); !strings.Contains(got.Problem, "on this platform") {
		t.Errorf("without anybody who fetches it gives %+v", got)
	}
}

func TestLimits(t *testing.T) {
	t.Parallel()
	for mime, want := range map[string]int64{"text/csv": file.MaxText, "application/zip": 0, "image/png": 20_000_000, "application/pdf": 20_000_000} {
		s := &shelf{now: chat.File{MIME: mime}}
		reader(s).Read(t.Context(), chat.Conversation{}, chat.File{})
		if s.limits[0] != want {
			t.Errorf("of %s %d bytes are wanted, not %d", mime, s.limits[0], want)
		}
	}
}

func painted(w, h int) image.Image {
	m := image.NewNRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		for x := range w {
			m.Set(x, y, color.NRGBA{R: 200, A: uint8(255 * (x % 2))})
		}
	}
	return m
}

func TestPictures(t *testing.T) {
	t.Parallel()
	encode := func(m image.Image, as string) []byte {
		var b bytes.Buffer
		var err error
		switch as {
		case "png":
			err = png.Encode(&b, m)
		case "jpeg":
			err = jpeg.Encode(&b, m, nil)
		default:
			err = gif.Encode(&b, m, nil)
		}
		if err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	huge := encode(painted(8, 8), "png")
	binary.BigEndian.PutUint32(huge[16:], 60_000) // the width that it claims
	binary.BigEndian.PutUint32(huge[20:], 60_000)
	// The checksum of the header must fit, or the claim is not believed.
	crc := crcOf(huge[12:29])
	binary.BigEndian.PutUint32(huge[29:], crc)
	for name, tt := range map[string]struct {
		data    []byte
		mime    string
		w, h    int
		same    bool
		problem string
	}{
		"small":     {data: encode(painted(20, 10), "png"), mime: "image/png", w: 20, h: 10, same: true},
		"wide":      {data: encode(painted(3136, 100), "png"), mime: "image/jpeg", w: 1568, h: 50},
		"high":      {data: encode(painted(2, 2000), "jpeg"), mime: "image/jpeg", w: 1, h: 1568},
		"a GIF":     {data: encode(painted(1600, 20), "gif"), mime: "image/jpeg", w: 1568, h: 19},
		"a bomb":    {data: huge, problem: "million pixels"},
		"cut off":   {data: encode(painted(3136, 100), "png")[:1000], problem: "damaged"},
		"small web": {data: append([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "), make([]byte, 20)...), mime: "image/webp", same: true},
		"large web": {data: append([]byte("RIFF\x00\x00\x00\x00WEBPVP8 "), make([]byte, 1_100_000)...), problem: "WebP"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := &shelf{now: chat.File{Name: "a", MIME: "image/png"}, data: tt.data}
			got, m := reader(s).Read(t.Context(), chat.Conversation{}, chat.File{})
			if tt.problem != "" {
				if m != nil || !strings.Contains(got.Problem, tt.problem) {
					t.Errorf("it gives %+v", got)
				}
				return
			}
			if m == nil || m.MIME != tt.mime || got.MIME != tt.mime || got.Problem != "" || tt.same != bytes.Equal(m.Data, tt.data) {
				t.Fatalf("it gives %+v", got)
			}
			if tt.w == 0 {
				return
			}
			c, _, err := image.DecodeConfig(bytes.NewReader(m.Data))
			if err != nil || c.Width != tt.w || c.Height != tt.h {
				t.Errorf("it is %d × %d, %v", c.Width, c.Height, err)
			}
		})
	}
	// Half transparent red columns become the mean of red and white.
	s := &shelf{now: chat.File{MIME: "image/png"}, data: encode(painted(3136, 100), "png")}
	_, m := reader(s).Read(t.Context(), chat.Conversation{}, chat.File{})
	shown, err := jpeg.Decode(bytes.NewReader(m.Data))
	if err != nil {
		t.Fatal(err)
	}
	r, g, _, _ := shown.At(700, 25).RGBA()
	if r>>8 < 215 || r>>8 > 240 || g>>8 < 115 || g>>8 > 140 {
		t.Errorf("the colour is %d, %d", r>>8, g>>8)
	}
}

func FuzzRead(f *testing.F) {
	f.Add("a.txt", "text/plain", []byte("\xff\xfea"))
	f.Add("a.png", "image/png", []byte("\x89PNG\x0d\x0a\x1a\x0a"))
	f.Add("a", "", []byte("GIF89a\x00\x01"))
	f.Fuzz(func(t *testing.T, name, mime string, data []byte) {
		s := &shelf{now: chat.File{Name: name, MIME: mime}, data: data}
		got, m := reader(s).Read(t.Context(), chat.Conversation{}, chat.File{})
		if m != nil && got.Text != "" || got.Problem != "" && (got.Text != "" || m != nil) || strings.ContainsAny(got.Text, "\x00\x1b\r") {
			t.Errorf("it gives %+v", got)
		}
	})
}

func crcOf(b []byte) uint32 { return crc32.ChecksumIEEE(b) }
