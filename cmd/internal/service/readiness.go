package service

import (
	"errors"
	"fmt"
	"sync/atomic"
)

// Part is one thing that readiness rests on.
type Part struct {
	Name string `json:"name"`
	OK   bool   `json:"ok"`
	// Text says what is wrong, for an operator; it holds no secret.
	Text string `json:"text,omitempty"`
}

// State is what a running service says of itself.
type State struct {
	Version string `json:"version"`
	PID     int    `json:"pid"`
	Ready   bool   `json:"ready"`
	Parts   []Part `json:"parts"`
}

// The routes of the local socket, beside the console's.
const (
	StateRoute  = "/v1/state"
	DoctorRoute = "/v1/doctor"
)

// readiness collects what the parts say. It asks nobody outside of the process.
type readiness struct {
	started  atomic.Bool
	stopping atomic.Bool
	store    func() error
	models   func() error
	clean    func(string) string
	// platforms are the connections that know whether events reach them. It is not changed after the start.
	platforms []namedState
	// beside are parts without which the service still takes work; they say why something is off.
	beside []namedState
}

// namedState is a part's name and what it says of itself.
type namedState struct {
	name string
	err  func() error
}

// errStarting and errStopping say why a sound service takes no work.
var (
	errStarting = errors.New("the service is starting")
	errStopping = errors.New("the service is stopping")
)

// parts says how everything is, and whether all of it is well.
func (r *readiness) parts() (parts []Part, ready bool) {
	var life error
	switch {
	case r.stopping.Load():
		life = errStopping
	case !r.started.Load():
		life = errStarting
	}
	ready = true
	all := append([]namedState{{"service", func() error { return life }}, {"store", r.store}, {"models", r.models}}, r.platforms...)
	for _, p := range all {
		err := p.err()
		part := Part{Name: p.name, OK: err == nil}
		if err != nil {
			ready = false
			part.Text = r.clean(err.Error())
		}
		parts = append(parts, part)
	}
	for _, p := range r.beside {
		part := Part{Name: p.name, OK: true}
		if err := p.err(); err != nil {
			part.OK, part.Text = false, r.clean(err.Error())
		}
		parts = append(parts, part)
	}
	return parts, ready
}

// String is the part in one line.
func (p Part) String() string {
	if p.OK {
		return p.Name + ": ok"
	}
	return fmt.Sprintf("%s: not ready: %s", p.Name, p.Text)
}
