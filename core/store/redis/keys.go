package redis

import (
	"strconv"

	"herald/core/store"
)

// prefix begins every key of a bucket. The braces are what Redis hashes: all of a bucket stands in one slot.
func prefix(bucket int) string { return "herald:{b" + strconv.Itoa(bucket) + "}:" }

// layout holds the keys that every call names, written out once for each bucket.
type layout struct {
	mark, none [store.Buckets]string
}

func newLayout() *layout {
	var l layout
	for b := range store.Buckets {
		l.mark[b] = prefix(b) + "mark"
		l.none[b] = prefix(b) + "none"
	}
	return &l
}

// paceBucket spreads the paces, which belong to no partition, over the buckets.
func paceBucket(key string) int { return store.Partition("pace/" + key).Bucket() }

// channel carries the hints of one store. Channels know no database, so the store's id tells them apart.
func channel(id string) string { return "herald:hints:" + id }
