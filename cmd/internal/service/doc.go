// Package service puts a running Herald together from a configuration: it opens the store, the models, the agents and the
// platforms, joins them to the engines, and starts and stops all of it in order.
//
// It decides nothing about messages. Everything that it joins can be given from outside in its place, so that tests and
// measurements run the very service that ships, with a store, a model or a platform of their own.
package service
