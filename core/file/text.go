package file

import (
	"bytes"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"
	xunicode "golang.org/x/text/encoding/unicode"
)

// decodeText is the text of a file; ok is false for what is none. UTF-8 and UTF-16 are known by themselves, everything else without a
// zero byte is read as Windows-1252, which old spreadsheets write.
func decodeText(data []byte) (s string, ok bool) {
	var from encoding.Encoding
	switch {
	case bytes.HasPrefix(data, []byte("\xef\xbb\xbf")):
		data = data[3:]
	case bytes.HasPrefix(data, []byte("\xff\xfe")), bytes.HasPrefix(data, []byte("\xfe\xff")):
		from = xunicode.UTF16(xunicode.LittleEndian, xunicode.UseBOM)
	}
	switch {
	case from == nil && bytes.IndexByte(data, 0) >= 0:
		return "", false
	case from == nil && !utf8.Valid(data):
		from = charmap.Windows1252
	}
	if from != nil {
		out, err := from.NewDecoder().Bytes(data)
		if err != nil {
			return "", false
		}
		data = out
	}
	odd := 0
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t' || r == '\f':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r) || r == utf8.RuneError:
			odd++
			return -1
		}
		return r
	}, strings.ReplaceAll(string(data), "\r\n", "\n"))
	// A few control characters are dirt or a terminal's colours; many of them are a binary file.
	return s, odd*10 <= len(data)
}
