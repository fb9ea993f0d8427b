package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"herald/config"
)

func TestStoreURL(t *testing.T) {
	t.Parallel()
	single := func(addr string) config.StoreTarget {
		return config.StoreTarget{Driver: "redis", Mode: config.ModeSingle, Addrs: []string{addr}}
	}
	tests := []struct {
		name, url string
		want      config.StoreTarget
		password  string
		shown     string // Store.URL, "" for the same
	}{
		{name: "memory", url: "memory:", want: config.StoreTarget{Driver: "memory"}},
		{
			name: "file from the root", url: "sqlite:/var/lib/h.db", want: config.StoreTarget{Driver: "sqlite", Path: "/var/lib/h.db"},
		},
		{
			name: "file from the root as an URL", url: "sqlite:///var/lib/h.db",
			want: config.StoreTarget{Driver: "sqlite", Path: "/var/lib/h.db"}, shown: "sqlite:/var/lib/h.db",
		},
		{
			name: "file beside the configuration", url: "sqlite:h.db",
			want: config.StoreTarget{Driver: "sqlite", Path: "/etc/herald/h.db"}, shown: "sqlite:/etc/herald/h.db",
		},
		{
			name: "file at home", url: "sqlite:~/h.db",
			want: config.StoreTarget{Driver: "sqlite", Path: "/home/ada/h.db"}, shown: "sqlite:/home/ada/h.db",
		},
		{name: "redis", url: "redis://redis", want: single("redis:6379")},
		{name: "redis with a port", url: "redis://10.0.0.1:7000", want: single("10.0.0.1:7000")},
		{name: "redis by IPv6", url: "redis://[::1]", want: single("[::1]:6379")},
		{name: "redis by IPv6 with a port", url: "redis://[::1]:7000", want: single("[::1]:7000")},
		{
			name: "redis with a database", url: "redis://redis:6379/3",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeSingle, Addrs: []string{"redis:6379"}, DB: 3},
		},
		{
			name: "redis with a user and a password", url: "redis://ada:p%40ss@redis/0", password: "p@ss", shown: "redis://ada@redis/0",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeSingle, Addrs: []string{"redis:6379"}, User: "ada"},
		},
		{
			name: "redis with a password alone", url: "rediss://:pass@redis", password: "pass", shown: "rediss://redis",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeSingle, TLS: true, Addrs: []string{"redis:6379"}},
		},
		{
			name: "sentinels", url: "redis+sentinel://s1:26379,s2/main?db=2",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeSentinel, Addrs: []string{"s1:26379", "s2:26379"}, Master: "main", DB: 2},
		},
		{
			name: "sentinels without a database", url: "rediss+sentinel://s1/main",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeSentinel, TLS: true, Addrs: []string{"s1:26379"}, Master: "main"},
		},
		{
			name: "options", url: "redis+cluster://n1?db=0&prefix=team-a",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeCluster, Addrs: []string{"n1:6379"}, Prefix: "team-a"},
		},
		{
			name: "database as an option", url: "redis://redis?db=4",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeSingle, Addrs: []string{"redis:6379"}, DB: 4},
		},
		{
			name: "cluster", url: "redis+cluster://n1:7001,n2:7002/0",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeCluster, Addrs: []string{"n1:7001", "n2:7002"}},
		},
		{
			name: "cluster with a password", url: "rediss+cluster://u:p@n1", password: "p", shown: "rediss+cluster://u@n1",
			want: config.StoreTarget{Driver: "redis", Mode: config.ModeCluster, TLS: true, Addrs: []string{"n1:6379"}, User: "u"},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := mustLoad(t, options("[store]\nurl = \""+tt.url+"\"\n")).Store
			if diff := cmp.Diff(tt.want, got.Target); diff != "" {
				t.Errorf("target differs (-want +got):\n%s", diff)
			}
			if tt.shown == "" {
				tt.shown = tt.url
			}
			if got.URL != tt.shown || got.Password.Reveal() != tt.password {
				t.Errorf("url %q, password %q; want %q, %q", got.URL, got.Password.Reveal(), tt.shown, tt.password)
			}
		})
	}
}

