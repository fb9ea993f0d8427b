package wire

import (
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// Features is what a test platform can do.
type Features struct {
	// Workspace is the part of ids behind "test:".
	Workspace string
	Edits     bool
	EditEvery time.Duration
	Cards     bool
	Ephemeral bool
	// Nonce: a repeated nonce within NonceFor gives the first message again.
	Nonce    bool
	NonceFor time.Duration
	// LookBack: the find call answers; otherwise it is refused.
	LookBack bool
	// TextLimit is the longest message in runes; 0 means none.
	TextLimit   int
	SendTimeout time.Duration
}

// Address writes base (scheme, host and port) and f as one URL. Durations are whole milliseconds.
func Address(base string, f Features) string {
	q := url.Values{}
	q.Set("workspace", f.Workspace)
	for name, on := range map[string]bool{"edits": f.Edits, "cards": f.Cards, "ephemeral": f.Ephemeral, "nonce": f.Nonce, "look_back": f.LookBack} {
		if on {
			q.Set(name, "1")
		}
	}
	q.Set("edit_every_ms", strconv.FormatInt(f.EditEvery.Milliseconds(), 10))
	q.Set("nonce_for_ms", strconv.FormatInt(f.NonceFor.Milliseconds(), 10))
	q.Set("send_timeout_ms", strconv.FormatInt(f.SendTimeout.Milliseconds(), 10))
	q.Set("text_limit", strconv.Itoa(f.TextLimit))
	return strings.TrimSuffix(base, "/") + "/?" + q.Encode()
}

// ParseAddress reads what [Address] wrote.
func ParseAddress(address string) (base string, f Features, err error) {
	u, err := url.Parse(address)
	if err != nil {
		return "", f, fmt.Errorf("read the test platform's address %q: %w", address, err)
	}
	if u.Scheme != "http" || u.Host == "" {
		return "", f, fmt.Errorf("read the test platform's address %q: want http://HOST:PORT/?…", address)
	}
	q := u.Query()
	number := func(name string) int64 {
		if err != nil || !q.Has(name) {
			return 0
		}
		n, perr := strconv.ParseInt(q.Get(name), 10, 64)
		if perr != nil || n < 0 {
			err = fmt.Errorf("read the test platform's address %q: %s must be a whole number of at least 0", address, name)
		}
		return n
	}
	on := func(name string) bool { return q.Get(name) == "1" }
	f = Features{
		Workspace: q.Get("workspace"), Edits: on("edits"), Cards: on("cards"), Ephemeral: on("ephemeral"), Nonce: on("nonce"), LookBack: on("look_back"),
		EditEvery:   time.Duration(number("edit_every_ms")) * time.Millisecond,
		NonceFor:    time.Duration(number("nonce_for_ms")) * time.Millisecond,
		SendTimeout: time.Duration(number("send_timeout_ms")) * time.Millisecond,
		TextLimit:   int(number("text_limit")),
	}
	if err == nil && f.Workspace == "" {
		err = fmt.Errorf("read the test platform's address %q: it names no workspace", address)
	}
	return u.Scheme + "://" + u.Host, f, err
}
