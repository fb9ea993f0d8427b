package service

import "runtime"

// ballastBytes is how much memory is reserved and never touched, so that it costs addresses and no memory. The heap of a service that
// keeps nothing about idle sessions is a few megabytes, and the collector, which runs when the heap has doubled, would run thirty times a
// second under load for their sake: a fifth of the processor time of a message. With the ballast it has this much room more. A larger
// GOGC would do the same to a small heap, and would also let one of a gigabyte grow to several.
const ballastBytes = 16 << 20

// ballast is held until release is called.
func ballast() (release func()) {
	b := make([]byte, ballastBytes)
	return func() { runtime.KeepAlive(b) }
}
