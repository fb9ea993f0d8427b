package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := command(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// command is the whole program but for the process: it returns the exit code, 0 when every defect turned its test red.
func command(ctx context.Context, args []string, out, errs io.Writer) int {
	fs := flag.NewFlagSet("sabotage", flag.ContinueOnError)
	fs.SetOutput(errs)
	only := fs.String("run", "", "plant only the defects whose name matches")
	list := fs.Bool("list", false, "list the defects and end")
	if err := fs.Parse(args); err != nil {
		return 2
	}
	match, err := regexp.Compile(*only)
	if err != nil || fs.NArg() > 0 {
		fmt.Fprintln(errs, "sabotage: -run wants a regular expression, and there are no other arguments:", err)
		return 2
	}
	var chosen []patch
	for _, p := range patches() {
		if match.MatchString(p.name) {
			chosen = append(chosen, p)
		}
	}
	if *list {
		for _, p := range chosen {
			fmt.Fprintf(out, "%s\n  in %s, seen by go test %s\n", p.name, p.file, strings.Join(p.test, " "))
		}
		return 0
	}
	green, err := run(ctx, chosen, out)
	switch {
	case err != nil:
		fmt.Fprintln(errs, "sabotage:", err)
		return 1
	case green > 0:
		fmt.Fprintf(out, "%d of %d defects were not seen\n", green, len(chosen))
		return 1
	}
	fmt.Fprintf(out, "all %d defects were seen\n", len(chosen))
	return 0
}

// run plants the defects in a copy of the source, one after the other, and counts those that no test saw.
func run(ctx context.Context, chosen []patch, out io.Writer) (green int, err error) {
	root, err := moduleRoot(ctx)
	if err != nil {
		return 0, err
	}
	dir, err := os.MkdirTemp("", "sabotage")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	if err := copySource(ctx, root, dir); err != nil {
		return 0, err
	}
	sound := map[string]bool{}
	for _, p := range chosen {
		key := strings.Join(p.test, " ")
		if !sound[key] {
			if r := test(ctx, dir, p.test); r.failed {
				return green, fmt.Errorf("go test %s is red without any defect, so it proves nothing:\n%s", key, r.tail())
			}
			sound[key] = true
		}
		seen, err := plant(ctx, dir, p, out)
		if err != nil {
			return green, err
		}
		if !seen {
			green++
		}
	}
	return green, nil
}

// plant puts one defect into the copy, runs its test, and takes it out again.
func plant(ctx context.Context, dir string, p patch, out io.Writer) (seen bool, err error) {
	path := filepath.Join(dir, filepath.FromSlash(p.file))
	sane, err := os.ReadFile(path)
	if err != nil {
		return false, err
	}
	sick, err := p.apply(string(sane))
	if err != nil {
		return false, err
	}
	if err := os.WriteFile(path, []byte(sick), 0o600); err != nil {
		return false, err
	}
	r := test(ctx, dir, p.test)
	if err := os.WriteFile(path, sane, 0o600); err != nil {
		return false, err
	}
	switch {
	case ctx.Err() != nil:
		return false, ctx.Err()
	case r.unbuilt:
		return false, fmt.Errorf("the defect %q does not compile:\n%s", p.name, r.tail())
	case !r.failed:
		fmt.Fprintf(out, "GREEN  %s (%s): go test %s saw nothing, %.1fs\n", p.name, p.file, strings.Join(p.test, " "), r.took.Seconds())
		return false, nil
	}
	fmt.Fprintf(out, "red    %s (%s): seen by %s, %.1fs\n", p.name, p.file, r.first(), r.took.Seconds())
	return true, nil
}

// apply is the file with the defect; an error when what it replaces does not stand there exactly once.
func (p *patch) apply(sane string) (string, error) {
	if n := strings.Count(sane, p.old); n != 1 {
		return "", fmt.Errorf("the defect %q: its text stands %d times in %s, want once; bring the patch up to date", p.name, n, p.file)
	}
	return strings.Replace(sane, p.old, p.new, 1), nil
}

func moduleRoot(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOMOD").Output()
	if err != nil {
		return "", fmt.Errorf("find the module: %w", err)
	}
	return filepath.Dir(strings.TrimSpace(string(out))), nil
}
