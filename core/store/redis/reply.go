package redis

import (
	"fmt"
	"strconv"

	"herald/core/store"
)

// reader walks over a script's answer. The first thing that is not as the script promises sets err; what is read after it is zero.
type reader struct {
	answer any
	rest   []any
	err    error
}

// list opens the answer as a list of at least n elements.
func (r *reader) list(n int) {
	list, ok := r.answer.([]any)
	if !ok || len(list) < n {
		r.fail("a list of %d", n)
		return
	}
	r.rest = list
}

func (r *reader) next() any {
	if len(r.rest) == 0 {
		r.fail("more")
		return nil
	}
	v := r.rest[0]
	r.rest = r.rest[1:]
	return v
}

func (r *reader) string() string {
	v := r.next()
	s, ok := v.(string)
	if !ok && r.err == nil {
		r.fail("a text, not %T", v)
	}
	return s
}

func (r *reader) int() int64 {
	switch v := r.next().(type) {
	case int64:
		return v
	case string:
		n, err := strconv.ParseInt(v, 10, 64)
		if err != nil {
			// A score is written as a float when it is large.
			f, ferr := strconv.ParseFloat(v, 64)
			if ferr != nil {
				r.fail("a number, not %q", v)
			}
			n = int64(f)
		}
		return n
	default:
		if r.err == nil {
			r.fail("a number, not %T", v)
		}
		return 0
	}
}

func (r *reader) sub() reader {
	v := r.next()
	sub := reader{answer: v, err: r.err}
	if r.err == nil {
		sub.list(0)
		r.err = sub.err
	}
	return sub
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("redis: the answer of a script should have had %s: %w", fmt.Sprintf(format, args...), store.ErrCorrupt)
	}
	r.rest = nil
}
