package redistest

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"
)

// Proxy passes connections on to a server and can spoil them. Its methods are safe for concurrent use.
type Proxy struct {
	target string
	l      net.Listener
	life   context.Context
	end    context.CancelFunc
	work   sync.WaitGroup

	mu      sync.Mutex
	conns   map[net.Conn]bool
	refuse  bool
	delay   time.Duration
	pass    int
	cut     int
	cutAway int
}

// RunProxy starts a proxy for a test and stops it at its end.
func RunProxy(t testing.TB, target string) *Proxy {
	t.Helper()
	p, err := NewProxy(target)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

// NewProxy starts a proxy on a free port in front of target (host:port). Close must follow.
func NewProxy(target string) (*Proxy, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &Proxy{target: target, l: l, conns: map[net.Conn]bool{}}
	p.life, p.end = context.WithCancel(context.Background())
	p.work.Go(p.accept)
	return p, nil
}

// Addr is host:port of the proxy.
func (p *Proxy) Addr() string { return p.l.Addr().String() }

// URL is that of a store on the server behind the proxy.
func (p *Proxy) URL() string { return "redis://" + p.Addr() }

// CutReplies lets the server get the next n requests and cuts the connection in place of each answer.
func (p *Proxy) CutReplies(n int) { p.CutRepliesAfter(0, n) }

// CutRepliesAfter lets so many answers pass first.
func (p *Proxy) CutRepliesAfter(pass, n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.pass, p.cut = pass, n
}

// Cut is how many answers were cut so far.
func (p *Proxy) Cut() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cutAway
}

// Delay holds back every answer for d; 0 ends it.
func (p *Proxy) Delay(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Drop cuts all connections and, when refuse is set, takes no new ones until Drop(false).
func (p *Proxy) Drop(refuse bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refuse = refuse
	for c := range p.conns {
		_ = c.Close()
	}
}

// Close cuts everything and waits for it.
func (p *Proxy) Close() {
	p.end()
	_ = p.l.Close()
	p.Drop(true)
	p.work.Wait()
}

func (p *Proxy) accept() {
	for {
		c, err := p.l.Accept()
		if err != nil {
			return
		}
		if !p.keep(c) {
			_ = c.Close()
			continue
		}
		p.work.Go(func() { p.serve(c) })
	}
}

// keep notes a connection, so that Drop finds it.
func (p *Proxy) keep(c net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.refuse {
		return false
	}
	p.conns[c] = true
	return true
}

func (p *Proxy) forget(c net.Conn) {
	_ = c.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.conns, c)
}

func (p *Proxy) serve(client net.Conn) {
	defer p.forget(client)
	var d net.Dialer
	server, err := d.DialContext(p.life, "tcp", p.target)
	if err != nil {
		return
	}
	if !p.keep(server) {
		_ = server.Close()
		return
	}
	defer p.forget(server)
	var both sync.WaitGroup
	both.Go(func() { p.copy(server, client, false) })
	both.Go(func() { p.copy(client, server, true) })
	both.Wait()
}

// copy copies one direction until either side ends.
func (p *Proxy) copy(to, from net.Conn, answers bool) {
	defer to.Close()
	defer from.Close()
	buf := make([]byte, 64<<10)
	for {
		n, err := from.Read(buf)
		if n > 0 {
			if answers && !p.answer() {
				return
			}
			if _, err := to.Write(buf[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// answer waits as Delay says, and tells whether the answer may pass.
func (p *Proxy) answer() bool {
	p.mu.Lock()
	delay := p.delay
	cut := p.cut > 0 && p.pass == 0
	switch {
	case cut:
		p.cut--
		p.cutAway++
	case p.pass > 0:
		p.pass--
	}
	p.mu.Unlock()
	if delay > 0 {
		t := time.NewTimer(delay)
		defer t.Stop()
		select {
		case <-t.C:
		case <-p.life.Done():
			return false
		}
	}
	return !cut
}
