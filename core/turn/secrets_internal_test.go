package turn

import (
	"strings"
	"testing"
)

func TestHideSecrets(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("aB3", 10)
	pem := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\n" + long + "\n" + long + "\n-----END RSA PRIVATE KEY-----"
	for _, tc := range []struct{ name, text, want string }{
		{"nothing", "the skills of sk-1 and task-management", "the skills of sk-1 and task-management"},
		{"a model's key", "use sk-" + long + ", please", "use [redacted], please"},
		{"a key with a project", "sk-proj-" + long, "[redacted]"},
		{"a payment key", "sk_live_" + long, "[redacted]"},
		{"a bot token", "xoxb-1234567890-" + long, "[redacted]"},
		{"an app token", "xapp-1-A1-" + long, "[redacted]"},
		{"a webhook", "post to https://hooks.slack.com/services/T0/B0/" + long + " then", "post to [redacted] then"},
		{"a Discord token", "MTIzNDU2Nzg5MDEyMzQ1Njc4.GabcDE." + long, "[redacted]"},
		{"a code host's token", "ghp_" + long + " github_pat_" + long + " glpat-" + long, "[redacted] [redacted] [redacted]"},
		{"a cloud's key", "AKIAIOSFODNN7EXAMPLE", "[redacted]"},
		{"a signed token", "eyJhbGciOiJI.eyJzdWIiOiIx." + long, "[redacted]"},
		{"a header", "Authorization: Bearer " + long + "\nAccept: x", "Authorization: Bearer [redacted]\nAccept: x"},
		{"a setting", "db.password=hunter2; user=ann", "db.password=[redacted]; user=ann"},
		{"a setting in upper case", "AWS_SECRET_ACCESS_KEY: abc/def", "AWS_SECRET_ACCESS_KEY: [redacted]"},
		{"JSON", `{"api_key": "a b", "user": "ann"}`, `{"api_key": [redacted], "user": "ann"}`},
		{"JSON in JSON", `{\"password\":\"hunter2\",\"user\":\"ann\"}`, `{\"password\":[redacted],\"user\":\"ann\"}`},
		{"in a sentence", "my password is hunter2!", "my password is [redacted]"},
		{"no secret in a sentence", "the password is wrong", "the password is wrong"},
		{"a count", "max_tokens: 512", "max_tokens: 512"},
		{"an address", "postgres://ann:hunter2@db/x", "postgres://ann:[redacted]db/x"},
		{"a private key", "see " + pem + " there", "see [redacted] there"},
		{"a private key on one line", strings.ReplaceAll(pem, "\n", `\n`), "[redacted]"},
		{"a private key without an end", "-----BEGIN PRIVATE KEY-----\n" + long + "\n" + long + "\n\nPERSON: hello", "[redacted]PERSON: hello"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			t.Parallel()
			if got := hideSecrets(tc.text); got != tc.want {
				t.Errorf("got  %q\nwant %q", got, tc.want)
			}
			if got := hideSecrets(hideSecrets(tc.text)); got != tc.want {
				t.Errorf("hidden twice %q", got)
			}
		})
	}
}

func FuzzHideSecrets(f *testing.F) {
	f.Add("-----BEGIN PRIVATE KEY-----x", "password=")
	f.Fuzz(func(t *testing.T, before, after string) {
		const key = "ghp_0123456789abcdefghijABCDEFGHIJ"
		if strings.Contains(hideSecrets(before+" "+key+" "+after), key) {
			t.Error("a token is left")
		}
	})
}
