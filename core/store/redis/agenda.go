package redis

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"herald/core/store"
)

// Claim gives due members. Without named members it first looks, in one pipeline to each node, where something is due, and then
// claims there; what another took in between is looked for again a few times.
func (s *Store) Claim(ctx context.Context, req store.ClaimRequest) ([]store.Claim, error) {
	if err := req.Check(); err != nil {
		return nil, err
	}
	request := s.handle + "." + strconv.FormatInt(s.requests.Add(1), 36)
	if len(req.Members) > 0 {
		return s.claimNamed(ctx, &req, request)
	}
	for range 3 {
		due, err := s.peek(ctx, &req)
		if err != nil || len(due) == 0 {
			return nil, err
		}
		var parts []part
		order := map[store.Member]int{}
		for i, d := range due {
			order[store.Member(d.member)] = i
			at := slices.IndexFunc(parts, func(p part) bool { return p.bucket == d.bucket })
			if at < 0 {
				at = len(parts)
				parts = append(parts, part{bucket: d.bucket})
			}
			parts[at].limit++
		}
		claims, err := s.claim(ctx, &req, request, parts)
		if err != nil || len(claims) > 0 {
			sortClaims(claims, order)
			return claims, err
		}
	}
	return nil, nil
}

// sortClaims puts claims into the order in which their members were named or found; the others come last.
func sortClaims(claims []store.Claim, order map[store.Member]int) {
	place := func(c store.Claim) int {
		if i, ok := order[c.Member]; ok {
			return i
		}
		return len(order)
	}
	slices.SortStableFunc(claims, func(a, b store.Claim) int { return cmp.Compare(place(a), place(b)) })
}

// part is what a claim asks of one bucket.
type part struct {
	bucket, limit int
	members       []any
}

func (s *Store) claimNamed(ctx context.Context, req *store.ClaimRequest, request string) ([]store.Claim, error) {
	var parts []part
	order := map[store.Member]int{}
	for i, m := range req.Members {
		order[m] = i
		b := m.Partition().Bucket()
		at := slices.IndexFunc(parts, func(p part) bool { return p.bucket == b })
		if at < 0 {
			at = len(parts)
			parts = append(parts, part{bucket: b, limit: req.Limit})
		}
		parts[at].members = append(parts[at].members, string(m))
	}
	if len(parts) <= 1 || len(req.Members) <= req.Limit {
		claims, err := s.claim(ctx, req, request, parts)
		sortClaims(claims, order)
		return claims, err
	}
	// More are named than may be given: one bucket after the other, so that none is taken above the limit.
	var claims []store.Claim
	for _, p := range parts {
		if p.limit = req.Limit - len(claims); p.limit < 1 {
			break
		}
		got, err := s.claim(ctx, req, request, []part{p})
		if err != nil {
			// What was got stays claimed; its lease ends by itself when the caller learns nothing of it.
			if len(claims) > 0 {
				return claims, nil
			}
			return nil, err
		}
		claims = append(claims, got...)
	}
	return claims, nil
}

// claim asks several buckets at once. What some of them gave is not held back because others could not be reached.
func (s *Store) claim(ctx context.Context, req *store.ClaimRequest, request string, parts []part) ([]store.Claim, error) {
	calls := make([]*call, len(parts))
	for i, p := range parts {
		args := append([]any{string(req.Agenda), req.Holder, millis(req.Lease), p.limit, request, "0"}, p.members...)
		calls[i] = &call{bucket: p.bucket, script: s.scripts.claim, args: args, poll: true, repeat: func(c *call) { c.args[5] = "1" }}
	}
	err := s.exec(ctx, "claim on "+string(req.Agenda), calls...)
	var claims []store.Claim
	for _, c := range calls {
		if !c.ok {
			continue
		}
		r := reader{answer: c.answer}
		r.list(1)
		since := r.int()
		for len(r.rest) > 0 {
			claim := store.Claim{Agenda: req.Agenda, Holder: req.Holder, Since: instant(since)}
			claim.Member = store.Member(r.string())
			claim.Token, claim.Attempt, claim.Until = r.int(), int(r.int()), instant(r.int())
			claims = append(claims, claim)
		}
		if r.err != nil {
			return nil, fmt.Errorf("redis: claim on %s: %w", req.Agenda, r.err)
		}
	}
	if len(claims) == 0 {
		return nil, err
	}
	s.stats.writes.Add(1)
	return claims, nil
}

// peek finds the members that have been due longest, at most as many as are asked for. It claims nothing.
func (s *Store) peek(ctx context.Context, req *store.ClaimRequest) ([]waiting, error) {
	found, now, err := s.earliest(ctx, req.Agenda, req.Buckets, req.Limit)
	if err != nil {
		return nil, err
	}
	due := slices.DeleteFunc(found, func(f waiting) bool { return f.at > now })
	slices.SortFunc(due, func(a, b waiting) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.member, b.member)) })
	return due[:min(len(due), req.Limit)], nil
}

