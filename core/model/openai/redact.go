package openai

import (
	"net/url"
	"regexp"
	"strings"
	"unicode/utf8"
)

const (
	redacted = "[redacted]"
	// echoBytes is how much of the key may stand in a message by chance. Providers echo a key's head or tail, masked or not.
	echoBytes = 8
	// leastSecret is the least length of what is taken out wherever it stands; shorter keys are placeholders such as "x".
	leastSecret = 4
	// maxMessage bounds the words of a provider, in runes.
	maxMessage = 400
)

// redactor takes what may be a key out of texts from the wire.
type redactor struct {
	key     string
	secrets []string
	shape   *regexp.Regexp
}

func newRedactor(key string, base *url.URL) redactor {
	r := redactor{key: key, shape: regexp.MustCompile(
		`(?i)bearer\s+[^\s"',]+|\b(?:sk|pk|rk|gsk|xai)[-_][\w*.\-]{6,}|\b(?:api[-_]?key|key|token)=[^\s"',&]+|\bAIza[\w\-]{10,}|[\w\-]{2,}\*{3,}[\w\-]*`)}
	if len(key) >= leastSecret {
		r.secrets = append(r.secrets, key, url.QueryEscape(key), url.PathEscape(key))
	}
	if p, ok := base.User.Password(); ok && len(p) >= leastSecret {
		r.secrets = append(r.secrets, p)
	}
	for _, values := range base.Query() {
		for _, v := range values {
			if len(v) >= echoBytes {
				r.secrets = append(r.secrets, v)
			}
		}
	}
	return r
}

// message makes a provider's words fit to be shown to an operator: redacted, on one line, bounded.
func (r *redactor) message(s string) string {
	if len(s) > 16*maxMessage {
		s = s[:16*maxMessage]
	}
	s = strings.Join(strings.Fields(strings.ToValidUTF8(s, "\ufffd")), " ")
	for _, secret := range r.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	s = r.shape.ReplaceAllString(s, redacted)
	s = r.pieces(s)
	if utf8.RuneCountInString(s) > maxMessage {
		s = string([]rune(s)[:maxMessage]) + "…"
	}
	return s
}

// exact takes the key itself out of text that is otherwise kept as it is.
func (r *redactor) exact(s string) string {
	if len(r.key) < leastSecret || !strings.Contains(s, r.key) {
		return s
	}
	return strings.ReplaceAll(s, r.key, redacted)
}

// pieces takes out every run of echoBytes or more that also stands in the key: a key echoed in part.
func (r *redactor) pieces(s string) string {
	if len(r.key) < 2*echoBytes {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 0
		for i+n < len(s) && n < len(r.key) && strings.Contains(r.key, s[i:i+n+1]) {
			n++
		}
		if n >= echoBytes {
			b.WriteString(redacted)
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}
