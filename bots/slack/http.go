package slack

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"
)

const (
	// maxBody is above every request that Slack sends.
	maxBody = 4 << 20
	// eventWait is how long a request waits for its event to be taken: Slack gives up after three seconds and sends it again.
	eventWait = 2500 * time.Millisecond
)

// Handler takes events, commands and clicks that Slack sends as signed requests. Nothing is read from a request before its signature over the raw
// body was checked. What is not taken is answered by 503, so that Slack sends it again.
func (a *Adapter) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			http.Error(w, "Slack sends its events by POST", http.StatusMethodNotAllowed)
			return
		}
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			a.opt.Count("request_unreadable")
			http.Error(w, "the body cannot be read", http.StatusBadRequest)
			return
		}
		if err := a.verify(r.Header, body); err != nil {
			a.opt.Count("bad_signature")
			a.log.Warn("a request does not bear Slack's signature and was refused; check slack.signing_secret_env and this machine's clock", "error", err)
			http.Error(w, "the signature is not Slack's", http.StatusUnauthorized)
			return
		}
		if r.Header.Get("X-Slack-Retry-Num") != "" {
			a.opt.Count("redelivered")
		}
		if strings.HasPrefix(r.Header.Get("Content-Type"), "application/json") {
			a.serveEvent(w, r, body)
			return
		}
		a.serveForm(w, r, body)
	})
}

// verify checks the signature of the raw body and its age, at most five minutes either way.
func (a *Adapter) verify(h http.Header, body []byte) error {
	if a.opt.SigningSecret == "" {
		return errors.New("no signing secret is configured")
	}
	v, err := slackgo.NewSecretsVerifier(h, a.opt.SigningSecret)
	if err != nil {
		return err
	}
	if _, err := v.Write(body); err != nil {
		return err
	}
	return v.Ensure()
}

func (a *Adapter) serveEvent(w http.ResponseWriter, r *http.Request, body []byte) {
	var o outer
	if json.Unmarshal(body, &o) != nil && o.Type == "" {
		a.opt.Count("malformed")
		w.WriteHeader(http.StatusOK) // what cannot be read would come for ever
		return
	}
	if o.Type == "url_verification" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]string{"challenge": o.Challenge})
		return
	}
	a.answer(w, r, func(ack acker, drop func()) { a.takeEvent(&o, ack, drop) })
}

func (a *Adapter) serveForm(w http.ResponseWriter, r *http.Request, body []byte) {
	form, err := url.ParseQuery(string(body)) // the query of the address is not signed and never looked at
	switch {
	case err != nil:
		a.opt.Count("malformed")
		w.WriteHeader(http.StatusOK)
	case form.Get("ssl_check") == "1":
		w.WriteHeader(http.StatusOK)
	case form.Has("payload"):
		var c interactive
		_ = json.Unmarshal([]byte(form.Get("payload")), &c)
		a.answer(w, r, func(ack acker, drop func()) {
			a.takeInteraction(a.readInteractive(a.who.Load(), &c), c.ResponseURL, ack, drop)
		})
	default:
		c := slash{
			Command: form.Get("command"), Text: form.Get("text"), TeamID: form.Get("team_id"), App: form.Get("api_app_id"), Channel: form.Get("channel_id"),
			ChannelName: form.Get("channel_name"), User: form.Get("user_id"), UserName: form.Get("user_name"), Trigger: form.Get("trigger_id"),
			ResponseURL: form.Get("response_url"),
		}
		a.answer(w, r, func(ack acker, drop func()) {
			a.takeInteraction(a.readSlash(a.who.Load(), &c), c.ResponseURL, ack, drop)
		})
	}
}

// answer waits until an event was taken or left, and says so by the status.
func (a *Adapter) answer(w http.ResponseWriter, r *http.Request, take func(acker, func())) {
	if a.who.Load() == nil {
		http.Error(w, "starting", http.StatusServiceUnavailable)
		return
	}
	type result struct {
		taken   bool
		payload any
	}
	done := make(chan result, 1)
	say := func(res result) {
		select {
		case done <- res:
		default: // the request has its answer already
		}
	}
	take(func(payload any) error { say(result{true, payload}); return nil }, func() { say(result{}) })
	wait := time.NewTimer(eventWait)
	defer wait.Stop()
	var res result
	select {
	case res = <-done:
	case <-wait.C:
	case <-r.Context().Done():
	}
	switch {
	case !res.taken:
		http.Error(w, "not taken; send it again", http.StatusServiceUnavailable)
	case res.payload != nil:
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(res.payload)
	default:
		w.WriteHeader(http.StatusOK)
	}
}
