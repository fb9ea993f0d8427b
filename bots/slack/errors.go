package slack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

// verdict is what an error word of Slack's says about a call.
type verdict struct {
	kind   sort
	remedy string
}

type sort int

const (
	refused sort = iota // the call will never succeed as it is
	gone                // … because the message to be changed does not stand
	dead                // an operator must do something first; nothing was done
	busy                // nothing was done, later it may succeed
	unclear             // whether it was done is not known
)

const (
	invite  = "invite the app to the channel with /invite"
	rules   = "the channel's settings forbid it; a workspace admin can change them"
	mistake = "this is a mistake of Herald's; the log names the method"
	token   = "install the app in the workspace again and give Herald the new token"
	waiting = "Herald tries again by itself"
)

// verdicts knows the words that calls of this package can meet. A word that is not here is a refusal: Slack says ok:false only for what it
// has not done, and a refusal ends after a few attempts where an admin can see it.
var verdicts = map[string]verdict{
	"channel_not_found":                        {refused, "the channel does not exist or the app cannot see it; " + invite},
	"not_in_channel":                           {refused, invite},
	"is_archived":                              {refused, "the channel is archived; unarchive it to go on there"},
	"restricted_action":                        {refused, rules},
	"restricted_action_read_only_channel":      {refused, rules},
	"restricted_action_thread_only_channel":    {refused, rules},
	"restricted_action_non_threadable_channel": {refused, rules},
	"restricted_action_thread_locked":          {refused, rules},
	"cannot_reply_to_message":                  {refused, "nobody can reply to this kind of message"},
	"thread_not_found":                         {refused, "the thread was deleted"},
	"message_not_found":                        {gone, "the message was deleted"},
	"cant_update_message":                      {gone, "the message is not the app's to change any more"},
	"cant_delete_message":                      {gone, "the message is not the app's to delete"},
	"edit_window_closed":                       {gone, "the workspace does not let messages be changed so late"},
	"user_not_found":                           {refused, "the person does not exist in this workspace"},
	"user_not_in_channel":                      {refused, "the person has left the channel"},
	"user_disabled":                            {refused, "the person's account is deactivated"},
	"user_not_visible":                         {refused, "the app cannot see this person"},
	"cannot_dm_bot":                            {refused, "a bot takes no direct messages"},
	"messages_tab_disabled":                    {refused, "switch the messages tab on in the app's settings under App Home"},
	"msg_too_long":                             {refused, mistake},
	"msg_blocks_too_long":                      {refused, mistake},
	"no_text":                                  {refused, mistake},
	"invalid_blocks":                           {refused, mistake},
	"invalid_blocks_format":                    {refused, mistake},
	"invalid_attachments":                      {refused, mistake},
	"too_many_attachments":                     {refused, mistake},
	"markdown_text_conflict":                   {refused, mistake},
	"invalid_metadata_format":                  {refused, mistake},
	"invalid_metadata_schema":                  {refused, mistake},
	"metadata_too_large":                       {refused, mistake},
	"metadata_must_be_sent_from_app":           {refused, mistake},
	"invalid_thread_ts":                        {refused, mistake},
	"invalid_arguments":                        {refused, mistake},
	"invalid_arg_name":                         {refused, mistake},
	"invalid_array_arg":                        {refused, mistake},
	"invalid_charset":                          {refused, mistake},
	"invalid_form_data":                        {refused, mistake},
	"invalid_post_type":                        {refused, mistake},
	"missing_post_type":                        {refused, mistake},
	"unknown_method":                           {refused, mistake},
	"method_deprecated":                        {refused, "this version of Herald is too old for Slack; update it"},
	"deprecated_endpoint":                      {refused, "this version of Herald is too old for Slack; update it"},
	"no_dual_broadcast_content_update":         {refused, mistake},
	"slack_connect_file_link_sharing_blocked":  {refused, rules},
	"as_user_not_supported":                    {refused, mistake},
	"file_not_found":                           {refused, "the file does not exist any more, or the app cannot see it"},
	"file_deleted":                             {refused, "the file was deleted"},
	"file_not_visible":                         {refused, "the app cannot see the file"},
	"not_visible":                              {refused, "the app cannot see the file"},
	"external_channel_migrating":               {busy, waiting},
	"update_failed":                            {busy, waiting},
	"message_limit_exceeded":                   {busy, "the workspace has reached Slack's limit of messages; " + waiting},
	"rate_limited":                             {busy, waiting},
	"ratelimited":                              {busy, waiting},
	"accesslimited":                            {busy, "Slack limits access to the workspace at present; " + waiting},
	"team_added_to_org":                        {busy, "the workspace is being moved into an organisation; " + waiting},
	"streaming_state_conflict":                 {busy, waiting},
	"internal_error":                           {unclear, waiting},
	"fatal_error":                              {unclear, waiting},
	"service_unavailable":                      {unclear, waiting},
	"request_timeout":                          {unclear, waiting},
	"not_authed":                               {dead, token},
	"invalid_auth":                             {dead, token},
	"account_inactive":                         {dead, token},
	"token_revoked":                            {dead, token},
	"token_expired":                            {dead, token},
	"not_allowed_token_type":                   {dead, "this is the wrong kind of token: a bot token begins with xoxb-, an app-level token with xapp-"},
	"no_permission":                            {dead, token},
	"missing_scope":                            {dead, "add the scope under OAuth & Permissions and install the app again"},
	"missing_scopes":                           {dead, "add the scope under OAuth & Permissions and install the app again"},
	"org_login_required":                       {dead, "the workspace is being moved to another plan; ask its owner"},
	"ekm_access_denied":                        {dead, "the workspace's key management refuses access; ask its owner"},
	"enterprise_is_restricted":                 {dead, "the organisation forbids this method; ask its owner"},
	"team_access_not_granted":                  {dead, "the token is of another workspace; use this workspace's own"},
	"access_denied":                            {dead, token},
	"two_factor_setup_required":                {dead, "the account behind the token needs two-factor authentication"},
	"team_disabled":                            {dead, "the workspace is switched off"},
	"user_removed_from_team":                   {dead, token},
	"missing_recipient_team_id":                {refused, mistake},
	"missing_recipient_user_id":                {refused, mistake},
	"channel_type_not_supported":               {refused, "streams are not available here; answers grow by edits"},
	"message_not_in_streaming_state":           {gone, "the stream has ended"},
	"stopped_by_user":                          {refused, "the person has stopped the answer"},
	"expired_trigger_id":                       {refused, "the three seconds in which a form may be shown are over"},
	"exchanged_trigger_id":                     {refused, "a form was shown for this click already"},
	"invalid_trigger_id":                       {refused, mistake},
	"duplicate_external_id":                    {refused, mistake},
	"view_too_large":                           {refused, mistake},
	"push_limit_reached":                       {refused, mistake},
	"app_missing_action_url":                   {refused, mistake},
	"app_uninstalled":                          {dead, token},
}

