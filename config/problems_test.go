package config_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// One file with every kind of mistake, all of which must be reported at once.
func TestProblemsGolden(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("testdata/problems.toml")
	if err != nil {
		t.Fatal(err)
	}
	opts := options(string(document),
		"HERALD_STORE_URL=x", "HERALD_LOG__LEVL=info", "HERALD_TURN__LEASE_SECONDS=30s", "HERALD_NONSENSE=1",
		"HERALD_PROVIDERS__CLOUD__API_KEY=k", "HERALD_STORE__REQUIRE_PERSISTENCE=maybe", "HERALD_HTTP__LISTEN=8080")
	golden(t, "problems.golden", problemsOf(t, opts).Error()+"\n")
}

// A slip of the pen in one line does not hide what is wrong below it.
func TestSyntaxGolden(t *testing.T) {
	t.Parallel()
	document, err := os.ReadFile("testdata/syntax.toml")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "syntax.golden", problemsOf(t, options(string(document))).Error()+"\n")
}

func TestProblem(t *testing.T) {
	t.Parallel()
	tests := []struct {
		name, document string
		env            []string
		want           []string
	}{
		{
			"key twice", "[log]\nlevel = \"info\"\nlevel = \"warn\"\n", nil,
			[]string{"herald.toml:3:1: log.level: is given twice, the first time in line 2; leave one of them out"},
		},
		{
			"section twice", "[log]\nlevel = \"info\"\n[log]\nformat = \"json\"\n", nil,
			[]string{"herald.toml:3:2: log: is given twice, the first time in line 1; leave one of them out"},
		},
		{
			"section as a value", "store = \"redis://redis\"\n", nil,
			[]string{"herald.toml:1:1: store: is a section, not a setting; write [store] and the keys below it"},
		},
		{
			"setting as a section", "[store.url]\nredis = 1\n", nil,
			[]string{`herald.toml:1:2: store.url: is a setting, not a section; write url = VALUE in section [store]`},
		},
		{
			"key below a setting", "store.url.x = 1\n", nil,
			[]string{"herald.toml:1:1: store.url.x: store.url is a setting and has no keys below it"},
		},
		{
			"list of sections", "[[models]]\nname = \"a\"\n", nil,
			[]string{"herald.toml:1:3: models: [[ ]] makes a list, and nothing here is a list of sections; write [models]"},
		},
		{
			"model without a name", "[models]\nmodel = \"a\"\n", nil,
			[]string{"herald.toml:2:1: models.model: is a section, not a setting; write [models.model] and the keys below it"},
		},
		{
			"quoted dot is no path", "\"store.url\" = \"memory:\"\n", nil,
			[]string{`herald.toml:1:1: "store.url": unknown key; did you mean "store.url"?`},
		},
		{
			"key of another section", "[log]\nlisten = \":80\"\n", nil,
			[]string{`herald.toml:2:1: log.listen: unknown key; did you mean "http.listen"?`},
		},
		{
			"key like no other", "[log]\ncolour = true\n", nil,
			[]string{"herald.toml:2:1: log.colour: unknown key; the keys here are level, format"},
		},
		{
			"a date", "timezone = 2026-01-01\n", nil,
			[]string{"herald.toml:1:1: timezone: must be a text in quotes, is a date or time"},
		},
		{
			"a fraction", "[turn]\nmax_rounds = 2.5\n", nil,
			[]string{"herald.toml:2:1: turn.max_rounds: must be a whole number of rounds, is a number with a fraction"},
		},
		{
			"a number beyond 64 bits", "[turn]\nmax_rounds = 99999999999999999999\n", nil,
			[]string{"herald.toml:2:1: turn.max_rounds: must be a whole number of rounds, is a number too large to hold"},
		},
		{
			"not a number", local + "[models.a]\ntemperature = nan\n", nil,
			[]string{"herald.toml:6:1: models.a.temperature: must be a number, is not a finite number"},
		},
		{
			"a number in quotes", "[turn]\nmax_rounds = \"5\"\n", nil,
			[]string{"herald.toml:2:1: turn.max_rounds: must be a whole number of rounds, is a text; write it without quotes"},
		},
		{
			"a list with a number", "admins = [\"discord:1\", 2]\n", nil,
			[]string{"herald.toml:1:1: admins: must be a list of texts, is a whole number; every entry of the list must be a text in quotes"},
		},
		{
			"empty text", "[http]\nlisten = \"\"\n", nil,
			[]string{"herald.toml:2:1: http.listen: must not be empty; leave the key out to have the default"},
		},
		{
			"line break in a text", local + "[models.a]\nscope = \"a\\nb\"\n", nil,
			[]string{"herald.toml:6:1: models.a.scope: must not hold line breaks or control characters"},
		},
		{
			"column in characters", "log = { \"ä\" = 1, levle = 2 }\n", nil,
			[]string{
				`herald.toml:1:9: log."ä": unknown key; the keys here are level, format`,
				`herald.toml:1:18: log.levle: unknown key; did you mean "log.level"?`,
			},
		},
		{
			"unset variable", local + "api_key_env = \"NO_KEY\"\n", nil,
			[]string{"herald.toml:5:1: providers.local.api_key_env: the environment variable NO_KEY is not set, or empty; export it before Herald starts"},
		},
		{
			"missing file of a secret", local + "api_key_file = \"/run/no\"\n", nil,
			[]string{"herald.toml:5:1: providers.local.api_key_file: the file /run/no cannot be read: file does not exist; check the path and its rights"},
		},
		{
			"variable and file", local + "api_key_env = \"A\"\napi_key_file = \"/b\"\n",
			[]string{"A=1"},
			[]string{"herald.toml:6:1: providers.local.api_key_file: stands beside api_key_env, and only one of them can count; leave one of them out"},
		},
		{
			"no key for the default endpoint", "[providers.openai]\ndefault_model = \"a\"\n", nil,
			[]string{"herald.toml:1:2: providers.openai: needs a key, because it is at https://api.openai.com/v1; set api_key_env, or base_url to another endpoint"},
		},
		{
			"unknown provider", local + "[models.a]\nprovider = \"locl\"\n", nil,
			[]string{`herald.toml:6:1: models.a.provider: there is no provider "locl"; did you mean "local"?`},
		},
		{
			"unknown provider without a near one", local + "[models.a]\nprovider = \"elsewhere\"\n", nil,
			[]string{`herald.toml:6:1: models.a.provider: there is no provider "elsewhere"; add [providers.elsewhere]`},
		},
		{
			"no provider at all", "[models.a]\nmodel = \"a\"\n", nil,
			[]string{`herald.toml:1:2: models.a: names no provider; add provider = "NAME"`},
		},
		{
			"no model's id", "[providers.p]\nbase_url = \"http://p/v1\"\n[models.a]\nstrength = \"low\"\n", nil,
			[]string{`herald.toml:3:2: models.a: names no model, and its provider "p" has no default_model; add model = "ID" with the provider's own id of the model`},
		},
		{
			"name of the implied model taken",
			local + "[providers.p]\nbase_url = \"http://p/v1\"\n[models.local]\nprovider = \"p\"\nmodel = \"x\"\n", nil,
			[]string{`herald.toml:4:1: providers.local.default_model: would be a model named "local", and [models.local] is one already, of provider "p"; ` +
				`add a [models.NAME] with provider = "local"`},
		},
		{
			"reserved name", local + "[models.auto]\nstrength = \"low\"\n", nil,
			[]string{"herald.toml:5:2: models.auto: is a reserved name; it stands for choosing by strength; take another name"},
		},
		{
			"name of digits", local + "[models.12]\nstrength = \"low\"\n", nil,
			[]string{"herald.toml:5:2: models.12: a name of digits alone would be taken for a place in the list of models; add a letter"},
		},
		{
			"impossible name", "[providers.\"my provider\"]\nbase_url = \"http://p/v1\"\n", nil,
			[]string{`herald.toml:1:2: providers."my provider": is no name that Herald can use; ` +
				"use up to 64 letters, digits, dots, hyphens and single underscores, beginning with a letter or digit"},
		},
		{
			"names that variables cannot tell apart", local + "[models.a-b]\nstrength=\"low\"\n[models.A_B]\nstrength=\"low\"\n", nil,
			[]string{`herald.toml:7:2: models.A_B: differs from "a-b" only in case or separators, so that no environment variable can tell them apart; rename one of them`},
		},
		{
			"key of another store", "[store]\nwait_replicas = 1\n",
			[]string{"HERALD_STORE__REQUIRE_PERSISTENCE=true"},
			[]string{
				"herald.toml:2:1: store.wait_replicas: applies to redis only, and store.url names sqlite; leave it out, or change store.url",
				"environment HERALD_STORE__REQUIRE_PERSISTENCE: store.require_persistence: applies to redis only, and store.url names sqlite; leave it out, or change store.url",
			},
		},
		{
			"key of another way to Redis", "[store]\nurl = \"redis+cluster://a,b\"\nsentinel_password_env = \"P\"\n",
			[]string{"P=x"},
			[]string{"herald.toml:3:1: store.sentinel_password_env: applies to sentinel only, and store.url names redis cluster; leave it out, or change store.url"},
		},
		{
			"a good variable does not excuse the file", "[log]\nlevel = \"loud\"\n",
			[]string{"HERALD_LOG__LEVEL=info"},
			[]string{`herald.toml:2:1: log.level: must be one of debug, info, warn, error, is "loud"`},
		},
		{
			"time zone of the machine", "timezone = \"Local\"\n", nil,
			[]string{`herald.toml:1:1: timezone: must be the name of a time zone; write one such as "Europe/Berlin" or "UTC"`},
		},
		{
			"socket that no system can bind", "data_dir = \"/" + strings.Repeat("x", 100) + "\"\n", nil,
			[]string{"herald.toml:1:1: socket: is 113 bytes long, a socket's path may have 103; set socket to a shorter path, such as one below /run or /tmp"},
		},
		{
			"identity without a team", "admins = [\"slack:U1\"]\n", nil,
			[]string{`herald.toml:1:1: admins: "slack:U1" is not an identity on slack; write slack:TEAM/USER (slack:T0123/U0456) or discord:NUMBER`},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := lines(problemsOf(t, options(tt.document, tt.env...)))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}
