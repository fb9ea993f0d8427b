package config

import (
	"net"
	"net/url"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"time"
	// Containers often have no zone files; a configured zone must load anyway.
	_ "time/tzdata"

	"herald/core/tool/gate"
)

func checkZone(s string) *fault {
	// "Local" would mean something else on every machine.
	if s == "Local" {
		return faultf("must be the name of a time zone").withHint(`write one such as "Europe/Berlin" or "UTC"`)
	}
	if _, err := time.LoadLocation(s); err != nil {
		return faultf("no time zone is named %q", shorten(s)).withHint(`write an IANA name such as "Europe/Berlin" or "UTC"`)
	}
	return nil
}

func checkListen(s string) *fault {
	if s == listenOff {
		return nil
	}
	const hint = `write HOST:PORT, such as "127.0.0.1:8080", ":8080" for all interfaces, or "off"`
	host, port, err := net.SplitHostPort(s)
	if err != nil {
		return faultf("%q is not an address", shorten(s)).withHint(hint)
	}
	n, err := strconv.Atoi(port)
	if err != nil || n < 0 || n > 65535 || host != "" && !isHost(host) {
		return faultf("%q is not an address", shorten(s)).withHint(hint)
	}
	return nil
}

const listenOff = "off"

// checkBaseURL never repeats the text: people paste addresses with a key in
// them.
func checkBaseURL(s string) *fault {
	u, err := url.Parse(s)
	switch {
	case err != nil:
		return faultf("is not an address").withHint("write http://HOST:PORT/v1 or https://HOST/v1")
	case u.Scheme != "http" && u.Scheme != "https" || u.Hostname() == "":
		return faultf("must begin with http:// or https:// and a host").withHint("such as http://localhost:11434/v1")
	case u.User != nil:
		return faultf("must not hold a user or password").withHint("use api_key_env or api_key_file")
	case u.RawQuery != "" || u.ForceQuery || u.Fragment != "":
		return faultf("must not have a part after ? or #").withHint("use api_key_env or api_key_file for a key")
	case strings.HasSuffix(strings.TrimRight(u.Path, "/"), "/chat/completions"):
		return faultf("must not end in /chat/completions").withHint("leave that part out; it is added to each request")
	}
	return nil
}

// checkEnvName never repeats the text: what is no name may be the secret
// itself, put into the wrong key.
func checkEnvName(s string) *fault {
	if envNameRe().MatchString(s) {
		return nil
	}
	return faultf("must be the name of an environment variable (letters, digits, _), not the secret itself")
}

func envNameRe() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,127}$`) }

// plainName reports whether an unset variable's name may be repeated in a
// problem. A key pasted by mistake can look like a name; one in capitals with
// an underscore is surely meant as one.
func plainName(s string) bool {
	return regexp.MustCompile(`^[A-Z][A-Z0-9]*(_[A-Z0-9]+)+$`).MatchString(s) || len(s) <= 12
}

// plainPath likewise for a file that cannot be read.
func plainPath(s string) bool {
	for _, prefix := range []string{"/", "./", "../", "~/"} {
		if strings.HasPrefix(s, prefix) {
			return true
		}
	}
	return !regexp.MustCompile(`[A-Za-z0-9+_=-]{16}`).MatchString(s)
}

func checkIdentity(s string) *fault {
	const hint = "write slack:TEAM/USER (slack:T0123/U0456) or discord:NUMBER"
	platform, id, _ := strings.Cut(s, ":")
	shape, known := map[string]string{
		"slack":   `^[A-Z0-9]+/[A-Z0-9]+$`,
		"discord": `^[0-9]+$`,
		"console": `^[^\s:]+$`,
	}[platform]
	if !known {
		return faultf("%q names no platform that exists", shorten(s)).withHint(hint)
	}
	if !regexp.MustCompile(shape).MatchString(id) {
		return faultf("%q is not an identity on %s", shorten(s), platform).withHint(hint)
	}
	return nil
}

// checkAbsolute is for lists of folders, whose entries nothing makes absolute.
func checkAbsolute(s string) *fault {
	if !filepath.IsAbs(s) {
		return faultf("%q is no absolute path", shorten(s)).withHint("write the whole path, beginning with /")
	}
	return nil
}

// checkSocket runs again on the absolute path, which is what the limit is
// about.
func checkSocket(s string) *fault {
	// The kernel's limit is 108 bytes on Linux and 104 on macOS, with a
	// closing zero.
	const most = 103
	if len(s) > most {
		return faultf("is %d bytes long, a socket's path may have %d", len(s), most).
			withHint("set socket to a shorter path, such as one below /run or /tmp")
	}
	return nil
}

// checkName checks the name of a provider or model.
func checkName(section, name string) *fault {
	switch {
	case !regexp.MustCompile(`^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$`).MatchString(name) || strings.Contains(name, "__"):
		return faultf("is no name that Herald can use").
			withHint("use up to 64 letters, digits, dots, hyphens and single underscores, beginning with a letter or digit")
	case section == rulesKey && (strings.Trim(name, "0123456789") != "" || name[0] == '0' || len(name) > 5):
		return faultf("rules have numbers, not names").withHint("write [[rules]] in the file; in the environment, the number of the rule in the file")
	case section == groupsKey && !gate.ValidGroup(name):
		return faultf("is no name for a group").withHint("use up to 64 letters, digits, hyphens and underscores")
	case section == rolesKey && (!gate.ValidGroup(name) || name == "admin" || name == "member"):
		return faultf("is no name for a role of your own").withHint("use letters, digits, hyphens and underscores; admin and member are given by admins and by default")
	case section == modelsKey && strings.Trim(name, "0123456789") == "":
		return faultf("a name of digits alone would be taken for a place in the list of models").withHint("add a letter")
	case section == modelsKey && (strings.EqualFold(name, "auto") || strings.EqualFold(name, "none")):
		return faultf("is a reserved name; it stands for choosing by strength").withHint("take another name")
	}
	return nil
}

// foldName gives the form in which names are compared with environment
// variables, which know neither case nor hyphens.
func foldName(name string) string {
	return strings.NewReplacer("-", "_", ".", "_").Replace(strings.ToLower(name))
}
