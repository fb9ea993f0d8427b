// Package wire is the protocol of the test platform: what its server and the adapter for it say to each other.
//
// The app opens one stream (GET [StreamPath], upgraded to [StreamProtocol]); the server writes one [Event] a line, the app answers
// with one [Ack] a line on the same stream. Everything that the app says is a POST of JSON ([SendPath], [EditPath], [FindPath]). The
// address of a server says what the platform can do (see [Address]), so that an adapter knows it without a call.
//
// The package must not know the adapter's vocabulary: a real platform does not know it either.
package wire
