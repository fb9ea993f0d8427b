package redact

import (
	"bytes"
	"cmp"
	"encoding/base64"
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
)

// Placeholder stands where a secret stood.
const Placeholder = "[redacted]"

// shortest is the length from which a secret is looked for: a shorter text would be found by chance in ordinary words.
const shortest = 6

// Secrets is a set of secrets that can change while it is in use. The zero value is empty.
type Secrets struct {
	now atomic.Pointer[set]
}

// set holds the forms of all secrets, the longest first: of a secret that is part of another no rest is left.
type set struct {
	all []string
	by  [256][]string // by their first byte
	// pairs has a bit for each pair of bytes that one begins with.
	pairs [1 << 16 / 64]uint64
}

// pair is the place of two bytes in pairs.
func pair(a, b byte) (word uint16, bit uint64) {
	n := uint16(a)<<8 | uint16(b)
	return n >> 6, 1 << (n & 63)
}

// anywhere reports whether a secret stands in text. It is the quick way through texts without one, which nearly all are.
func (s *set) anywhere(text string) bool {
	for i := range len(text) - 1 {
		if word, bit := pair(text[i], text[i+1]); s.pairs[word]&bit == 0 {
			continue
		}
		if n, _ := s.at(text[i:], true); n > 0 {
			return true
		}
	}
	return false
}

// Set replaces the secrets. They are also found in the forms in which they travel: escaped in a URL, in JSON and in Go's quotes, and
// in base64. Empty and very short ones are left out.
func (s *Secrets) Set(secrets ...string) {
	var all []string
	for _, x := range secrets {
		if x = strings.TrimSpace(x); len(x) >= shortest {
			all = append(all, forms(x)...)
		}
	}
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	now := &set{all: slices.Compact(all)}
	for _, f := range now.all {
		now.by[f[0]] = append(now.by[f[0]], f)
		word, bit := pair(f[0], f[1])
		now.pairs[word] |= bit
	}
	s.now.Store(now)
}

// forms are the ways in which a secret is written.
func forms(x string) []string {
	quoted := strconv.Quote(x)
	return []string{
		x, url.QueryEscape(x), url.PathEscape(x), quoted[1 : len(quoted)-1], inJSON(x, true), inJSON(x, false),
		base64.StdEncoding.EncodeToString([]byte(x)), base64.RawStdEncoding.EncodeToString([]byte(x)), base64.URLEncoding.EncodeToString([]byte(x)),
	}
}

// inJSON is x as it stands between the quotes of a JSON string.
func inJSON(x string, escapeHTML bool) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	if enc.Encode(x) != nil {
		return x // strings cannot fail
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSpace(b.String()), `"`), `"`)
}

// Clean is text without the secrets.
func (s *Secrets) Clean(text string) string {
	clean, _ := s.Scan(text, true)
	return clean
}

// Scan cleans a text that comes in pieces. It takes what was left of the pieces before with the next one, and gives what may be shown
// and what is left: the beginning of a secret, perhaps, of which the next piece tells more. At the end nothing is left. All that is
// shown of a text is what [Secrets.Clean] makes of the whole of it, wherever it was cut.
func (s *Secrets) Scan(text string, end bool) (shown, left string) {
	now := s.now.Load()
	if now == nil || len(now.all) == 0 {
		return text, ""
	}
	start := 0
	if !now.anywhere(text) {
		if end {
			return text, ""
		}
		start = max(0, len(text)-len(now.all[0])+1)
	}
	var b strings.Builder
	from := 0
	for i := start; i < len(text); {
		n, wait := now.at(text[i:], end)
		if wait {
			b.WriteString(text[from:i])
			return b.String(), text[i:]
		}
		if n == 0 {
			i++
			continue
		}
		b.WriteString(text[from:i])
		b.WriteString(Placeholder)
		i += n
		from = i
	}
	if from == 0 {
		return text, ""
	}
	b.WriteString(text[from:])
	return b.String(), ""
}

// at is the length of the secret that text begins with, 0 when it begins with none; wait says that more text must tell.
func (s *set) at(text string, end bool) (n int, wait bool) {
	for _, f := range s.by[text[0]] {
		switch {
		case strings.HasPrefix(text, f):
			return len(f), false
		case !end && strings.HasPrefix(f, text):
			return 0, true
		}
	}
	return 0, false
}
