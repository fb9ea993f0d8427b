package redis

import (
	"strconv"

	"herald/core/store"
)

// defaultPrefix begins the keys of a store whose URL names no other.
const defaultPrefix = "herald"

// layout holds the key names of one store.
type layout struct {
	// bucket begins every key of a bucket. The braces are what Redis hashes: all of a bucket stands in one slot.
	bucket [store.Buckets]string
	// mark and none are the keys that every script names; written out once.
	mark, none [store.Buckets]string
	prefix     string
}

func newLayout(prefix string) *layout {
	l := layout{prefix: prefix}
	for b := range store.Buckets {
		l.bucket[b] = prefix + ":{b" + strconv.Itoa(b) + "}:"
		l.mark[b] = l.bucket[b] + "mark"
		l.none[b] = l.bucket[b] + "none"
	}
	return &l
}

// due is the zset of an agenda's members in a bucket.
func (l *layout) due(bucket int, agenda store.Agenda) string {
	return l.bucket[bucket] + "due:" + string(agenda)
}

// channel carries the hints of one store. Channels know no database, so the store's id tells them apart.
func (l *layout) channel(id string) string { return l.prefix + ":hints:" + id }

// paceBucket spreads the paces, which belong to no partition, over the buckets.
func paceBucket(key string) int { return store.Partition("pace/" + key).Bucket() }
