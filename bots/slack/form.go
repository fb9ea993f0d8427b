package slack

import (
	"context"
	"encoding/json"
	"net/url"
	"strings"

	"herald/core/chat"
)

const (
	viewMethod = "views.open"
	// formMark begins the value of a button that asks for a text.
	formMark = "form:"
	// formCallback names our modals, formBlock and formInput the one input in them.
	formCallback = "herald_form"
	formBlock    = "herald_text"
	formInput    = "herald_text"
)

// Slack's limits on modals and on what a button carries.
const (
	maxViewTitle   = 24
	maxInputLabel  = 2_000
	maxInputText   = 3_000
	maxButtonValue = 2_000
)

// formButton is the value of a button with a form: any process can show it, whoever posted the card.
type formButton struct {
	Action string     `json:"a"`
	Form   *chat.Form `json:"f"`
}

// buttonValue is what a button brings back. A form that has no room there is left out, and the button acts by itself.
func buttonValue(b *chat.Button) string {
	if b.Form == nil {
		return b.Action
	}
	raw, err := json.Marshal(formButton{b.Action, b.Form})
	if err != nil || len(formMark)+len(raw) > maxButtonValue {
		return b.Action
	}
	return formMark + string(raw)
}

// parseButton reads what buttonValue wrote.
func parseButton(value string) (action string, f *chat.Form) {
	raw, ok := strings.CutPrefix(value, formMark)
	var b formButton
	if !ok || json.Unmarshal([]byte(raw), &b) != nil || b.Form == nil {
		return value, nil
	}
	return b.Action, b.Form
}

// formPlace is what a modal remembers of where it was opened; Slack keeps it unseen by people.
type formPlace struct {
	Action  string `json:"action"`
	Channel string `json:"channel"`
	Thread  string `json:"thread,omitempty"`
}

type object = map[string]any

// modal is the view that shows a form.
func modal(f *chat.Form, at formPlace) ([]byte, error) {
	private, err := json.Marshal(at)
	if err != nil {
		return nil, err
	}
	plainText := func(s string, n int) object { return object{"type": "plain_text", "text": cutRunes(s, n)} }
	limit := f.Max
	if limit <= 0 || limit > maxInputText {
		limit = maxInputText
	}
	return json.Marshal(object{
		"type": "modal", "callback_id": formCallback, "private_metadata": string(private),
		"title": plainText(f.Title, maxViewTitle), "submit": plainText(f.Submit, maxViewTitle), "close": plainText(textCancel, maxViewTitle),
		"blocks": []object{{
			"type": "input", "block_id": formBlock, "optional": f.Optional, "label": plainText(f.Label, maxInputLabel),
			"element": object{"type": "plain_text_input", "action_id": formInput, "multiline": true, "max_length": limit},
		}},
	})
}

// openForm shows the form of a click. Its trigger holds for three seconds and for one use; whoever clicked is told when that was not enough.
func (a *Adapter) openForm(ctx context.Context, r *reading, responseURL string) {
	c := r.in.Conversation
	view, err := modal(r.form, formPlace{Action: r.in.Action, Channel: c.Channel, Thread: c.Thread})
	if err == nil {
		var answer struct{}
		ctx, cancel := context.WithTimeout(ctx, asideWait)
		err = a.call(ctx, a.opt.BotToken, viewMethod, url.Values{"trigger_id": {r.trigger}, "view": {string(view)}}, &answer)
		cancel()
	}
	if err == nil {
		return
	}
	a.log.Warn("a form was not shown", "error", err)
	if responseURL == "" {
		return
	}
	if err := a.respond(ctx, responseURL, textNoForm, c.Thread); err != nil {
		a.log.Warn("a person was not told that a form was not shown", "error", err)
	}
}

// readSubmission understands a form that was sent: it is the click on its button, with the text.
func (a *Adapter) readSubmission(who *self, c *interactive) reading {
	var v struct {
		Callback string `json:"callback_id"`
		Private  string `json:"private_metadata"`
		State    struct {
			Values map[string]map[string]struct {
				Value string `json:"value"`
			} `json:"values"`
		} `json:"state"`
	}
	var at formPlace
	if json.Unmarshal(c.View, &v) != nil || v.Callback != formCallback || json.Unmarshal([]byte(v.Private), &at) != nil ||
		at.Channel == "" || at.Action == "" || c.User.ID == "" || c.Trigger == "" {
		return counted("malformed")
	}
	now := a.opt.Now()
	return reading{submitted: true, in: &chat.Inbound{
		Kind: chat.Click, App: c.App, Conversation: chat.Conversation{Workspace: who.workspace, Channel: at.Channel, Thread: at.Thread},
		MessageID: invocation(c.Trigger, c.User.ID), Order: order(stamp(now)), SentAt: now.UTC(), Direct: strings.HasPrefix(at.Channel, "D"), Addressed: true,
		Sender: chat.Sender{Identity: identity(firstOf(c.User.Team, c.Team.ID, who.team), c.User.ID), Name: firstOf(c.User.UserName, c.User.Name)},
		Action: at.Action, Value: v.State.Values[formBlock][formInput].Value,
	}}
}

// formErrors is the acknowledgement that keeps a form open and says what is wrong.
func formErrors(text string) any {
	return object{"response_action": "errors", "errors": map[string]string{formBlock: text}}
}
