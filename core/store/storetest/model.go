package storetest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"reflect"
	"slices"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"herald/core/store"
	"herald/core/store/memory"
)

// ModelOptions say how much RunModel tries. The zero value is a run of about two seconds on a quick driver.
type ModelOptions struct {
	// Seeds is how many sequences are tried; 0 means 20.
	Seeds int
	// Steps is the length of each; 0 means 150.
	Steps int
	// Seed, when not 0, is the one sequence to try: the one that a failure printed.
	Seed uint64
}

// RunModel drives the driver and the memory driver with the same random operations on the same clock and fails where answers or
// errors differ. A failure names its seed, which tries the same sequence again. A driver whose time cannot be set has no model.
func RunModel(t *testing.T, h Harness, o ModelOptions) {
	if h.Caps.OwnTime {
		t.Fatal("storetest: RunModel needs a driver that takes a clock")
	}
	seeds := []uint64{o.Seed}
	if o.Seed == 0 {
		seeds = make([]uint64, cmp.Or(o.Seeds, 20))
		for i := range seeds {
			// A new seed each run: the suite's fixed cases are elsewhere.
			seeds[i] = maphash.Comparable(maphash.MakeSeed(), i) | 1
		}
	}
	for i, seed := range seeds {
		t.Run(fmt.Sprintf("sequence %d", i), func(t *testing.T) {
			t.Parallel()
			runSequence(t, h, seed, cmp.Or(o.Steps, 150))
		})
	}
}

func runSequence(t *testing.T, h Harness, seed uint64, steps int) {
	clock := NewClock(epoch)
	inst := h.Open(t, clock)
	m := &model{
		t: t, seed: seed, caps: h.Caps, inst: inst, gen: newGenerator(seed), clock: clock,
		want: memory.New(memory.Options{Clock: clock.Now}), got: inst.Store,
	}
	for step := range steps {
		m.step = step
		m.one()
		if t.Failed() {
			return
		}
	}
	m.what = "everything at the end"
	m.everything()
}

// model is one sequence against two stores.
type model struct {
	t     *testing.T
	seed  uint64
	step  int
	what  string
	caps  Capabilities
	inst  Instance
	gen   *generator
	clock *Clock
	want  store.Store
	got   store.Store
	// pairs holds the claims as the two stores gave them: tokens are a driver's own.
	pairs []claimPair
	// past holds commits that can be repeated.
	past []store.Commit
}

type claimPair struct{ want, got store.Claim }

// equal compares results; tokens are left out, and an empty list is an absent one.
var equal = gocmp.Options{
	cmpopts.EquateEmpty(), cmpopts.EquateApproxTime(0), cmpopts.IgnoreFields(store.Claim{}, "Token"),
}

// same fails when the two stores differ in an answer or in the kind of an error.
func same[T any](m *model, want T, wantErr error, got T, gotErr error) {
	m.t.Helper()
	if k, g := kind(wantErr), kind(gotErr); k != g {
		m.t.Fatalf("seed %d, step %d, %s: error %q (%v), memory has %q (%v)", m.seed, m.step, m.what, g, gotErr, k, wantErr)
	}
	// Most answers are alike to the bit; the slow comparison is for those that may be written differently.
	if wantErr != nil || reflect.DeepEqual(want, got) {
		return
	}
	if d := gocmp.Diff(want, got, equal); d != "" {
		m.t.Fatalf("seed %d, step %d, %s: the answer differs (-memory +driver):\n%s", m.seed, m.step, m.what, d)
	}
}

// kind names an error so that two drivers can be compared.
func kind(err error) string {
	if err == nil {
		return ""
	}
	if c, ok := errors.AsType[*store.ConflictError](err); ok {
		return fmt.Sprintf("conflict at guard %d, version %d", c.Guard, c.Version)
	}
	for _, k := range []error{
		store.ErrFenced, store.ErrUnavailable, store.ErrChanged, store.ErrMissing, store.ErrNewer, store.ErrInUse, store.ErrFull,
		store.ErrReadOnly, store.ErrTooLarge, store.ErrInvalid, store.ErrCorrupt, store.ErrClosed, context.Canceled,
	} {
		if errors.Is(err, k) {
			return k.Error()
		}
	}
	return "unknown: " + err.Error()
}

