package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"sync/atomic"
	"time"

	"herald/core/model/modeltest"
)

// endpoint is a model behind HTTP that answers at once and counts what it is sent.
type endpoint struct {
	requests, bytes atomic.Int64
	server          *http.Server
	done            chan struct{}
	url             string
}

func openEndpoint(ctx context.Context) (*endpoint, error) {
	l, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	e := &endpoint{done: make(chan struct{}), url: "http://" + l.Addr().String() + "/v1"}
	next := (&modeltest.Server{Rules: []modeltest.Rule{answer(0)}}).Handler()
	e.server = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.requests.Add(1)
		e.bytes.Add(r.ContentLength)
		next.ServeHTTP(w, r)
	})}
	go func() {
		defer close(e.done)
		_ = e.server.Serve(l) // ends with Close
	}()
	return e, nil
}

func (e *endpoint) close() {
	_ = e.server.Close()
	<-e.done
}

// measureWire measures what the driver of a real endpoint adds, on the memory store, and what it sends.
func measureWire(ctx context.Context, p plan, dir string, r *report) (err error) {
	e, err := openEndpoint(ctx)
	if err != nil {
		return err
	}
	defer e.close()
	r.silent = true // the plain figures of this pass are not those of the memory store
	defer func() { r.silent = false }()
	g, stop, err := start(ctx, p, "memory", dir, false, []string{
		"HERALD_PROVIDERS__LAB__BASE_URL=" + e.url, "HERALD_PROVIDERS__LAB__DEFAULT_MODEL=test",
	}, r)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := errors.Join(g.introduce(ctx)); err != nil {
		return err
	}
	requests, sent := e.requests.Load(), e.bytes.Load()
	if err := g.one(ctx); err != nil {
		return err
	}
	n := float64(g.One)
	r.setWire(wireRequests, float64(e.requests.Load()-requests)/n)
	r.setWire(wireBytes, float64(e.bytes.Load()-sent)/n)
	var took time.Duration
	before, after, err := g.during(ctx, func() error {
		began := time.Now()
		err := g.closed(ctx, 64, g.SixtyFour/4)
		took = time.Since(began)
		return errors.Join(err, g.settled(ctx))
	})
	if err != nil {
		return err
	}
	r.setWire(wireRate, float64(g.SixtyFour/4)/took.Seconds())
	r.setWire(wireCPU, ms(after.cpu-before.cpu)/float64(g.SixtyFour/4))
	if f := g.verdict(); f.Lost+f.Doubled+f.Reordered > 0 {
		r.faults.add(f)
	}
	return nil
}
