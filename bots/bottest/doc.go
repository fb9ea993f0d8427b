// Package bottest is the conformance suite of adapters: what core relies on, whatever the platform. Each adapter joins with a [Harness] that
// drives it against its platform over real sockets.
//
// What platforms may differ in is data ([Traits] and the adapter's own [chat.Capabilities]); the suite then expects the other behaviour and
// leaves nothing out. It must know no platform: it sees one only through a [Fixture].
package bottest