// waiting is a member with the instant from which it can be claimed.
type waiting struct {
	bucket int
	member string
	at     int64
}

// earliest gives the first n members of an agenda in each bucket (nil: all), and the store's time. Where some nodes cannot be reached the others'
// members are given; the error comes when those have none. One bucket's mark is looked at too, another one each time, so that a store that came
// back empty does not look like one without work.
func (s *Store) earliest(ctx context.Context, agenda store.Agenda, buckets []int, n int) ([]waiting, int64, error) {
	if buckets == nil {
		buckets = s.all
	}
	if len(buckets) == 0 {
		return nil, 0, ctx.Err()
	}
	what := "look for what is due on " + string(agenda)
	witness := buckets[int(s.looks.Add(1))%len(buckets)]
	looks := make([]*call, len(buckets), len(buckets)+4)
	for i, b := range buckets {
		looks[i] = &call{bucket: b, command: []any{"zrange", s.keys.due(b, agenda), 0, n - 1, "withscores"}, idle: true}
	}
	mark := &call{bucket: witness, command: []any{"hget", s.keys.mark[witness], "store"}, idle: true}
	clocks := s.clocks(ctx, buckets)
	calls := append(append(looks, mark), clocks...)
	failed := s.exec(ctx, what, calls...)
	if id, _ := mark.answered().(string); mark.ok && id != s.id {
		return nil, 0, fmt.Errorf("redis: %s: %w", what, s.changed([]int{witness}, id))
	}
	now := int64(0)
	if s.opt.Clock != nil {
		now = s.opt.Clock().UnixMilli()
	}
	for _, c := range clocks {
		if c.ok {
			at, err := timeOf(c.answer)
			if err != nil {
				return nil, 0, err
			}
			now = max(now, at.UnixMilli())
		}
	}
	var out []waiting
	for _, c := range looks {
		if !c.ok {
			continue
		}
		r := reader{answer: c.answer}
		r.list(0)
		for len(r.rest) > 0 {
			out = append(out, waiting{bucket: c.bucket, member: r.string(), at: r.int()})
		}
		if r.err != nil {
			return nil, 0, r.err
		}
	}
	if len(out) == 0 || now == 0 {
		return nil, now, failed
	}
	return out, now, nil
}

// clocks asks each node that holds one of the buckets for its time; a test's clock needs none.
func (s *Store) clocks(ctx context.Context, buckets []int) []*call {
	if s.opt.Clock != nil {
		return nil
	}
	var calls []*call
	var asked []*node
	for _, b := range buckets {
		if n, err := s.nodeOf(ctx, b); err == nil && !slices.Contains(asked, n) {
			asked = append(asked, n)
			calls = append(calls, &call{bucket: b, command: []any{"time"}, idle: true})
		}
	}
	return calls
}

// Extend renews the leases of claims, in one pipeline to each node.
func (s *Store) Extend(ctx context.Context, lease time.Duration, claims ...store.Claim) ([]bool, error) {
	if lease <= 0 {
		return nil, fmt.Errorf("extend %d claims by %v: a lease is longer than nothing: %w", len(claims), lease, store.ErrInvalid)
	}
	lost := make([]bool, len(claims))
	if len(claims) == 0 {
		return lost, ctx.Err()
	}
	var calls []*call
	places := map[int][]int{}
	at := map[int]*call{}
	for i, c := range claims {
		b := c.Member.Partition().Bucket()
		if at[b] == nil {
			at[b] = &call{bucket: b, script: s.scripts.extend, args: []any{millis(lease)}, idle: true}
			calls = append(calls, at[b])
		}
		at[b].args = append(at[b].args, string(c.Agenda), string(c.Member), c.Token, c.Holder)
		places[b] = append(places[b], i)
	}
	if err := s.exec(ctx, fmt.Sprintf("extend %d claims", len(claims)), calls...); err != nil {
		return nil, err
	}
	for _, c := range calls {
		r := reader{answer: c.answer}
		r.list(len(places[c.bucket]))
		for _, i := range places[c.bucket] {
			lost[i] = r.int() == 0
		}
		if r.err != nil {
			return nil, fmt.Errorf("redis: extend %d claims: %w", len(claims), r.err)
		}
	}
	return lost, nil
}

// Due is the earliest time at which a member of agenda can be claimed.
func (s *Store) Due(ctx context.Context, agenda store.Agenda) (at, now time.Time, ok bool, err error) {
	found, ms, err := s.earliest(ctx, agenda, nil, 1)
	if err != nil {
		return time.Time{}, time.Time{}, false, err
	}
	if len(found) == 0 {
		return time.Time{}, instant(ms), false, nil
	}
	first := slices.MinFunc(found, func(a, b waiting) int { return cmp.Compare(a.at, b.at) })
	return instant(first.at), instant(ms), true, nil
}
