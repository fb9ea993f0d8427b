package config

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// Options say where to read from. The zero Options read the process's own
// folder and files, with an empty environment.
type Options struct {
	// File is the file named on the command line, "" to look for one: in
	// $HERALD_CONFIG, then herald.toml in Dir, then herald/herald.toml in the
	// user's XDG configuration folder. A named file must exist.
	File string
	// Env is the environment as os.Environ gives it.
	Env []string
	// Dir is the working folder, "" for the process's own.
	Dir string
	// ReadFile reads a file, nil for the system's files, of which it reads at most a megabyte.
	ReadFile func(path string) ([]byte, error)
	// ExtraEnv are names beginning with HERALD_ that others read, so that they
	// are no unknown settings.
	ExtraEnv []string

	// refuseBlank makes a file without any content a problem: in a running
	// service it is one that somebody is about to write.
	refuseBlank bool
}

const (
	fileName = "herald.toml"
	// mostBytes is far above any real configuration.
	mostBytes = 1 << 20
)

// place is a configuration file that was found.
type place struct {
	shown string // as the operator names it, "" for none
	path  string // absolute
	data  []byte
}

// readBounded reads a file, and of one that is too large for a configuration only so much that this shows: a device has no end.
func readBounded(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return io.ReadAll(io.LimitReader(f, mostBytes+1))
}

func (o Options) withDefaults() Options {
	if o.ReadFile == nil {
		o.ReadFile = readBounded
	}
	if o.Dir == "" {
		// Without a working folder, relative paths stay relative and opening
		// them says what is wrong.
		o.Dir, _ = os.Getwd()
	}
	return o
}

// environment returns the variables with a value. An empty one counts as not
// set, because that is what compose files make of a missing value.
func (o Options) environment() map[string]string {
	env := make(map[string]string, len(o.Env))
	for _, pair := range o.Env {
		if name, value, ok := strings.Cut(pair, "="); ok && value != "" {
			env[name] = value
		}
	}
	return env
}

// locate finds and reads the configuration file.
func (o Options) locate(env map[string]string) (place, *Problem) {
	if o.File != "" {
		return o.named(o.File, "")
	}
	if named := env[envConfigFile]; named != "" {
		return o.named(named, envConfigFile)
	}
	candidates := []place{{shown: fileName, path: filepath.Join(o.Dir, fileName)}}
	if dir := xdg(env, "XDG_CONFIG_HOME", ".config"); dir != "" {
		p := filepath.Join(dir, "herald", fileName)
		candidates = append(candidates, place{shown: p, path: p})
	}
	for _, c := range candidates {
		data, err := o.ReadFile(c.path)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return c, &Problem{File: c.shown, Text: "cannot be read: " + reason(err), Hint: rightsHint}
		}
		c.data = data
		return c.checked()
	}
	return place{}, nil
}

// rightsHint is what to do about a file that is there and cannot be read.
const rightsHint = "give this account the right to read it, or name another file with --config"

// named reads the file that the command line or a variable names.
func (o Options) named(file, variable string) (place, *Problem) {
	p := place{shown: file, path: o.absolute(file, o.Dir)}
	data, err := o.ReadFile(p.path)
	if err != nil {
		text := "cannot be read: " + reason(err)
		hint := "check the path, or leave it out to run without a file"
		switch {
		case errors.Is(err, fs.ErrNotExist):
			text = "there is no such file"
		case errors.Is(err, fs.ErrPermission):
			hint = rightsHint
		}
		return p, &Problem{File: file, Env: variable, Text: text, Hint: hint}
	}
	p.data = data
	return p.checked()
}

func (p place) checked() (place, *Problem) {
	if len(p.data) > mostBytes {
		return p, &Problem{File: p.shown, Text: "is larger than 1 MiB, which no configuration is", Hint: "check the path"}
	}
	return p, nil
}

// absolute makes a path absolute: "~/" is the home folder, all else is relative
// to base.
func (o Options) absolute(path, base string) string {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		if home := o.environment()["HOME"]; home != "" {
			return filepath.Join(home, rest)
		}
	}
	if filepath.IsAbs(path) || base == "" {
		return filepath.Clean(path)
	}
	return filepath.Join(base, path)
}

// xdg returns a folder of the XDG base directory rules, "" without a home. A
// relative value is invalid by those rules and ignored.
func xdg(env map[string]string, variable, below string) string {
	if dir := env[variable]; filepath.IsAbs(dir) {
		return dir
	}
	if home := env["HOME"]; filepath.IsAbs(home) {
		return filepath.Join(home, below)
	}
	return ""
}

// reason gives the cause of a file error without the path, which the problem
// names already or must not name.
func reason(err error) string {
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		err = pe.Err
	}
	return err.Error()
}
