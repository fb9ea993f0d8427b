package slackfake

import (
	"encoding/base64"
	"slices"
	"strings"
)

// window is the part of a list that history and replies ask for.
type window struct {
	oldest, latest string
	inclusive      bool
	limit          int
	after          string // the cursor: go on behind this one
}

func (c *call) window() (window, *refusal) {
	w := window{oldest: c.args["oldest"], latest: c.args["latest"], inclusive: c.flag("inclusive"), limit: c.number("limit", 100)}
	if w.limit < 1 || w.limit > 999 {
		return w, refuse("invalid_limit")
	}
	if cursor := c.args["cursor"]; cursor != "" {
		raw, err := base64.StdEncoding.DecodeString(cursor)
		ts, ok := strings.CutPrefix(string(raw), "next_ts:")
		if err != nil || !ok {
			return w, refuse("invalid_cursor")
		}
		w.after = ts
	}
	for _, ts := range []*string{&w.oldest, &w.latest} {
		if *ts == "0" {
			*ts = ""
		}
		if *ts != "" && strings.Trim(*ts, "0123456789.") != "" {
			return w, refuse("invalid_ts_" + map[*string]string{&w.oldest: "oldest", &w.latest: "latest"}[ts])
		}
	}
	return w, nil
}

// pad makes timestamps comparable as text: apps also give whole seconds.
func pad(ts string) string {
	whole, part, _ := strings.Cut(ts, ".")
	return strings.Repeat("0", max(0, 12-len(whole))) + whole + "." + (part + "000000")[:max(6, len(part))]
}

func (w window) holds(ts string) bool {
	ts = pad(ts)
	if w.oldest != "" {
		if o := pad(w.oldest); ts < o || ts == o && !w.inclusive {
			return false
		}
	}
	if w.latest != "" {
		if l := pad(w.latest); ts > l || ts == l && !w.inclusive {
			return false
		}
	}
	return true
}

func (s *Server) history(c *call) (reply, *refusal) {
	ch, no := s.target(c, c.args["channel"], false)
	if no != nil {
		return nil, no
	}
	w, no := c.window()
	if no != nil {
		return nil, no
	}
	out, more := []*wire{}, ""
	for _, m := range slices.Backward(ch.top) {
		if w.oldest != "" && pad(m.TS) < pad(w.oldest) {
			break
		}
		if m.Deleted && m.replies == 0 || !w.holds(m.TS) || w.after != "" && m.TS >= w.after {
			continue
		}
		if len(out) == w.limit {
			more = out[len(out)-1].TS
			break
		}
		out = append(out, s.wire(ch, m, c.flag("include_all_metadata")))
	}
	return page(out, more), nil
}

func (s *Server) replies(c *call) (reply, *refusal) {
	ch, no := s.target(c, c.args["channel"], false)
	if no != nil {
		return nil, no
	}
	w, no := c.window()
	if no != nil {
		return nil, no
	}
	asked := ch.byTS[c.args["ts"]]
	if asked == nil || asked.To != "" || asked.Deleted && asked.replies == 0 {
		return nil, refuse("thread_not_found")
	}
	root := asked.TS
	if asked.Thread != "" {
		root = asked.Thread
	}
	out, more := []*wire{}, ""
	for i, m := range ch.threads[root] {
		// The root comes first on every page, whatever the window.
		if i > 0 && (m.Deleted || !w.holds(m.TS) || w.after != "" && m.TS <= w.after) {
			continue
		}
		if len(out) > w.limit || len(out) == w.limit && i > 0 && w.limit > 1 {
			more = out[len(out)-1].TS
			break
		}
		out = append(out, s.wire(ch, m, c.flag("include_all_metadata")))
	}
	return page(out, more), nil
}

func page(messages []*wire, more string) reply {
	out := reply{"messages": messages, "has_more": more != ""}
	if more != "" {
		out["response_metadata"] = reply{"next_cursor": base64.StdEncoding.EncodeToString([]byte("next_ts:" + more))}
	}
	return out
}
