//go:build !linux

package sandbox

import "os/exec"

// Elsewhere there is no bwrap: what runs without a sandbox is bounded by time and output alone.
type bound struct{}

func lower(*exec.Cmd, string, string) error { return nil }

func boundsOf(Limits, *exec.Cmd) []bound { return nil }

func setBounds(*exec.Cmd, []bound) error { return nil }

func usageOf(int) usage { return usage{} }
