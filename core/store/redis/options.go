package redis

import (
	"cmp"
	"crypto/rand"
	"crypto/tls"
	"log/slog"
	"time"
)

// DefaultTimeout bounds a call, its repetition after a lost answer included.
const DefaultTimeout = 5 * time.Second

// answerKept is how long the answer to a commit is kept for a repeat. The port promises ten minutes.
const answerKept = 10*time.Minute + 30*time.Second

// lanes is how many pipelines may be under way to a node at a time: while one is answered the next is on its way. More of them
// only make the pipelines shorter.
const lanes = 2

// maxBatch bounds the commands of one pipeline, so that nobody waits long behind others' answers. One request to all buckets fits.
const maxBatch = 256

// Options say which Redis to use and how. Only URL is required.
type Options struct {
	// URL is one of
	//
	//	redis://[user[:password]@]host[:port][/db]
	//	redis+sentinel://[user[:password]@]host[:port][,host[:port]...]/master[?db=N]
	//	redis+cluster://[user[:password]@]host[:port][,host[:port]...]
	//
	// and the same with rediss for TLS. With the parameter prefix=NAME every key begins with NAME in place of "herald", so that
	// several stores can share a cluster, which has no databases.
	URL string
	// Password is used in place of the URL's, so that a secret need not stand in one. SentinelPassword is that of the Sentinels themselves.
	Password, SentinelPassword string
	// Create makes a store where there is none. Without it Open fails with [store.ErrMissing] on an empty Redis.
	Create bool
	// WaitReplicas is the number of replicas that must have a commit before it is acknowledged; 0 waits for none. It holds for every commit.
	// When fewer answer in time, the commit fails with [store.ErrUnavailable], and may stand all the same.
	WaitReplicas int
	// Timeout bounds every call; 0 means [DefaultTimeout].
	Timeout time.Duration
	// TLS is the configuration for rediss; nil means the system's certificates.
	TLS *tls.Config
	// Logger gets warnings about the server's settings and about trouble with the subscription to hints; nil discards them.
	Logger *slog.Logger
	// Clock replaces Redis' own time. Only a test may set it: replicas would each go by their own.
	Clock func() time.Time
	// NewID makes the id of a new store and that of this handle; nil means a random one.
	NewID func() string

	// lanes and batch are what a benchmark changes to see what they are worth; 0 means the constants.
	lanes, batch int
}

func (o Options) withDefaults() Options {
	o.Timeout = cmp.Or(o.Timeout, DefaultTimeout)
	o.lanes, o.batch = cmp.Or(o.lanes, lanes), cmp.Or(o.batch, maxBatch)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.NewID == nil {
		o.NewID = rand.Text
	}
	return o
}
