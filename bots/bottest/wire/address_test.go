package wire_test

import (
	"testing"
	"time"

	"herald/bots/bottest/wire"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// TestAddressRoundTrip: what a platform can do survives its way to the app, whole milliseconds given.
func TestAddressRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		on := func(name string) bool { return rapid.Bool().Draw(t, name) }
		span := func(name string) time.Duration {
			return time.Duration(rapid.IntRange(0, 1e7).Draw(t, name)) * time.Millisecond
		}
		want := wire.Features{
			Workspace: rapid.StringMatching(`[ -~äöü]{1,20}`).Draw(t, "workspace"),
			Edits:     on("edits"), Cards: on("cards"), Ephemeral: on("ephemeral"), Nonce: on("nonce"), LookBack: on("look back"),
			EditEvery: span("edit every"), NonceFor: span("nonce for"), SendTimeout: span("send timeout"), TextLimit: rapid.IntRange(0, 1e6).Draw(t, "limit"),
		}
		base, got, err := wire.ParseAddress(wire.Address("http://127.0.0.1:8080", want))
		if err != nil || base != "http://127.0.0.1:8080" {
			t.Fatalf("base %q, %v", base, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("features (-want +got):\n%s", diff)
		}
	})
}
