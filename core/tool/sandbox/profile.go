package sandbox

import (
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strconv"
)

// Where a program finds things inside of the sandbox.
const (
	filesAt = "/files"
	workAt  = "/work"
)

// systemDirs are folders of the system beside /usr; on most systems they are links into it.
var systemDirs = []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"}

// systemFiles are what programs need of /etc: where alternatives point, where libraries stand.
var systemFiles = []string{"/etc/alternatives", "/etc/ld.so.cache", "/etc/ld.so.conf", "/etc/ld.so.conf.d"}

// profile is a way to call bwrap.
type profile struct {
	bwrap string
	// proc: the sandbox has a /proc of its own.
	proc bool
}

// host says what this machine looks like where a profile depends on it.
type host struct {
	// dirs maps each of systemDirs that exists to the target of its link, "" for a folder.
	dirs map[string]string
}

func lookAtHost() host {
	h := host{dirs: map[string]string{}}
	for _, d := range systemDirs {
		info, err := os.Lstat(d)
		switch {
		case err != nil:
		case info.Mode()&fs.ModeSymlink != 0:
			if to, err := os.Readlink(d); err == nil {
				h.dirs[d] = to
			}
		case info.IsDir():
			h.dirs[d] = ""
		}
	}
	return h
}

// options are bwrap's: nothing is shared, no right is kept, nothing can be written but the working folder, /tmp and /dev/shm.
// files is the copy of the command's files on this machine, "" for none.
func (p *profile) options(h host, c Command, files string) []string {
	a := []string{
		"--unshare-all", "--unshare-user", "--disable-userns", "--new-session", "--die-with-parent", "--cap-drop", "ALL", "--clearenv",
		"--ro-bind", "/usr", "/usr",
	}
	for _, d := range systemDirs {
		to, ok := h.dirs[d]
		switch {
		case !ok:
		case to != "":
			a = append(a, "--symlink", to, d)
		default:
			a = append(a, "--ro-bind", d, d)
		}
	}
	for _, f := range systemFiles {
		a = append(a, "--ro-bind-try", f, f)
	}
	if p.proc {
		a = append(a, "--proc", "/proc")
	}
	size := strconv.FormatInt(c.Limits.Disk, 10)
	a = append(a, "--dev", "/dev", "--size", size, "--tmpfs", "/dev/shm", "--size", size, "--tmpfs", "/tmp")
	if files != "" {
		a = append(a, "--ro-bind", files, filesAt)
	}
	if c.Work != "" {
		a = append(a, "--bind", c.Work, workAt)
	} else {
		a = append(a, "--size", size, "--tmpfs", workAt)
	}
	// The root and /dev are memory too, which nothing may fill.
	a = append(a, "--remount-ro", "/dev", "--remount-ro", "/", "--chdir", workAt)
	env := environment(c.Env, workAt, "/tmp")
	for _, k := range slices.Sorted(maps.Keys(env)) {
		a = append(a, "--setenv", k, env[k])
	}
	return a
}

// environment is all that a program gets of one.
func environment(own map[string]string, work, temp string) map[string]string {
	env := map[string]string{}
	maps.Copy(env, own)
	env["PATH"], env["HOME"], env["TMPDIR"], env["LANG"] = searched, work, temp, "C.UTF-8"
	return env
}

// words are the command's own words; files is where the program sees its files.
func (c Command) words(files string) []string {
	w := slices.Clone(c.Program)
	if c.Script != "" {
		w = append(w, path.Join(files, c.Script))
	}
	return append(w, c.Args...)
}
