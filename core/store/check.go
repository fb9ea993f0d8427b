package store

import (
	"fmt"
	"math"
	"strings"
)

// Check reports what is malformed about c: every driver calls it first, so that all refuse the same.
func (c *Commit) Check() error {
	if c.ID == "" {
		return fmt.Errorf("commit to %s: it has no id: %w", c.Partition, ErrInvalid)
	}
	if err := c.Partition.check(); err != nil {
		return err
	}
	if len(c.Ops) > MaxOps {
		return fmt.Errorf("commit to %s: %d operations, at most %d: %w", c.Partition, len(c.Ops), MaxOps, ErrTooLarge)
	}
	if c.Claim != nil && c.Claim.Member.Partition() != c.Partition {
		return fmt.Errorf("commit to %s under a claim of %s: the claim is of another partition: %w", c.Partition, c.Claim.Member, ErrInvalid)
	}
	for i, g := range c.Guards {
		if f, ok := g.(Free); ok && f.Member.Partition() != c.Partition {
			return fmt.Errorf("commit to %s, guard %d: member %s is of another partition: %w", c.Partition, i, f.Member, ErrInvalid)
		}
	}
	for i, op := range c.Ops {
		if err := c.checkOp(op); err != nil {
			return fmt.Errorf("commit to %s, operation %d (%T): %w", c.Partition, i, op, err)
		}
	}
	return nil
}

func (c *Commit) checkOp(op Op) error {
	size := func(b []byte) error {
		if len(b) > MaxValue {
			return fmt.Errorf("%d bytes, at most %d: %w", len(b), MaxValue, ErrTooLarge)
		}
		return nil
	}
	own := func(m Member) error {
		if m.Partition() != c.Partition {
			return fmt.Errorf("member %s is of another partition: %w", m, ErrInvalid)
		}
		return nil
	}
	named := func(names ...string) error {
		for _, n := range names {
			if n == "" || len(n) > 512 || strings.ContainsAny(n, "\x00\n\r") {
				return fmt.Errorf("name %q is empty, too long or has a control character: %w", n, ErrInvalid)
			}
		}
		return nil
	}
	switch o := op.(type) {
	case Put:
		if err := named(o.Key.Collection, o.Key.Name); err != nil {
			return err
		}
		return size(o.Value)
	case Delete:
		return named(o.Key.Collection, o.Key.Name)
	case Append:
		if err := named(o.Log, o.ID, o.Kind); err != nil {
			return err
		}
		return size(o.Data)
	case Blank:
		return named(o.Log)
	case TrimLog:
		return named(o.Log)
	case Score:
		if math.IsNaN(o.Score) {
			return fmt.Errorf("the score of %q is not a number: %w", o.Member, ErrInvalid)
		}
		return named(o.Index, o.Member)
	case ScoreNow:
		return named(o.Index, o.Member)
	case Unscore:
		return named(o.Index, o.Member)
	case TrimOlder:
		return named(o.Index)
	case Wake:
		if err := named(string(o.Agenda)); err != nil {
			return err
		}
		return own(o.Member)
	case Release:
		if err := named(string(o.Claim.Agenda)); err != nil {
			return err
		}
		return own(o.Claim.Member)
	case Take:
		if o.Holder == "" || o.Lease <= 0 {
			return fmt.Errorf("a take needs a holder and a lease: %w", ErrInvalid)
		}
		if err := named(string(o.Agenda)); err != nil {
			return err
		}
		return own(o.Member)
	case Bury:
		if err := named(o.ID); err != nil {
			return err
		}
		return size(o.Note)
	case Unbury:
		return named(o.ID)
	default:
		return fmt.Errorf("unknown operation: %w", ErrInvalid)
	}
}

func (p Partition) check() error {
	if p == "" || len(p) > 512 || strings.ContainsFunc(string(p), func(r rune) bool { return r == '#' || r <= ' ' || r == 0x7f }) {
		return fmt.Errorf("partition %q is empty, too long, or has '#', a space or a control character: %w", p, ErrInvalid)
	}
	return nil
}

// CheckQueries reports what is malformed about queries.
func CheckQueries(queries []Query) error {
	for _, q := range queries {
		if err := q.Of().check(); err != nil {
			return err
		}
	}
	return nil
}

// Check reports what is malformed about r.
func (r *ClaimRequest) Check() error {
	if r.Agenda == "" || r.Holder == "" || r.Lease <= 0 || r.Limit < 1 {
		return fmt.Errorf("claim on %q: it needs an agenda, a holder, a lease and a limit: %w", r.Agenda, ErrInvalid)
	}
	for _, b := range r.Buckets {
		if b < 0 || b >= Buckets {
			return fmt.Errorf("claim on %q: there is no bucket %d: %w", r.Agenda, b, ErrInvalid)
		}
	}
	return nil
}
