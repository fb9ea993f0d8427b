package config

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// The drivers that a store URL can name.
const (
	driverSQLite = "sqlite"
	driverRedis  = "redis"
	driverMemory = "memory"
)

// The ways in which Redis can be reached.
const (
	ModeSingle   = "single"
	ModeSentinel = "sentinel"
	ModeCluster  = "cluster"
)

const storeForms = "sqlite:PATH | redis:// | rediss:// | redis+sentinel:// | redis+cluster:// | memory:"

// StoreTarget is a store URL taken apart.
type StoreTarget struct {
	Driver string // "sqlite", "redis" or "memory"
	Path   string // of the SQLite file, absolute once loaded

	Mode   string   // of Redis: ModeSingle, ModeSentinel or ModeCluster
	TLS    bool     // rediss
	Addrs  []string // host:port; of the sentinels for ModeSentinel
	Master string   // name of the sentinels' master
	DB     int      // number of the database
	Prefix string   // begins every key, "" for Herald's own
	User   string   // "" for the default user
}

// kind names the driver and, for Redis, how it is reached.
func (t StoreTarget) kind() string {
	if t.Driver == driverRedis && t.Mode != ModeSingle {
		return driverRedis + " " + t.Mode
	}
	return t.Driver
}

// Connect returns the store's URL with its password, for clients that take an
// URL and nothing else.
func (s Store) Connect() Secret {
	if !s.Password.IsSet() {
		return NewSecret(s.URL)
	}
	scheme, rest, _ := strings.Cut(s.URL, "://")
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		rest = rest[i+1:]
	}
	return NewSecret(scheme + "://" + url.UserPassword(s.Target.User, s.Password.Reveal()).String() + "@" + rest)
}

// storeURL is what a parsed store URL gives.
type storeURL struct {
	target   StoreTarget
	password string
	bare     string // the URL without its password
}

// parseStoreURL takes a store URL apart. Its faults never repeat a part of the
// URL in which a password may have ended up.
func parseStoreURL(s string) (storeURL, *fault) {
	scheme, rest, found := strings.Cut(s, ":")
	if !found {
		return storeURL{}, faultf("must begin with a store's name and a colon").withHint("write %s", storeForms)
	}
	switch scheme {
	case driverMemory:
		if rest != "" {
			return storeURL{}, faultf("the memory store takes no address").withHint(`write "memory:"`)
		}
		return storeURL{target: StoreTarget{Driver: driverMemory}, bare: s}, nil
	case driverSQLite:
		return parseSQLite(rest)
	}
	redis, mode, _ := strings.Cut(scheme, "+")
	switch {
	case redis != "redis" && redis != "rediss", strings.Contains(scheme, "+") && mode != ModeSentinel && mode != ModeCluster:
		f := faultf("names no store that exists").withHint("write %s", storeForms)
		if near := nearest(scheme, storeSchemes()); near != "" {
			f.hint = "did you mean " + near + "?"
		}
		return storeURL{}, f
	case !strings.HasPrefix(rest, "//"):
		return storeURL{}, faultf("%s: must be followed by //HOST:PORT", scheme)
	case mode == "":
		mode = ModeSingle
	}
	return parseRedis(scheme, StoreTarget{Driver: driverRedis, Mode: mode, TLS: redis == "rediss"}, rest[len("//"):])
}

func storeSchemes() []string {
	return []string{
		driverSQLite, "redis", "rediss", "redis+sentinel", "rediss+sentinel", "redis+cluster", "rediss+cluster", driverMemory,
	}
}

func parseSQLite(path string) (storeURL, *fault) {
	if strings.HasPrefix(path, "//") {
		path = path[len("//"):]
		if !strings.HasPrefix(path, "/") {
			return storeURL{}, faultf("sqlite takes no host").withHint("write sqlite:PATH, or sqlite:///PATH from the root on")
		}
	}
	switch {
	case path == "":
		return storeURL{}, faultf("sqlite: needs the path of a file").withHint("write sqlite:herald.db")
	case path == ":memory:":
		return storeURL{}, faultf("sqlite: needs the path of a file").withHint(`write "memory:" for a store that is gone at the end`)
	case strings.HasSuffix(path, "/"):
		return storeURL{}, faultf("sqlite: needs the path of a file, is that of a folder").withHint("add the file's name, herald.db")
	case strings.ContainsAny(path, "?#"):
		return storeURL{}, faultf("sqlite: takes no options after the path").withHint("see store.sqlite_sync")
	}
	return storeURL{target: StoreTarget{Driver: driverSQLite, Path: path}, bare: driverSQLite + ":" + path}, nil
}