// one does one random step on both.
func (m *model) one() {
	ctx, g := m.t.Context(), m.gen
	switch n := g.IntN(100); {
	case n < 45:
		m.commit(g.commit(m.pairs))
	case n < 50 && len(m.past) > 0:
		c := m.past[g.IntN(len(m.past))]
		m.what = fmt.Sprintf("repeat of %s", c.ID)
		m.apply(c, c)
	case n < 62:
		m.claim(g.claim())
	case n < 68 && len(m.pairs) > 0:
		p, lease := m.pairs[g.IntN(len(m.pairs))], g.duration()
		m.what = fmt.Sprintf("extend %s by %v", p.want.Member, lease)
		want, err := m.want.Extend(ctx, lease, p.want)
		got, gotErr := m.got.Extend(ctx, lease, p.got)
		same(m, want, err, got, gotErr)
	case n < 74:
		m.due(g.agenda())
	case n < 80:
		m.pace()
	case n < 92:
		d := g.duration()
		if g.IntN(12) == 0 {
			d = -d
		}
		m.clock.Advance(d)
	case n < 94 && m.inst.Reopen != nil:
		m.reopen()
	default:
		m.what = "everything"
		m.everything()
	}
}

// commit applies to each store the commit with that store's own claims in it.
func (m *model) commit(c planned) {
	want, got := c.build(false), c.build(true)
	m.what = fmt.Sprintf("commit %+v", want)
	m.apply(want, got)
}

func (m *model) apply(want, got store.Commit) {
	m.t.Helper()
	wr, werr := m.want.Commit(m.t.Context(), want)
	gr, gerr := m.got.Commit(m.t.Context(), got)
	same(m, wr, werr, gr, gerr)
	if werr != nil || wr.Repeated {
		return
	}
	for i, c := range wr.Taken {
		if c != nil {
			m.pairs = append(m.pairs, claimPair{*c, *gr.Taken[i]})
		}
	}
	// Only commits without claims are repeated: those with one differ between the stores. The last few are well within ten minutes.
	if want.Claim == nil && !slices.ContainsFunc(want.Ops, func(op store.Op) bool { _, ok := op.(store.Release); return ok }) {
		m.past = append(m.past, want)
	}
	m.past = m.past[max(0, len(m.past)-3):]
}

func (m *model) claim(r store.ClaimRequest) {
	m.what = fmt.Sprintf("claim %+v", r)
	want, err := m.want.Claim(m.t.Context(), r)
	got, gotErr := m.got.Claim(m.t.Context(), r)
	if len(r.Buckets) != 1 {
		// The order between buckets is a driver's own.
		for _, cs := range [][]store.Claim{want, got} {
			slices.SortFunc(cs, func(a, b store.Claim) int { return cmp.Compare(a.Member, b.Member) })
		}
	}
	same(m, want, err, got, gotErr)
	for i := range want {
		m.pairs = append(m.pairs, claimPair{want[i], got[i]})
	}
}

type dueAnswer struct {
	At, Now any
	OK      bool
}

func (m *model) due(a store.Agenda) {
	m.what = fmt.Sprintf("due of %s", a)
	ask := func(s store.Store) (dueAnswer, error) {
		at, now, ok, err := s.Due(m.t.Context(), a)
		return dueAnswer{at.UTC(), now.UTC(), ok}, err
	}
	want, err := ask(m.want)
	got, gotErr := ask(m.got)
	same(m, want, err, got, gotErr)
}

func (m *model) pace() {
	ctx, g := m.t.Context(), m.gen
	if g.IntN(5) == 0 {
		key, d := g.paceKey(), g.duration()
		m.what = fmt.Sprintf("hold %s for %v", key, d)
		same(m, 0, m.want.Hold(ctx, key, d), 0, m.got.Hold(ctx, key, d))
		return
	}
	p, most := g.pace(), g.duration()
	if g.IntN(2) == 0 {
		most = -1
	}
	m.what = fmt.Sprintf("reserve %+v within %v", p, most)
	want, wantOK, err := m.want.Reserve(ctx, most, p)
	got, gotOK, gotErr := m.got.Reserve(ctx, most, p)
	same(m, wantOK, err, gotOK, gotErr)
	if wantOK {
		same(m, want, err, got, gotErr)
	}
}

func (m *model) reopen() {
	m.what = "reopen"
	if m.caps.EndsClaims {
		m.want = m.want.(*memory.Store).Reopen(memory.Options{})
	}
	m.got = m.inst.Reopen(m.t)
}

// everything compares all that can be read.
func (m *model) everything() {
	ctx := m.t.Context()
	qs := m.gen.queries()
	want, err := m.want.Read(ctx, qs...)
	got, gotErr := m.got.Read(ctx, qs...)
	same(m, want, err, got, gotErr)
	wl, err := m.want.DeadLetters(ctx, 0)
	gl, gotErr := m.got.DeadLetters(ctx, 0)
	same(m, wl, err, gl, gotErr)
	for _, p := range m.gen.parts {
		ws, err := m.want.Partitions(ctx, p.Bucket(), store.Stamp{}, 0)
		gs, gotErr := m.got.Partitions(ctx, p.Bucket(), store.Stamp{}, 0)
		same(m, ws, err, gs, gotErr)
	}
}
