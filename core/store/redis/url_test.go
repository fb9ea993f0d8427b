package redis_test

import (
	"errors"
	"strings"
	"testing"

	"herald/core/store"
	"herald/core/store/redis"
)

func TestURL(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ url, want string }{
		{"redis://h", "redis://h:6379/0"},
		{"redis://h:1234/3", "redis://h:1234/3"},
		{"redis://h?db=3", "redis://h:6379/3"},
		{"redis://:1234", "redis://127.0.0.1:1234/0"},
		{"redis://[::1]", "redis://[::1]:6379/0"},
		{"redis://[::1]:1234", "redis://[::1]:1234/0"},
		{"redis://user:p%40ss@h:1", "redis://h:1/0"},
		{"redis://:a@b:c@h:1", "redis://h:1/0"},
		{"rediss://h", "rediss://h:6379/0"},
		{"redis+sentinel://a,b:2,c:3/main", "redis+sentinel://a:26379,b:2,c:3/main?db=0"},
		{"rediss+sentinel://a/main?db=2", "rediss+sentinel://a:26379/main?db=2"},
		{"redis+cluster://a,b:2", "redis+cluster://a:6379,b:2"},
		{"rediss+cluster://u:p@a", "rediss+cluster://a:6379"},
		{"redis+cluster://a?prefix=test-2", "redis+cluster://a:6379 (prefix test-2)"},
		{"redis://h/1?prefix=herald", "redis://h:6379/1"},
	} {
		t.Run(c.url, func(t *testing.T) {
			t.Parallel()
			got, err := redis.Place(c.url)
			if err != nil || got != c.want {
				t.Errorf("got %q, %v, want %q", got, err, c.want)
			}
		})
	}
}

func TestURLSecrets(t *testing.T) {
	t.Parallel()
	user, password := redis.Login("redis://us%3Aer:p%40ss:w%2Ford@h:1")
	if user != "us:er" || password != "p@ss:w/ord" {
		t.Errorf("got %q and %q", user, password)
	}
}

func TestURLThatIsNone(t *testing.T) {
	t.Parallel()
	for url, says := range map[string]string{
		"":                                  "no scheme",
		"localhost:6379":                    "no scheme",
		"http://canary@h":                   `"http"`,
		"redis+ring://h":                    `"redis+ring"`,
		"redis://":                          "empty",
		"redis://a,b":                       "+sentinel or +cluster",
		"redis://h:port":                    "port",
		"redis://h:99999":                   "99999",
		"redis://h/x":                       `"x"`,
		"redis://h/-1":                      `"-1"`,
		"redis://h/1?db=1":                  "twice",
		"redis://h?timeout=3":               `"timeout"`,
		"redis://h?prefix={b}":              `"{b}"`,
		"redis://h?%zz":                     "query",
		"redis+sentinel://h":                "no master",
		"redis+cluster://h?db=1":            "only 0",
		"redis+cluster://a,,b":              "empty",
		"redis://user:canary%ZZ@h":          "escape",
		"redis://user:canary@h:port":        "port",
		"redis+cluster://x:canary@h,h:p?q=": "not one",
	} {
		t.Run(url, func(t *testing.T) {
			t.Parallel()
			_, err := redis.Open(t.Context(), redis.Options{URL: url})
			if !errors.Is(err, store.ErrInvalid) || !strings.Contains(err.Error(), says) || !strings.Contains(err.Error(), "redis://host:6379") {
				t.Fatalf("got %v, want it to say %q", err, says)
			}
			if strings.Contains(err.Error(), "canary") {
				t.Errorf("the error tells the password: %v", err)
			}
		})
	}
}

// FuzzURL: no URL makes it panic or tells a password.
func FuzzURL(f *testing.F) {
	for _, seed := range []string{"redis://:s3cr3t-pass@h:1/2", "rediss+sentinel://u:s3cr3t-pass@a,b:2/m?db=1", "redis+cluster://s3cr3t-pass:x@[::1],b", "redis://s3cr3t-pass@a@b", "@://"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, url string) {
		place, err := redis.Place(url)
		if err == nil && !strings.HasPrefix(place, "redis") {
			t.Errorf("%q is %q", url, place)
		}
	})
}