func parseRedis(scheme string, t StoreTarget, rest string) (storeURL, *fault) {
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, tail := rest[:end], rest[end:]
	if strings.Contains(tail, "@") {
		return storeURL{}, faultf("holds an @ after the hosts").
			withHint("write /, ?, # and @ in a password percent-encoded, or use store.password_env")
	}
	out := storeURL{}
	hosts := authority
	if i := strings.LastIndexByte(authority, '@'); i >= 0 {
		user, password, f := parseUserInfo(authority[:i])
		if f != nil {
			return storeURL{}, f
		}
		t.User, out.password, hosts = user, password, authority[i+1:]
	}
	port := "6379"
	if t.Mode == ModeSentinel {
		port = "26379"
	}
	for i, host := range strings.Split(hosts, ",") {
		addr, ok := hostPort(host, port)
		if !ok {
			return storeURL{}, faultf("address number %d is not HOST or HOST:PORT", i+1)
		}
		t.Addrs = append(t.Addrs, addr)
	}
	if t.Mode == ModeSingle && len(t.Addrs) > 1 {
		return storeURL{}, faultf("%s:// takes one address, has %d", scheme, len(t.Addrs)).
			withHint("write %s+cluster:// or %s+sentinel:// for several", scheme, scheme)
	}
	if f := t.parseTail(tail); f != nil {
		return storeURL{}, f
	}
	out.target = t
	out.bare = scheme + "://" + hosts + tail
	if t.User != "" {
		out.bare = scheme + "://" + url.User(t.User).String() + "@" + hosts + tail
	}
	return out, nil
}

// parseTail reads what follows the hosts: "/DB" or "/MASTER", and options.
func (t *StoreTarget) parseTail(tail string) *fault {
	if strings.Contains(tail, "#") {
		return faultf("takes no # part").withHint("write # in a password as %%23")
	}
	path, query, hasQuery := strings.Cut(tail, "?")
	path = strings.TrimPrefix(path, "/")
	db := ""
	if hasQuery {
		var f *fault
		if db, f = t.parseOptions(query); f != nil {
			return f
		}
	}
	switch {
	case t.Mode == ModeSentinel && (path == "" || strings.Contains(path, "/")):
		return faultf("must name the sentinels' master after the hosts").
			withHint("write redis+sentinel://HOST1:26379,HOST2/MASTER?db=0")
	case t.Mode == ModeSentinel:
		t.Master = path
	case path != "" && db != "":
		return faultf("names the database twice").withHint("leave out one of /NUMBER and ?db=NUMBER")
	case path != "":
		db = path
	}
	if db == "" {
		return nil
	}
	n, err := strconv.Atoi(db)
	if err != nil || n < 0 || n > 1023 {
		return faultf("the database must be a number from 0 to 1023")
	}
	if t.Mode == ModeCluster && n != 0 {
		return faultf("a cluster has database 0 only")
	}
	t.DB = n
	return nil
}

// parseOptions reads "db=NUMBER&prefix=NAME". It repeats nothing: an unknown
// option may be a password.
func (t *StoreTarget) parseOptions(query string) (db string, _ *fault) {
	for option := range strings.SplitSeq(query, "&") {
		key, value, _ := strings.Cut(option, "=")
		switch {
		case key == "db" && value != "" && db == "":
			db = value
		case key == "prefix" && t.Prefix == "" && value != "" && strings.Trim(value, "abcdefghijklmnopqrstuvwxyz0123456789-") == "":
			t.Prefix = value
		case key == "prefix":
			return "", faultf("the prefix of keys must be one name of a-z, 0-9 and -")
		default:
			return "", faultf("takes only the options ?db=NUMBER and &prefix=NAME").withHint("name a password in store.password_env")
		}
	}
	return db, nil
}

func parseUserInfo(s string) (user, password string, _ *fault) {
	user, password, _ = strings.Cut(s, ":")
	var errUser, errPassword error
	user, errUser = url.PathUnescape(user)
	password, errPassword = url.PathUnescape(password)
	if errUser != nil || errPassword != nil {
		return "", "", faultf("user or password is not percent-encoded").
			withHint("write %% in a password as %%25, or use store.password_env")
	}
	return user, password, nil
}

// hostPort checks one address and adds the port that is missing.
func hostPort(s, port string) (string, bool) {
	host := s
	if strings.HasPrefix(s, "[") || strings.Contains(s, ":") {
		h, p, err := net.SplitHostPort(s)
		switch {
		case err == nil:
			host, port = h, p
		case strings.HasPrefix(s, "[") && strings.HasSuffix(s, "]"):
			host = s[1 : len(s)-1]
		default:
			return "", false
		}
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 1 || n > 65535 || !isHost(host) {
		return "", false
	}
	return net.JoinHostPort(host, port), true
}

func isHost(host string) bool {
	if strings.Contains(host, ":") {
		return net.ParseIP(host) != nil
	}
	return host != "" && strings.Trim(host, bareKey+".") == ""
}

func checkStoreURL(s string) *fault {
	_, f := parseStoreURL(s)
	return f
}
