package failpoint

import (
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"
)

// Stage is on which side of a call something happens.
type Stage string

// The stages. A call that ends in an error has no After: its caller goes on as if it had not been made.
const (
	Before Stage = "before"
	After  Stage = "after"
)

// Point is one place to die at: a stage of the N-th call (from 1) of a site in one life of a process.
type Point struct {
	Stage Stage
	Site  string
	N     int
}

// String is "before turn.answer 1"; [Parse] reads it.
func (p Point) String() string { return fmt.Sprintf("%s %s %d", p.Stage, p.Site, p.N) }

// Parse reads what [Point.String] wrote. The error says what does not fit.
func Parse(s string) (Point, error) {
	bad := func() (Point, error) {
		return Point{}, fmt.Errorf("read the fail point %q: want \"before SITE N\" or \"after SITE N\" with N at least 1", s)
	}
	f := strings.Fields(s)
	if len(f) != 3 || f[0] != string(Before) && f[0] != string(After) {
		return bad()
	}
	n, err := strconv.Atoi(f[2])
	if err != nil || n < 1 {
		return bad()
	}
	return Point{Stage(f[0]), f[1], n}, nil
}

// Options of [Points].
type Options struct {
	// Target is where Die is called; the zero Point is nowhere.
	Target Point
	// Die ends the process and does not return. Required when there is a Target.
	Die func()
	// Log takes each point as it is reached, one a line, each in one write and perhaps several at once; nil takes nothing. A log that fails is
	// left out.
	Log io.Writer
}

// Points counts calls by site. It is safe for concurrent use; of calls at the same time the one that began first has the lower number.
type Points struct {
	o    Options
	mu   sync.Mutex
	hits map[string]int
}

// New makes a Points that has seen nothing.
func New(o Options) *Points { return &Points{o: o, hits: map[string]int{}} }

// Enter is called before a call of a site begins. The returned function is called when it was carried out; it may be left out when the
// call failed.
func (p *Points) Enter(site string) (leave func()) {
	n := p.count(site)
	p.reach(Point{Before, site, n})
	return func() { p.reach(Point{After, site, n}) }
}

// Mark is for calls of which only afterwards can be told that they did something: it counts one and reaches its After.
func (p *Points) Mark(site string) { p.reach(Point{After, site, p.count(site)}) }

func (p *Points) count(site string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.hits[site]++
	return p.hits[site]
}

func (p *Points) reach(at Point) {
	if p.o.Log != nil {
		_, _ = io.WriteString(p.o.Log, at.String()+"\n")
	}
	if at == p.o.Target {
		p.o.Die()
	}
}

// Site is the site of a commit with this id: what stands in front of the first '/', or "unnamed" when nothing does.
func Site(id string) string {
	site, _, ok := strings.Cut(id, "/")
	if !ok || site == "" {
		return Unnamed
	}
	return site
}

// Unnamed is the site of commits whose ids name none.
const Unnamed = "unnamed"