func TestBadStoreURL(t *testing.T) {
	t.Parallel()
	tests := []struct{ name, url, want string }{
		{"no scheme", "herald.db", "must begin with a store's name and a colon; write sqlite:PATH | redis:// | rediss:// | redis+sentinel:// | redis+cluster:// | memory:"},
		{"near scheme", "redi://redis", "names no store that exists; did you mean redis?"},
		{"redis of an unknown kind", "redis+ring://redis", "names no store that exists; write sqlite:PATH | redis:// | rediss:// | redis+sentinel:// | redis+cluster:// | memory:"},
		{"redis without slashes", "redis:redis", "redis: must be followed by //HOST:PORT"},
		{"redis without a host", "redis://", "address number 1 is not HOST or HOST:PORT"},
		{"redis with a word as port", "redis://redis:port", "address number 1 is not HOST or HOST:PORT"},
		{"redis with port 0", "redis://redis:0", "address number 1 is not HOST or HOST:PORT"},
		{"half an IPv6 address", "redis://[::1", "address number 1 is not HOST or HOST:PORT"},
		{"several addresses", "redis://a,b", "redis:// takes one address, has 2; write redis+cluster:// or redis+sentinel:// for several"},
		{"empty address in a list", "redis+cluster://a,,b", "address number 2 is not HOST or HOST:PORT"},
		{"database is a word", "redis://redis/main", "the database must be a number from 0 to 1023"},
		{"database below 0", "redis://redis/-1", "the database must be a number from 0 to 1023"},
		{"options", "redis://redis/0?db=1", "names the database twice; leave out one of /NUMBER and ?db=NUMBER"},
		{"sentinels without a master", "redis+sentinel://a,b", "must name the sentinels' master after the hosts; write redis+sentinel://HOST1:26379,HOST2/MASTER?db=0"},
		{"sentinels with another option", "redis+sentinel://a/m?password=x", "takes only the options ?db=NUMBER and &prefix=NAME; name a password in store.password_env"},
		{"a prefix that is no name", "redis://redis?prefix=A:b", "the prefix of keys must be one name of a-z, 0-9 and -"},
		{"a database given twice", "redis://redis?db=1&db=2", "takes only the options ?db=NUMBER and &prefix=NAME; name a password in store.password_env"},
		{"database of a cluster", "redis+cluster://a/1", "a cluster has database 0 only"},
		{
			"password with a slash", "redis://ada:a/b@redis",
			"holds an @ after the hosts; write /, ?, # and @ in a password percent-encoded, or use store.password_env",
		},
		{"fragment", "redis://redis#x", "takes no # part; write # in a password as %23"},
		{"memory with a name", "memory:x", `the memory store takes no address; write "memory:"`},
		{"sqlite without a path", "sqlite:", "sqlite: needs the path of a file; write sqlite:herald.db"},
		{"sqlite in memory", "sqlite::memory:", `sqlite: needs the path of a file; write "memory:" for a store that is gone at the end`},
		{"sqlite with a host", "sqlite://host/h.db", "sqlite takes no host; write sqlite:PATH, or sqlite:///PATH from the root on"},
		{"sqlite with a folder", "sqlite:/var/lib/", "sqlite: needs the path of a file, is that of a folder; add the file's name, herald.db"},
		{"sqlite with options", "sqlite:h.db?mode=ro", "sqlite: takes no options after the path; see store.sqlite_sync"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			got := lines(problemsOf(t, options("[store]\nurl = \""+tt.url+"\"\n")))
			if diff := cmp.Diff([]string{"herald.toml:2:1: store.url: " + tt.want}, got); diff != "" {
				t.Errorf("problems differ (-want +got):\n%s", diff)
			}
		})
	}
}

func TestStorePassword(t *testing.T) {
	t.Parallel()
	document := "[store]\nurl = \"redis://ada@redis:6379/2\"\npassword_env = \"REDIS_PASSWORD\"\n"
	store := mustLoad(t, options(document, "REDIS_PASSWORD=p@ss/w")).Store
	if got := store.Connect().Reveal(); got != "redis://ada:p%40ss%2Fw@redis:6379/2" {
		t.Errorf("the URL to connect with is %q", got)
	}
	store = mustLoad(t, options("[store]\nurl = \"redis+cluster://:x@a,b\"\n")).Store
	if got := store.Connect().Reveal(); got != "redis+cluster://:x@a,b" {
		t.Errorf("the URL to connect with is %q", got)
	}
	store = mustLoad(t, options("[store]\nurl = \"redis://redis\"\n")).Store
	if got := store.Connect().Reveal(); got != "redis://redis" {
		t.Errorf("the URL to connect with is %q", got)
	}
	sentinels := "[store]\nurl = \"redis+sentinel://s/m\"\nsentinel_password_env = \"S\"\npassword_env = \"P\"\n"
	if store = mustLoad(t, options(sentinels, "S=s", "P=p")).Store; store.Password.Reveal() != "p" || store.SentinelPassword.Reveal() != "s" {
		t.Errorf("password %q, of the sentinels %q", store.Password.Reveal(), store.SentinelPassword.Reveal())
	}
	got := lines(problemsOf(t, options("[store]\nurl = \"redis://:x@redis\"\npassword_env = \"A\"\n", "A=y")))
	if diff := cmp.Diff([]string{"herald.toml:3:1: store.url: has a password of its own; leave out one of the two"}, got); diff != "" {
		t.Errorf("problems differ (-want +got):\n%s", diff)
	}
}
