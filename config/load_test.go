package config_test

import (
	"errors"
	"io/fs"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"herald/config"
)

func TestDefaults(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, config.Options{Dir: "/home/ada/job", Env: []string{home}, ReadFile: disk{}.read})
	if cfg.File != "" || len(cfg.Providers)+len(cfg.Models)+len(cfg.Admins) != 0 {
		t.Errorf("something is configured where nothing was given: %+v", cfg)
	}
	const data = "/home/ada/.local/share/herald"
	got := []any{
		cfg.DataDir, cfg.Store.URL, cfg.Store.Target.Path, cfg.Store.SQLiteSync, cfg.Socket, cfg.Agents.Dir, cfg.HTTP.Listen,
		cfg.Log, cfg.Location().String(), cfg.Turn, cfg.Workers.Turns, cfg.Outbox, cfg.Intake.BotExchanges, cfg.Intake.BotWindow,
		cfg.Intake.BotSilence, cfg.ShutdownGrace,
	}
	want := []any{
		data, "sqlite:" + data + "/herald.db", data + "/herald.db", "full", data + "/herald.sock", data + "/agents", "127.0.0.1:8080",
		config.Log{Level: "info", Format: "text"},
		"UTC",
		config.Turn{Lease: 30 * time.Second, MaxRounds: 20, CompactPercent: 70, StreamEdit: time.Second},
		64,
		config.Outbox{ChannelInterval: time.Second, WorkspaceInterval: 50 * time.Millisecond, AnswerMaxAge: 15 * time.Minute, MaxAttempts: 5},
		20, time.Minute, time.Minute, 25 * time.Second,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("defaults differ (-want +got):\n%s", diff)
	}
}

func TestDataFolderFollowsXDG(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, options("", "XDG_DATA_HOME=/data"))
	if cfg.DataDir != "/data/herald" || cfg.Socket != "/data/herald/herald.sock" {
		t.Errorf("data folder %q, socket %q", cfg.DataDir, cfg.Socket)
	}
	opts := options("")
	opts.Env = nil
	want := "environment HOME: data_dir: has no default, because neither HOME nor XDG_DATA_HOME is an absolute path; " +
		"set data_dir, or HERALD_DATA_DIR, to a folder that Herald may write to"
	if diff := cmp.Diff([]string{want}, lines(problemsOf(t, opts))); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
	opts.Env = []string{"HERALD_DATA_DIR=/d"}
	if cfg := mustLoad(t, opts); cfg.Store.Target.Path != "/d/herald.db" {
		t.Errorf("the store does not follow the data folder: %s", cfg.Store.URL)
	}
}

func TestLaterSourcesWin(t *testing.T) {
	t.Parallel()
	opts := options("[log]\nlevel = \"debug\"\nformat = \"json\"\n", "HERALD_LOG__LEVEL=error", "HERALD_WORKERS__TURNS= 8 ")
	cfg := mustLoad(t, opts)
	got := map[string]string{}
	for _, key := range []string{"log.level", "log.format", "workers.turns", "turn.max_rounds", "no.such"} {
		got[key] = cfg.Source(key).String()
	}
	want := map[string]string{
		"log.level": "env HERALD_LOG__LEVEL", "log.format": "herald.toml:3", "workers.turns": "env HERALD_WORKERS__TURNS",
		"turn.max_rounds": "default", "no.such": "default",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("sources differ (-want +got):\n%s", diff)
	}
	if cfg.Log.Level != "error" || cfg.Log.Format != "json" || cfg.Workers.Turns != 8 {
		t.Errorf("level %s, format %s, turns %d", cfg.Log.Level, cfg.Log.Format, cfg.Workers.Turns)
	}
}

func TestWhichFile(t *testing.T) {
	t.Parallel()
	level := func(l string) string { return "[log]\nlevel = \"" + l + "\"\n" }
	all := disk{
		"/w/herald.toml": level("debug"), "/w/named.toml": level("warn"), "/env.toml": level("error"),
		"/home/ada/.config/herald/herald.toml": level("info"), "/home/ada/mine.toml": level("warn"), "/xdg/herald/herald.toml": level("error"),
	}
	without := func(paths ...string) disk {
		left := disk{}
		for path, content := range all {
			if !strings.Contains(strings.Join(paths, " "), path) {
				left[path] = content
			}
		}
		return left
	}
	tests := []struct {
		name, file string
		env        []string
		disk       disk
		want       string
	}{
		{"the command line first", "named.toml", []string{"HERALD_CONFIG=/env.toml"}, all, "named.toml"},
		{"then the variable", "", []string{"HERALD_CONFIG=/env.toml"}, all, "/env.toml"},
		{"an empty variable names nothing", "", []string{"HERALD_CONFIG="}, all, "herald.toml"},
		{"then the working folder", "", nil, all, "herald.toml"},
		{"then the user's folder", "", nil, without("/w/herald.toml"), "/home/ada/.config/herald/herald.toml"},
		{"the user's folder by XDG", "", []string{"XDG_CONFIG_HOME=/xdg"}, without("/w/herald.toml"), "/xdg/herald/herald.toml"},
		{"a relative XDG folder is ignored", "", []string{"XDG_CONFIG_HOME=xdg"}, without("/w/herald.toml"), "/home/ada/.config/herald/herald.toml"},
		{"the home folder", "~/mine.toml", nil, all, "~/mine.toml"},
		{"none", "", nil, disk{}, ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			opts := config.Options{File: tt.file, Dir: "/w", Env: append([]string{home}, tt.env...), ReadFile: tt.disk.read}
			cfg := mustLoad(t, opts)
			if cfg.File != tt.want {
				t.Errorf("read %q, want %q", cfg.File, tt.want)
			}
			if (tt.want == "") != (len(cfg.ReadFiles()) == 0) {
				t.Errorf("read the files %q", cfg.ReadFiles())
			}
		})
	}
}