// limitPause is the pause after a rate limit that names none.
const limitPause = time.Second

// failed sorts the error of a call: what was surely not done, what is unknown, what will never be done. It notes a dead token.
func (a *Adapter) failed(ctx context.Context, method string, err error) error {
	out := sortError(ctx, method, err)
	if o, ok := errors.AsType[*chat.Outage](out); ok && o.Dead && method != openMethod {
		if s, ok := errors.AsType[slackgo.SlackErrorResponse](err); !ok || !retriable(s.Err) {
			a.dead.CompareAndSwap(nil, &o.Reason)
		}
	}
	return out
}

// retriable reports whether a call that an operator must make possible can be mended without a new token.
func retriable(code string) bool {
	return verdicts[code].remedy != token && code != "not_allowed_token_type"
}

func sortError(ctx context.Context, method string, err error) error {
	said := "call " + method + " of Slack: "
	if limit, ok := errors.AsType[*slackgo.RateLimitedError](err); ok {
		pause := max(limit.RetryAfter, limitPause)
		return &chat.Outage{Reason: fmt.Sprintf("%sit limits the rate; it asks for a pause of %s", said, pause), RetryAfter: pause, Whole: method != postMethod, NotSent: true, Err: err}
	}
	if s, ok := errors.AsType[slackgo.SlackErrorResponse](err); ok {
		return answered(method, &s)
	}
	if s, ok := errors.AsType[slackgo.StatusCodeError](err); ok {
		o := &chat.Outage{Reason: fmt.Sprintf("%sstatus %d; whether it was carried out is unknown", said, s.Code), Err: err}
		if s.Code >= 400 && s.Code < 500 {
			o.Reason, o.NotSent = fmt.Sprintf("%sstatus %d", said, s.Code), true
		}
		return o
	}
	o := &chat.Outage{Reason: said + "no whole answer came; whether it was carried out is unknown", Err: hide(err)}
	if op, ok := errors.AsType[*net.OpError](err); ok && op.Op == "dial" {
		o.Reason, o.NotSent = said+"Slack takes no connection", true
	}
	if cause := context.Cause(ctx); cause != nil {
		o.Err = errors.Join(cause, ctx.Err())
	}
	return o
}

// answered sorts an answer that says ok:false.
func answered(method string, s *slackgo.SlackErrorResponse) error {
	v := verdicts[s.Err]
	said := fmt.Sprintf("call %s of Slack: it says %s", method, s.Err)
	if s.Needed != "" {
		said += fmt.Sprintf(" (the scope %s is missing; the token has %s)", s.Needed, s.Provided)
	}
	if m := s.ResponseMetadata.Messages; len(m) > 0 {
		said += " (" + strings.Join(m, "; ") + ")"
	}
	if v.remedy != "" {
		said += "; " + v.remedy
	}
	switch v.kind {
	case dead:
		return &chat.Outage{Reason: said, NotSent: true, Dead: true, Err: *s}
	case busy:
		o := &chat.Outage{Reason: said, NotSent: true, Err: *s}
		if s.Err == "ratelimited" || s.Err == "rate_limited" {
			o.RetryAfter, o.Whole = limitPause, method != postMethod
		}
		return o
	case unclear:
		return &chat.Outage{Reason: said + "; whether it was carried out is unknown", Err: *s}
	default:
		return &chat.Refused{Code: s.Err, Reason: said, Gone: v.kind == gone}
	}
}

// hide takes the address out of an error of the HTTP client: a response_url is a secret.
func hide(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		return fmt.Errorf("%s: %w", strings.ToLower(u.Op), u.Err)
	}
	return err
}
