package slack_test

import (
	"strings"
	"testing"

	"herald/bots/bottest/slackfake"
	"herald/bots/slack"
)

func granted(without ...string) (out []string) {
	for _, s := range slack.BotScopes() {
		keep := true
		for _, w := range without {
			keep = keep && s.Name != w
		}
		if keep {
			out = append(out, s.Name)
		}
	}
	return out
}

func TestCheck(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name string
		make func(*slackfake.Server, *slack.Options)
		// want are parts of the lines that are not fine, in order.
		want []string
	}{
		{name: "all is well", make: func(s *slackfake.Server, _ *slack.Options) { s.SetScopes(slackfake.BotToken, granted()) }},
		{
			name: "dead token", make: func(s *slackfake.Server, _ *slack.Options) { s.Kill(slackfake.BotToken, "token_revoked") },
			want: []string{"token_revoked"},
		},
		{
			name: "missing scopes", make: func(s *slackfake.Server, _ *slack.Options) {
				s.SetScopes(slackfake.BotToken, granted("groups:history", "commands"))
			},
			want: []string{"the scope commands is missing", "the scope groups:history is missing"},
		},
		{
			name: "wrong app token", make: func(s *slackfake.Server, o *slack.Options) {
				s.SetScopes(slackfake.BotToken, granted())
				o.AppToken = "xapp-other"
			},
			want: []string{"invalid_auth"},
		},
		{
			name: "in no channel", make: func(s *slackfake.Server, _ *slack.Options) {
				s.SetScopes(slackfake.BotToken, granted())
				s.Leave(slackfake.General, slackfake.BotUser)
				s.Leave(slackfake.Random, slackfake.BotUser)
			},
			want: []string{"in no channel"},
		},
		{
			name: "channels of the configuration", make: func(s *slackfake.Server, o *slack.Options) {
				s.SetScopes(slackfake.BotToken, granted())
				s.Leave(slackfake.Random, slackfake.BotUser)
				o.ChannelThreads = map[string]slack.Threads{"C0NONE": slack.ThreadsAlways, slackfake.General: slack.ThreadsMention, slackfake.Random: slack.ThreadsMention}
			},
			want: []string{"C0NONE", "#random, in which Herald is not"},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := world(t, slackfake.Options{})
			o := options(t, s, &inbox{})
			tt.make(s, &o)
			a, err := slack.New(o)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, f := range a.Check(within(t)) {
				if (f.Grade == slack.Fine) != (f.Remedy == "") {
					t.Errorf("%+v: a remedy belongs to what is not fine", f)
				}
				if strings.Contains(f.Text+f.Remedy, "xoxb-") || strings.Contains(f.Text+f.Remedy, "xapp-lab") {
					t.Errorf("a token is shown: %+v", f)
				}
				if f.Grade != slack.Fine {
					got = append(got, f.Text)
				}
			}
			if len(got) != len(tt.want) {
				t.Fatalf("not fine are %q, want %q", got, tt.want)
			}
			for i, w := range tt.want {
				if !strings.Contains(got[i], w) {
					t.Errorf("line %d is %q, want %q", i, got[i], w)
				}
			}
		})
	}
}
