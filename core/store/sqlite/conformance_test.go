package sqlite_test

import (
	"path/filepath"
	"testing"

	"herald/core/store"
	"herald/core/store/sqlite"
	"herald/core/store/storetest"
)

func openAt(t *testing.T, o sqlite.Options) *sqlite.Store {
	t.Helper()
	s, err := sqlite.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("close: %v", err)
		}
	})
	return s
}

func harness(change func(*sqlite.Options)) storetest.Harness {
	return storetest.Harness{
		Caps: storetest.Capabilities{EndsClaims: true, Durable: true, Driver: "sqlite"},
		Open: func(t *testing.T, clock *storetest.Clock) storetest.Instance {
			o := sqlite.Options{Path: filepath.Join(t.TempDir(), "herald.db"), Create: true, Clock: clock.Now}
			change(&o)
			s := openAt(t, o)
			return storetest.Instance{Store: s, Reopen: func(t *testing.T) store.Store {
				if err := s.Close(); err != nil {
					t.Fatal(err)
				}
				s = openAt(t, o)
				return s
			}}
		},
	}
}

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("full", func(t *testing.T) { t.Parallel(); storetest.Run(t, harness(func(*sqlite.Options) {})) })
	t.Run("normal, ungrouped, one reader", func(t *testing.T) {
		t.Parallel()
		storetest.Run(t, harness(func(o *sqlite.Options) { o.Sync, o.Group, o.Readers = sqlite.SyncNormal, 1, 1 }))
	})
}

func TestModel(t *testing.T) {
	t.Parallel()
	storetest.RunModel(t, harness(func(o *sqlite.Options) { o.Sync = sqlite.SyncNormal }), storetest.ModelOptions{Seeds: 12})
}
