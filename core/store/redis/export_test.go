package redis

// WithLanes is o with another number of pipelines under way and of calls in each.
func WithLanes(o Options, lanes, batch int) Options {
	o.lanes, o.batch = lanes, batch
	return o
}