func TestUnreadableFile(t *testing.T) {
	t.Parallel()
	denied := func(path string) ([]byte, error) {
		return nil, &fs.PathError{Op: "open", Path: path, Err: fs.ErrPermission}
	}
	tests := []struct {
		name string
		opts config.Options
		want string
	}{
		{
			"missing, named on the command line",
			config.Options{File: "no.toml", Dir: "/w", Env: []string{home}, ReadFile: disk{}.read},
			"no.toml: there is no such file; check the path, or leave it out to run without a file",
		},
		{
			"missing, named by the variable",
			config.Options{Dir: "/w", Env: []string{home, "HERALD_CONFIG=no.toml"}, ReadFile: disk{}.read},
			"environment HERALD_CONFIG: there is no such file; check the path, or leave it out to run without a file",
		},
		{
			"found without the right to read it",
			config.Options{Dir: "/w", Env: []string{home}, ReadFile: denied},
			"herald.toml: cannot be read: permission denied; give this account the right to read it, or name another file with --config",
		},
		{
			"a file that is no configuration", options(strings.Repeat("#", 1<<20+1)),
			"herald.toml: is larger than 1 MiB, which no configuration is; check the path",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			if diff := cmp.Diff([]string{tt.want}, lines(problemsOf(t, tt.opts))); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestPathsAreAbsolute(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, config.Options{
		File: "/etc/herald/herald.toml", Dir: "/home/ada/job",
		Env:      []string{home, "HERALD_SKILLS__DIR=skills", "HERALD_FILES__DIR=~/files"},
		ReadFile: disk{"/etc/herald/herald.toml": "data_dir = \"data\"\n[agents]\ndir = \"../agents\"\n[store]\nurl = \"sqlite:x.db\"\n"}.read,
	})
	got := []string{cfg.DataDir, cfg.Agents.Dir, cfg.Skills.Dir, cfg.Files.Dir, cfg.Store.Target.Path, cfg.Socket}
	want := []string{"/etc/herald/data", "/etc/agents", "/home/ada/job/skills", "/home/ada/files", "/etc/herald/x.db", "/etc/herald/data/herald.sock"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("paths differ (-want +got):\n%s", diff)
	}
}

func TestSocketThatIsTooLongOnceAbsolute(t *testing.T) {
	t.Parallel()
	deep := "/" + strings.Repeat("d", 100)
	opts := config.Options{File: deep + "/herald.toml", Dir: "/", Env: []string{home}}
	opts.ReadFile = disk{opts.File: "socket = \"h.sock\"\n"}.read
	want := []string{opts.File + ":1:1: socket: is 108 bytes long, a socket's path may have 103; set socket to a shorter path, such as one below /run or /tmp"}
	if diff := cmp.Diff(want, lines(problemsOf(t, opts))); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}

func TestModels(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, options(`
[providers.local]
base_url = "http://localhost:11434/v1/"
default_model = "llama3.1:8b"
[providers."cloud.eu"]
api_key_env = "CLOUD_KEY"
default_model = "gpt-4.1-mini"
stream_usage = false
[models."gpt-4.1"]
provider = "cloud.eu"
model = "gpt-4.1"
strength = "high"
temperature = 0
max_output_tokens = 1000
input_price = 2
[models.cheap]
provider = "cloud.eu"
priority = 5
scope = "everyday"
`, "CLOUD_KEY=k", "HERALD_MODELS__GPT_4_1__CONTEXT_TOKENS=1000000"))
	want := []config.Model{
		{
			Name: "gpt-4.1", Provider: "cloud.eu", Model: "gpt-4.1", Strength: "high", Priority: 100, ContextTokens: 1_000_000,
			Temperature: new(0.0), MaxOutputTokens: new(1000), InputPrice: new(2.0),
		},
		{Name: "cheap", Provider: "cloud.eu", Model: "gpt-4.1-mini", Priority: 5, ContextTokens: 128_000, Scope: "everyday"},
		{Name: "local", Provider: "local", Model: "llama3.1:8b", Priority: 100, ContextTokens: 128_000, Implied: true},
	}
	if diff := cmp.Diff(want, cfg.Models); diff != "" {
		t.Errorf("models differ (-want +got):\n%s", diff)
	}
	wantProviders := []config.Provider{
		{Name: "local", Type: "openai", BaseURL: "http://localhost:11434/v1", DefaultModel: "llama3.1:8b", StreamUsage: true},
		{
			Name: "cloud.eu", Type: "openai", BaseURL: "https://api.openai.com/v1", DefaultModel: "gpt-4.1-mini",
			APIKeyEnv: "CLOUD_KEY", APIKey: config.NewSecret("k"),
		},
	}
	if diff := cmp.Diff(wantProviders, cfg.Providers); diff != "" {
		t.Errorf("providers differ (-want +got):\n%s", diff)
	}
	if m, ok := cfg.Model("cheap"); !ok || m.Priority != 5 {
		t.Errorf("Model(cheap) = %+v, %v", m, ok)
	}
	if _, ok := cfg.Model("CHEAP"); ok {
		t.Error("names of models differ by case")
	}
}

func TestModelsFromTheEnvironmentAlone(t *testing.T) {
	t.Parallel()
	cfg := mustLoad(t, config.Options{Dir: "/w", ReadFile: disk{}.read, Env: []string{
		home,
		"HERALD_PROVIDERS__LOCAL__BASE_URL=http://localhost:1/v1",
		"HERALD_PROVIDERS__CLOUD__API_KEY_ENV=HERALD_CLOUD_KEY",
		"HERALD_CLOUD_KEY=k", // named by the line above, so no unknown setting
		"HERALD_PROVIDERS__CLOUD__DEFAULT_MODEL=big",
		"HERALD_MODELS__LOCAL__MODEL=small",
		"HERALD_ADMINS=slack:T1/U1, discord:789,",
	}})
	var names []string
	for _, m := range cfg.Models {
		names = append(names, m.Name+"="+m.Model+"@"+m.Provider)
	}
	if diff := cmp.Diff([]string{"local=small@local", "cloud=big@cloud"}, names); diff != "" {
		t.Errorf("models differ (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"slack:T1/U1", "discord:789"}, cfg.Admins); diff != "" {
		t.Errorf("admins differ (-want +got):\n%s", diff)
	}
	if p, _ := cfg.Provider("cloud"); p.APIKey.Reveal() != "k" {
		t.Error("the key is not the one of the variable")
	}
}

func TestSecretFromAFile(t *testing.T) {
	t.Parallel()
	opts := options(local+"api_key_file = \"secrets/key\"\n", "HERALD_LOG__LEVEL=warn")
	opts.ReadFile = both(opts.ReadFile, disk{"/etc/herald/secrets/key": "  k-1\r\n"}.read)
	cfg := mustLoad(t, opts)
	if got := cfg.Providers[0].APIKey.Reveal(); got != "k-1" {
		t.Errorf("the key is %q", got)
	}
	if diff := cmp.Diff([]string{"/etc/herald/herald.toml", "/etc/herald/secrets/key"}, cfg.ReadFiles()); diff != "" {
		t.Errorf("files read differ (-want +got):\n%s", diff)
	}
}

func TestForeignVariablesAreLeftAlone(t *testing.T) {
	t.Parallel()
	opts := options(local,
		// A Service named herald, and one named herald-redis.
		"HERALD_SERVICE_HOST=10.0.0.1", "HERALD_SERVICE_PORT=80", "HERALD_SERVICE_PORT_HTTP=80", "HERALD_PORT=tcp://10.0.0.1:80",
		"HERALD_PORT_80_TCP=tcp://10.0.0.1:80", "HERALD_PORT_80_TCP_ADDR=10.0.0.1", "HERALD_REDIS_SERVICE_HOST=10.0.0.2",
		"HERALD_REDIS_PORT=tcp://10.0.0.2:6379", "HERALD_REDIS_PORT_6379_TCP_PROTO=tcp",
		"HERALD_TOOL_MODE=1", "HERALDRY=x", "HERALD_LOG__LEVEL=", "OTHER__KEY=1")
	opts.ExtraEnv = []string{"HERALD_TOOL_MODE"}
	if cfg := mustLoad(t, opts); cfg.Log.Level != "info" {
		t.Errorf("an empty variable counts as not set, level is %s", cfg.Log.Level)
	}
	opts.ExtraEnv = nil
	if got := problemsOf(t, opts); len(got) != 1 || got[0].Env != "HERALD_TOOL_MODE" {
		t.Errorf("problems: %v", got)
	}
	if got := problemsOf(t, options(local, "HERALD_PORT=8080")); len(got) != 1 {
		t.Errorf("a port that Kubernetes did not set was meant by somebody: %v", got)
	}
}

func TestProblemsAreAnError(t *testing.T) {
	t.Parallel()
	_, err := config.Load(options("x = 1\n"))
	problems, ok := errors.AsType[config.Problems](err)
	if !ok {
		t.Fatalf("%T is no Problems", err)
	}
	if !strings.HasPrefix(err.Error(), "the configuration has 1 problem:\n  herald.toml:1:1: x: unknown key") {
		t.Errorf("text: %s", err)
	}
	if where := problems[0].Where(); where != "herald.toml:1:1" {
		t.Errorf("place: %s", where)
	}
}
