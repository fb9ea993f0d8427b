package slackfake

import "time"

// bucket is a token bucket: what is left, as of an instant.
type bucket struct {
	left float64
	at   time.Time
}

// take uses one token, or says how long to wait for one.
func (b *bucket) take(now time.Time, every time.Duration, burst int) time.Duration {
	b.left = min(float64(burst), b.left+float64(now.Sub(b.at))/float64(every))
	b.at = now
	if b.left < 1 {
		return max(time.Millisecond, time.Duration((1-b.left)*float64(every)))
	}
	b.left--
	return 0
}

// throttle holds a call to the limits; the result is how long the app must wait, 0 for a call that may go on. s.mu is held.
func (s *Server) throttle(c *call, m method) time.Duration {
	p := s.opt.Pace
	key, every, burst := "", time.Duration(0), p.Burst
	team := ""
	if c.in != nil {
		team = c.in.Team
	}
	switch {
	case c.method == "chat.postMessage" && p.PerChannel > 0:
		key, every = "post|"+c.app.ID+"|"+c.args["channel"], p.PerChannel
	case p.Tiers && m.tier > 0:
		key, every, burst = c.method+"|"+c.app.ID+"|"+team, time.Minute/time.Duration(m.tier), m.tier
	default:
		return 0
	}
	b := s.buckets[key]
	if b == nil {
		b = &bucket{left: float64(burst), at: s.now()}
		s.buckets[key] = b
	}
	return b.take(s.now(), every, burst)
}
