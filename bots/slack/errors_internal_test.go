package slack

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"testing"
	"time"

	slackgo "github.com/slack-go/slack"

	"herald/core/chat"
)

// documented are the errors that Slack's reference lists for sending, changing and streaming a message, and for looking one up, with what each means
// here.
var documented = map[sort][]string{
	refused: {
		"as_user_not_supported", "cannot_reply_to_message", "channel_not_found", "channel_type_not_supported", "deprecated_endpoint", "invalid_arguments",
		"invalid_arg_name", "invalid_array_arg", "invalid_attachments", "invalid_blocks", "invalid_blocks_format", "invalid_charset", "invalid_form_data",
		"invalid_metadata_format", "invalid_metadata_schema", "invalid_post_type", "is_archived", "markdown_text_conflict", "message_limit_unknown_word",
		"messages_tab_disabled", "metadata_must_be_sent_from_app", "metadata_too_large", "method_deprecated", "missing_post_type", "missing_recipient_team_id",
		"missing_recipient_user_id", "msg_blocks_too_long", "msg_too_long", "no_text", "not_in_channel", "restricted_action", "restricted_action_non_threadable_channel",
		"restricted_action_read_only_channel", "restricted_action_thread_locked", "restricted_action_thread_only_channel", "slack_connect_file_link_sharing_blocked",
		"stopped_by_user", "thread_not_found", "too_many_attachments", "user_disabled", "user_not_found", "user_not_in_channel",
	},
	gone:    {"cant_update_message", "edit_window_closed", "message_not_found", "message_not_in_streaming_state"},
	busy:    {"accesslimited", "external_channel_migrating", "message_limit_exceeded", "rate_limited", "ratelimited", "streaming_state_conflict", "team_added_to_org", "update_failed"},
	unclear: {"fatal_error", "internal_error", "request_timeout", "service_unavailable"},
	dead: {
		"access_denied", "account_inactive", "app_uninstalled", "ekm_access_denied", "enterprise_is_restricted", "invalid_auth", "missing_scope", "no_permission",
		"not_allowed_token_type", "not_authed", "org_login_required", "team_access_not_granted", "team_disabled", "token_expired", "token_revoked",
		"two_factor_setup_required", "user_removed_from_team",
	},
}

func TestEachDocumentedError(t *testing.T) {
	t.Parallel()
	for kind, words := range documented {
		for _, word := range words {
			t.Run(word, func(t *testing.T) {
				t.Parallel()
				err := sortError(t.Context(), postMethod, slackgo.SlackErrorResponse{Err: word})
				no, isNo := errors.AsType[*chat.Refused](err)
				o, isOut := errors.AsType[*chat.Outage](err)
				switch kind {
				case refused, gone:
					if !isNo || no.Code != word || no.Gone != (kind == gone) || !strings.Contains(no.Reason, postMethod) {
						t.Errorf("got %#v, want a refusal, gone %v", err, kind == gone)
					}
				default:
					if !isOut || o.Dead != (kind == dead) || o.NotSent != (kind != unclear) {
						t.Errorf("got %#v, want an outage: dead %v, not sent %v", err, kind == dead, kind != unclear)
					}
				}
				if v, known := verdicts[word]; known && (v.kind != kind || v.remedy == "") {
					t.Errorf("the table says %+v", v)
				}
			})
		}
	}
	// The table knows no word that this test does not.
	all := 0
	for _, words := range documented {
		all += len(words)
	}
	for word := range verdicts {
		found := false
		for _, words := range documented {
			for _, w := range words {
				found = found || w == word
			}
		}
		if !found && !strings.HasSuffix(verdicts[word].remedy, mistake) {
			t.Logf("not in the reference's lists: %s", word)
		}
	}
	if all < 70 {
		t.Errorf("only %d errors are tested", all)
	}
}

func TestFailuresBelowSlack(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		err  error
		want chat.Outage
	}{
		{"429", &slackgo.RateLimitedError{RetryAfter: 7 * time.Second}, chat.Outage{RetryAfter: 7 * time.Second, NotSent: true}},
		{"429 with 0", &slackgo.RateLimitedError{}, chat.Outage{RetryAfter: limitPause, NotSent: true}},
		{"503", slackgo.StatusCodeError{Code: 503}, chat.Outage{}},
		{"404", slackgo.StatusCodeError{Code: 404}, chat.Outage{NotSent: true}},
		{"no JSON", fmt.Errorf("invalid character '<'"), chat.Outage{}},
		{"broken", &url.Error{Op: "Post", URL: "https://hooks.slack.com/secret", Err: errors.New("EOF")}, chat.Outage{}},
		{"no connection", &url.Error{Op: "Post", URL: "https://x", Err: &net.OpError{Op: "dial", Err: errors.New("refused")}}, chat.Outage{NotSent: true}},
		{"read broke", &url.Error{Op: "Post", URL: "https://x", Err: &net.OpError{Op: "read", Err: errors.New("reset")}}, chat.Outage{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			o, ok := errors.AsType[*chat.Outage](sortError(t.Context(), postMethod, tt.err))
			if !ok || o.RetryAfter != tt.want.RetryAfter || o.NotSent != tt.want.NotSent || o.Dead || o.Whole {
				t.Fatalf("got %+v, want %+v", o, tt.want)
			}
			if o.Err != nil && strings.Contains(o.Err.Error(), "secret") {
				t.Errorf("the error names an address that is a secret: %v", o.Err)
			}
		})
	}
	if o, _ := errors.AsType[*chat.Outage](sortError(t.Context(), updateMethod, &slackgo.RateLimitedError{RetryAfter: time.Second})); !o.Whole {
		t.Error("the limit of chat.update holds for the workspace, not for a channel")
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("enough")
	cancel(why)
	if err := sortError(ctx, postMethod, context.Canceled); !errors.Is(err, why) {
		t.Errorf("%v does not say why the call ended", err)
	}
}

func TestMissingScopeIsNamed(t *testing.T) {
	t.Parallel()
	a := bare(t, Options{})
	err := a.failed(t.Context(), postMethod, slackgo.SlackErrorResponse{Err: "missing_scope", Needed: "chat:write", Provided: "commands"})
	if !strings.Contains(err.Error(), "chat:write") {
		t.Errorf("%v does not name the scope", err)
	}
	if a.dead.Load() != nil {
		t.Error("a missing scope is mended without a new token, and must be tried again")
	}
	if a.failed(t.Context(), postMethod, slackgo.SlackErrorResponse{Err: "token_revoked"}); a.dead.Load() == nil {
		t.Error("a revoked token is tried again for ever")
	}
}
