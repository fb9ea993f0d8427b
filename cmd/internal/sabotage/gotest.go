package main

import (
	"context"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"time"
)

// testTime bounds one run of a test: a defect may make it hang, which is red too.
const testTime = "120s"

// result is how a test went.
type result struct {
	failed, unbuilt bool
	out             string
	took            time.Duration
}

// test runs "go test" in the copy.
func test(ctx context.Context, dir string, args []string) result {
	began := time.Now()
	// The package comes first and the arguments of the test binary last, as go test wants it.
	full := append([]string{"test", "-count=1", "-failfast", "-vet=off", "-timeout", testTime}, args...)
	cmd := exec.CommandContext(ctx, "go", full...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "GOWORK=off")
	out, err := cmd.CombinedOutput()
	r := result{failed: err != nil, out: string(out), took: time.Since(began)}
	r.unbuilt = strings.Contains(r.out, "[build failed]") || strings.Contains(r.out, "[setup failed]")
	return r
}

var (
	failure = regexp.MustCompile(`(?m)^\s*--- FAIL: (\S+)`)
	timeout = regexp.MustCompile(`(?m)^panic: test timed out`)
	panics  = regexp.MustCompile(`(?m)^panic: .*`)
)

// first names the test that saw the defect, as exactly as the output does.
func (r *result) first() string {
	if timeout.MatchString(r.out) {
		return "a test that came to no end"
	}
	var name string
	for _, m := range failure.FindAllStringSubmatch(r.out, -1) {
		if len(m[1]) > len(name) {
			name = m[1]
		}
	}
	switch p := panics.FindString(r.out); {
	case name != "":
		return name
	case p != "":
		return p[:min(len(p), 100)]
	}
	return "a failure without a name"
}

// tail is the end of the output.
func (r *result) tail() string {
	lines := strings.Split(strings.TrimSpace(r.out), "\n")
	return strings.Join(lines[max(0, len(lines)-20):], "\n")
}
