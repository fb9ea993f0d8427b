package redis

import (
	"cmp"
	"fmt"
	"net"
	"net/url"
	"strconv"
	"strings"

	"herald/core/store"
)

// target is what a URL names.
type target struct {
	addrs          []string
	tls            bool
	cluster        bool
	master         string // the name of a Sentinel group, "" for the other forms
	user, password string
	db             int
	prefix         string // begins every key
	sentinels      bool
}

// parseURL reads one of the forms that [Options] documents. Its errors never repeat the user's part of the URL.
func parseURL(raw string) (target, error) {
	bad := func(format string, args ...any) (target, error) {
		return target{}, fmt.Errorf("redis: the store's URL %s; it is redis://host:6379, redis+sentinel://host:26379,host:26379/master or "+
			"redis+cluster://host:6379,host:6379, or rediss for TLS: %w", fmt.Sprintf(format, args...), store.ErrInvalid)
	}
	scheme, rest, ok := strings.Cut(raw, "://")
	if !ok {
		return bad("has no scheme")
	}
	t, port := target{}, "6379"
	base, form, _ := strings.Cut(scheme, "+")
	switch base {
	case "redis":
	case "rediss":
		t.tls = true
	default:
		return bad("has the scheme %q", scheme)
	}
	switch form {
	case "":
	case "cluster":
		t.cluster = true
	case "sentinel":
		t.sentinels, port = true, "26379"
	default:
		return bad("has the scheme %q", scheme)
	}
	rest, query, _ := strings.Cut(rest, "?")
	authority, path, _ := strings.Cut(rest, "/")
	if at := strings.LastIndex(authority, "@"); at >= 0 {
		user, password, _ := strings.Cut(authority[:at], ":")
		var err1, err2 error
		t.user, err1 = url.PathUnescape(user)
		t.password, err2 = url.PathUnescape(password)
		if cmp.Or(err1, err2) != nil {
			return bad("has a user or password with a broken %%XX escape")
		}
		authority = authority[at+1:]
	}
	for host := range strings.SplitSeq(authority, ",") {
		addr, err := address(host, port)
		if err != nil {
			return bad("names a host that is not one (%q: %v)", host, err)
		}
		t.addrs = append(t.addrs, addr)
	}
	if form == "" && len(t.addrs) > 1 {
		return bad("names several hosts without saying +sentinel or +cluster")
	}
	values, err := url.ParseQuery(query)
	if err != nil {
		return bad("has a query that cannot be read")
	}
	db := values.Get("db")
	for key := range values {
		if key != "db" && key != "prefix" {
			return bad("has the unknown parameter %q (there are db and prefix)", key)
		}
	}
	t.prefix = cmp.Or(values.Get("prefix"), defaultPrefix)
	if strings.ContainsFunc(t.prefix, func(r rune) bool { return !strings.ContainsRune("abcdefghijklmnopqrstuvwxyz0123456789-", r) }) {
		return bad("has the prefix %q, which may have a-z, 0-9 and '-' only", t.prefix)
	}
	switch {
	case t.sentinels && path == "":
		return bad("names no master; it stands behind the hosts, as in redis+sentinel://host/mymaster")
	case t.sentinels:
		t.master = path
	case path != "" && db != "":
		return bad("names the database twice")
	case path != "":
		db = path
	}
	if db != "" {
		if t.db, err = strconv.Atoi(db); err != nil || t.db < 0 {
			return bad("names the database %q, which is not a number from 0", db)
		}
	}
	if t.cluster && t.db != 0 {
		return bad("names database %d, and a cluster has only 0", t.db)
	}
	return t, nil
}

func address(host, port string) (string, error) {
	if host == "" {
		return "", fmt.Errorf("it is empty")
	}
	h, p, err := net.SplitHostPort(host)
	if err != nil {
		// No port, or an IPv6 address that stands alone in its brackets.
		h, p, err = net.SplitHostPort(host + ":" + port)
		if err != nil {
			return "", fmt.Errorf("neither host nor host:port")
		}
	}
	if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
		return "", fmt.Errorf("port %q", p)
	}
	if h == "" {
		h = "127.0.0.1"
	}
	return net.JoinHostPort(h, p), nil
}

// String names the place without its secrets.
func (t target) String() string {
	scheme := "redis"
	if t.tls {
		scheme = "rediss"
	}
	hosts := strings.Join(t.addrs, ",")
	place := fmt.Sprintf("%s://%s/%d", scheme, hosts, t.db)
	switch {
	case t.cluster:
		place = scheme + "+cluster://" + hosts
	case t.sentinels:
		place = fmt.Sprintf("%s+sentinel://%s/%s?db=%d", scheme, hosts, t.master, t.db)
	}
	if t.prefix == defaultPrefix {
		return place
	}
	return fmt.Sprintf("%s (prefix %s)", place, t.prefix)
}
