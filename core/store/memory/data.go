package memory

import (
	"bytes"
	"sync"
	"time"

	"herald/core/store"
	"herald/core/store/inproc"
)

// repeatFor is how long a commit's answer is kept for a repeat, in milliseconds.
const repeatFor = int64(10 * time.Minute / time.Millisecond)

// data is what all handles of a store share. Instants are milliseconds since 1970.
type data struct {
	clock func() time.Time
	id    string
	hints inproc.Hints
	paces inproc.Paces

	mu   sync.Mutex
	lost bool
	content
}

// content is what a snapshot copies.
type content struct {
	parts   map[store.Partition]*part
	buckets [store.Buckets][]*part
	tokens  [store.Buckets]int64
	agendas map[store.Agenda]*agenda
}

type part struct {
	name   store.Partition
	bucket int
	// at is the instant of the last commit, and the least that the next one gets.
	at int64
	// revision is the version of the last Put.
	revision int64
	// docs is by collection, then by name.
	docs    map[string]map[string]doc
	logs    map[string]*journal
	indexes map[string]map[string]float64
	letters map[string]letter
	repeats map[string]store.Result
	// order holds the ids in repeats, oldest first.
	order []string
}

type doc struct {
	value         []byte
	version, born int64
}

type journal struct {
	// first is the sequence of entries[0], also when there are none.
	first   int64
	entries []entry
}

type entry struct {
	id, kind string
	at       int64
	data     []byte
}

type letter struct {
	at   int64
	note []byte
}

func (d *data) now() int64 { return d.clock().UnixMilli() }

func instant(ms int64) time.Time { return time.UnixMilli(ms).UTC() }

// millis rounds up, so that no wait and no lease is shorter than was asked for.
func millis(d time.Duration) int64 {
	ms := int64(d / time.Millisecond)
	if d%time.Millisecond > 0 {
		ms++
	}
	return ms
}

// own copies a value that crosses the border of the store. It is never nil: nil is a blanked entry.
func own(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	return bytes.Clone(b)
}

// part gives the partition, made when it is absent.
func (d *data) part(name store.Partition) *part {
	if p := d.parts[name]; p != nil {
		return p
	}
	if d.parts == nil {
		d.parts = map[store.Partition]*part{}
	}
	p := &part{name: name, bucket: name.Bucket()}
	d.parts[name] = p
	d.buckets[p.bucket] = append(d.buckets[p.bucket], p)
	return p
}

// put sets a key of a map that may be nil: most partitions use few of their maps.
func put[K comparable, V any](m *map[K]V, k K, v V) {
	if *m == nil {
		*m = map[K]V{}
	}
	(*m)[k] = v
}
