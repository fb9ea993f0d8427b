// Package redis is the store driver for a service of several replicas: one Redis server, a Sentinel group or a Cluster, version 7.0 or newer.
//
// Every operation is one Lua script on one bucket (scripts/*.lua documents keys, arguments and answers), and each bucket is one
// hash tag, so that a commit is one round trip and atomic on a cluster too. What stands in Redis can be read with redis-cli: names
// are written out, values are the JSON that the layers above gave, behind their versions.
//
// Calls that arrive together share a pipeline to their node; a lone call goes out at once. Each call is bounded in time. A call whose
// answer was lost is sent once more, which is safe: a commit has an id, a claim the id of its request.
//
// What Redis keeps: with appendfsync always an acknowledged commit survives a crash of Herald, of Redis and of the machine. With everysec it
// survives one of Herald, and one of Redis as long as the disk keeps up: while a sync is slow Redis puts writing its file off, for up to two
// seconds, and what it put off is lost with the process; a crash of the machine can lose a second or two in any case. Replication is asynchronous: unless [Options.WaitReplicas] asks for more, a failover can lose a node's last
// commits. [Store.Health] says what is not durable and how to change it.
//
// The package must not know what the layers above keep, and go-redis must not show in its API.
package redis
