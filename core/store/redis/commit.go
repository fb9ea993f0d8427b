package redis

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"herald/core/store"
)

// Commit applies c in one round trip.
func (s *Store) Commit(ctx context.Context, c store.Commit) (store.Result, error) {
	if err := c.Check(); err != nil {
		return store.Result{}, err
	}
	args, err := s.commitArgs(&c)
	if err != nil {
		return store.Result{}, err
	}
	cl := &call{bucket: c.Partition.Bucket(), script: s.scripts.commit, args: args, replicas: s.opt.WaitReplicas}
	if err := s.exec(ctx, "commit "+c.ID+" to "+string(c.Partition), cl); err != nil {
		return store.Result{}, err
	}
	res, err := commitResult(&c, cl.answer)
	if err != nil {
		return store.Result{}, fmt.Errorf("redis: commit %s to %s: %w", c.ID, c.Partition, err)
	}
	if !res.Repeated {
		s.stats.commits.Add(1)
		s.stats.writes.Add(1)
	}
	return res, nil
}

// commitArgs writes a commit as commit.lua reads it.
func (s *Store) commitArgs(c *store.Commit) ([]any, error) {
	args := make([]any, 0, 10+4*len(c.Guards)+6*len(c.Ops))
	wait := "0"
	if s.opt.WaitReplicas > 0 {
		wait = "1"
	}
	args = append(args, string(c.Partition), c.ID, answerKept.Milliseconds(), s.keys.channel(s.id), wait)
	if c.Claim == nil {
		args = append(args, "", "", "", "")
	} else {
		args = append(args, string(c.Claim.Agenda), string(c.Claim.Member), c.Claim.Token, c.Claim.Holder)
	}
	args = append(args, len(c.Guards))
	for i, g := range c.Guards {
		switch g := g.(type) {
		case store.At:
			args = append(args, "at", g.Key.Collection, g.Key.Name, g.Version)
		case store.Absent:
			args = append(args, "absent", g.Index, g.Member, "")
		case store.Fewer:
			args = append(args, "fewer", g.Collection, g.N, "")
		case store.Free:
			args = append(args, "free", string(g.Agenda), string(g.Member), "")
		default:
			return nil, fmt.Errorf("commit %s to %s, guard %d: unknown guard %T: %w", c.ID, c.Partition, i, g, store.ErrInvalid)
		}
	}
	for _, op := range c.Ops {
		args = appendOp(args, op)
	}
	return args, nil
}

// appendOp writes one operation that [store.Commit.Check] has passed.
func appendOp(args []any, op store.Op) []any {
	switch o := op.(type) {
	case store.Put:
		return append(args, "P", o.Key.Collection, o.Key.Name, o.Value)
	case store.Delete:
		return append(args, "D", o.Key.Collection, o.Key.Name)
	case store.Append:
		return append(args, "A", o.Log, o.ID, o.Kind, o.Data)
	case store.Blank:
		return append(args, "B", o.Log, o.Seq)
	case store.TrimLog:
		return append(args, "T", o.Log, o.Before)
	case store.Score:
		return append(args, "S", o.Index, o.Member, score(o.Score))
	case store.ScoreNow:
		return append(args, "N", o.Index, o.Member)
	case store.Unscore:
		return append(args, "U", o.Index, o.Member)
	case store.TrimOlder:
		return append(args, "O", o.Index, millis(o.Age))
	case store.Wake:
		if o.At.IsZero() {
			return append(args, "W", string(o.Agenda), string(o.Member), "", millis(o.In))
		}
		return append(args, "W", string(o.Agenda), string(o.Member), o.At.UnixMilli(), "")
	case store.Release:
		next, keep := "", "0"
		switch {
		case o.Again && o.At.IsZero():
			next = "+" + strconv.FormatInt(millis(o.In), 10)
		case o.Again:
			next = "@" + strconv.FormatInt(o.At.UnixMilli(), 10)
		}
		if o.KeepAttempt {
			keep = "1"
		}
		return append(args, "R", string(o.Claim.Agenda), string(o.Claim.Member), o.Claim.Token, o.Claim.Holder, next, keep)
	case store.Take:
		return append(args, "K", string(o.Agenda), string(o.Member), o.Holder, millis(o.Lease))
	case store.Bury:
		return append(args, "L", o.ID, o.Note)
	case store.Unbury:
		return append(args, "X", o.ID)
	default:
		panic(fmt.Sprintf("redis: %T passed Commit.Check and has no meaning", op))
	}
}

// score writes a score as Redis reads it, infinities included.
func score(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }

// commitResult reads the answer of commit.lua.
func commitResult(c *store.Commit, answer any) (store.Result, error) {
	r := reader{answer: answer}
	r.list(2)
	switch kind := r.string(); kind {
	case "fenced":
		return store.Result{}, fmt.Errorf("under claim %d of %s on %s: %s: %w", c.Claim.Token, c.Claim.Member, c.Claim.Agenda, r.string(), store.ErrFenced)
	case "conflict":
		guard, version := int(r.int()), r.int()
		return store.Result{}, errors.Join(r.err, &store.ConflictError{Guard: guard, Version: version})
	case "done", "again":
		text := r.string()
		if r.err != nil {
			return store.Result{}, r.err
		}
		res, err := parseAnswer(c, text)
		res.Repeated = kind == "again"
		return res, err
	default:
		r.fail("a known kind, not %q", kind)
		return store.Result{}, r.err
	}
}

// parseAnswer reads the lines of an answer: see commit.lua.
func parseAnswer(c *store.Commit, text string) (store.Result, error) {
	lines := strings.Split(text, "\n")
	bad := func() (store.Result, error) {
		return store.Result{}, fmt.Errorf("the answer %q is not that of this commit; a commit's id must be its own: %w", text, store.ErrCorrupt)
	}
	if len(lines) < 3 {
		return bad()
	}
	now, err := numbers(lines[0])
	if err != nil || len(now) != 1 {
		return bad()
	}
	res := store.Result{Now: instant(now[0])}
	if res.Versions, err = numbers(lines[1]); err != nil {
		return bad()
	}
	if res.Seqs, err = numbers(lines[2]); err != nil {
		return bad()
	}
	lines = lines[3:]
	for _, op := range c.Ops {
		take, ok := op.(store.Take)
		if !ok {
			continue
		}
		if len(lines) == 0 {
			return bad()
		}
		line := lines[0]
		lines = lines[1:]
		if line == "-" {
			res.Taken = append(res.Taken, nil)
			continue
		}
		n, err := numbers(line)
		if err != nil || len(n) != 4 {
			return bad()
		}
		res.Taken = append(res.Taken, &store.Claim{
			Agenda: take.Agenda, Member: take.Member, Token: n[0], Holder: take.Holder, Attempt: int(n[1]), Since: instant(n[2]), Until: instant(n[3]),
		})
	}
	return res, nil
}

// numbers reads numbers with spaces between them; nil when there are none.
func numbers(line string) ([]int64, error) {
	var out []int64
	for f := range strings.FieldsSeq(line) {
		n, err := strconv.ParseInt(f, 10, 64)
		if err != nil {
			return nil, err
		}
		out = append(out, n)
	}
	return out, nil
}
