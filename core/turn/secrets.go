package turn

import (
	"regexp"
	"strings"
)

// hidden stands where a secret stood.
const hidden = "[redacted]"

// The forms in which people and files hold secrets that no setting of this installation names.
var (
	tokenForms = regexp.MustCompile(strings.Join([]string{
		`\bsk-[A-Za-z0-9_-]{16,}`, `\b[sr]k_(?:live|test)_[A-Za-z0-9]{10,}`, // models, payments
		`\bxox[a-z]-[A-Za-z0-9-]{10,}`, `\bxapp-[A-Za-z0-9-]{10,}`, `\bhttps://hooks\.[a-z]+\.com/[A-Za-z0-9/_-]{8,}`, // chats and their webhooks
		`\b[A-Za-z0-9_-]{23,28}\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,}`,                                                           // chats
		`\bgh[pousr]_[A-Za-z0-9]{20,}`, `\bgithub_pat_[A-Za-z0-9_]{20,}`, `\bglpat-[A-Za-z0-9_-]{16,}`, `\bnpm_[A-Za-z0-9]{20,}`, // code
		`\bhf_[A-Za-z0-9]{20,}`, `\b(?:AKIA|ASIA)[A-Z0-9]{16}\b`, `\bAIza[A-Za-z0-9_-]{30,}`, // clouds
		`\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]*`, // signed tokens
	}, "|"))
	// namedForms are values that their names give away; what is kept is the first group.
	namedForms = []*regexp.Regexp{
		regexp.MustCompile(`(?i)(\b(?:bearer|basic)\s+)[A-Za-z0-9._~+/=-]{12,}`),
		regexp.MustCompile(`(://[^/\s:@]*:)[^@\s/]+@`),
		regexp.MustCompile(`(?i)((?:pass(?:word|wd|phrase|wort)|kennwort|secret(?:[_-]?(?:access[_-]?)?key)?|token|api[_-]?key|access[_-]?key|private[_-]?key)\\?["']?\s*[:=]\s*)(?:\\?"[^"\n]*"|'[^'\n]*'|[^\s"',;}\\]+)`),
		// In a sentence only what does not look like a word: "the password is wrong" says nothing.
		regexp.MustCompile(`(?i)((?:pass(?:word|wd|phrase|wort)|kennwort|token|api key)\s+(?:is|ist|was|war):?\s+)\S*[0-9]\S*`),
	}
	keyBegin = regexp.MustCompile(`-----BEGIN [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----`)
	keyEnd   = regexp.MustCompile(`-----END [A-Z0-9 ]*PRIVATE KEY[A-Z ]*-----`)
	keyBody  = regexp.MustCompile(`^(?:\s|\\n|[A-Za-z0-9+/=]{16,})*`)
)

// maxKeyText is how far behind its beginning a key can end, in bytes.
const maxKeyText = 16 << 10

// hideSecrets is a text without what has one of the common forms of secrets.
func hideSecrets(text string) string {
	text = tokenForms.ReplaceAllString(hideKeys(text), hidden)
	for _, f := range namedForms {
		text = f.ReplaceAllString(text, "${1}"+hidden)
	}
	return text
}

// hideKeys takes private keys out, also one whose end is missing.
func hideKeys(text string) string {
	var b strings.Builder
	for {
		at := keyBegin.FindStringIndex(text)
		if at == nil {
			b.WriteString(text)
			return b.String()
		}
		b.WriteString(text[:at[0]] + hidden)
		text = text[at[1]:]
		if end := keyEnd.FindStringIndex(text[:min(len(text), maxKeyText)]); end != nil {
			text = text[end[1]:]
		} else {
			text = text[len(keyBody.FindString(text)):]
		}
	}
}
