package config

import "strings"

// mostSecretBytes is above every key and token there is.
const mostSecretBytes = 16 << 10

// secret fetches what key_env or key_file name. key is the concrete key
// without the ending. No problem repeats the secret, nor a text that may be
// one.
func (l *loader) secret(key, variable, file string) Secret {
	fromEnv, hasEnv := l.given[key+"_env"]
	fromFile, hasFile := l.given[key+"_file"]
	switch {
	case hasEnv && hasFile:
		l.report(fromFile.source.problem(key+"_file", faultf("stands beside %s_env, and only one of them can count", lastPart(key)).
			withHint("leave one of them out")))
	case hasEnv:
		value, set := l.env[variable]
		if !set {
			name := "the variable that it names"
			if plainName(variable) {
				name = "the environment variable " + variable
			}
			l.report(fromEnv.source.problem(key+"_env", faultf("%s is not set, or empty", name).withHint("export it before Herald starts")))
			return Secret{}
		}
		return l.usable(key+"_env", fromEnv.source, value)
	case hasFile:
		l.files = append(l.files, file)
		data, err := l.opts.ReadFile(file)
		if err != nil {
			name := "the file that it names"
			if written, ok := fromFile.value.(string); ok && plainPath(written) {
				name = "the file " + file
			}
			l.report(fromFile.source.problem(key+"_file", faultf("%s cannot be read: %s", name, reason(err)).
				withHint("check the path and its rights")))
			return Secret{}
		}
		return l.usable(key+"_file", fromFile.source, strings.TrimRight(string(data), "\r\n"))
	}
	return Secret{}
}

// usable refuses what cannot be a key: it would break the header that it is
// sent in, or is surely another file.
func (l *loader) usable(key string, src Source, value string) Secret {
	value = strings.TrimSpace(value)
	var f *fault
	switch {
	case value == "":
		f = faultf("the secret is empty")
	case len(value) > mostSecretBytes:
		f = faultf("the secret is longer than 16 KiB").withHint("check that it is the right one")
	case strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }):
		f = faultf("the secret has several lines or control characters").withHint("it must be one line")
	default:
		return NewSecret(value)
	}
	l.report(src.problem(key, f))
	return Secret{}
}

// namedSecret reports where key_env or key_file was given.
func (l *loader) namedSecret(key string) (Source, bool) {
	for _, ending := range []string{"_env", "_file"} {
		if g, ok := l.given[key+ending]; ok {
			return g.source, true
		}
	}
	return Source{}, false
}

func (l *loader) spoiledSecret(key string) bool {
	return l.spoiled[key+"_env"] || l.spoiled[key+"_file"]
}

func lastPart(key string) string { return key[strings.LastIndexByte(key, '.')+1:] }
