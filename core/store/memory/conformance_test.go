package memory_test

import (
	"testing"

	"herald/core/store"
	"herald/core/store/memory"
	"herald/core/store/storetest"
)

func harness() storetest.Harness {
	return storetest.Harness{
		Caps: storetest.Capabilities{EndsClaims: true, Driver: "memory"},
		Open: func(t *testing.T, clock *storetest.Clock) storetest.Instance {
			s := memory.New(memory.Options{Clock: clock.Now})
			return storetest.Instance{
				Store:  s,
				Attach: func(*testing.T) store.Store { return s.Attach(memory.Options{}) },
				Reopen: func(*testing.T) store.Store { s = s.Reopen(memory.Options{}); return s },
				Snapshot: func(*testing.T) func(*testing.T) {
					snap := s.Snapshot()
					return func(*testing.T) { s.Restore(snap) }
				},
			}
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	storetest.Run(t, harness())
}

// TestModel drives two memory stores, one of which is restarted and called from two handles: it proves the generator and the comparison.
func TestModel(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, harness(), storetest.ModelOptions{Seeds: 40})
}
