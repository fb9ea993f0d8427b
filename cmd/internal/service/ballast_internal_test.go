package service

import (
	"runtime"
	"testing"
)

// With the ballast the collector waits until the heap has grown by about its size.
func TestBallastGivesTheHeapRoom(t *testing.T) {
	t.Parallel()
	release := ballast()
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	release()
	if room := m.NextGC - m.HeapAlloc; m.NextGC < m.HeapAlloc || room < ballastBytes {
		t.Errorf("the next collection is due in %d bytes, want at least %d", room, ballastBytes)
	}
}
