package main

import (
	"bytes"
	"testing"
)

// messages is how many a load says in a plain test run; the program says as many as it is told.
const messages = 1000

// TestLoads puts two replicas through trouble.
func TestLoads(t *testing.T) {
	t.Parallel()
	for _, l := range loads() {
		t.Run(l.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			r, err := l.play(t.Context(), messages, 1, &log)
			if err != nil {
				t.Fatal(err)
			}
			t.Log(r)
			if r.answered != messages || r.lost+r.doubled+r.reordered > 0 || len(r.bad) > 0 {
				t.Errorf("%v\n%q\n%s", r, r.bad[:min(len(r.bad), 20)], log.String())
			}
			if r.redelivered == 0 {
				t.Error("nothing was delivered twice: the load proves too little")
			}
		})
	}
}
