// Command crash kills a running service at each of its fail points and proves from the outside that nothing came of it: each message
// is covered by one answer, each piece stands once, the order is kept, no unrepeatable tool ran twice, and nothing is left behind.
//
// The service runs as a child process (this program again) against a test platform and a fake model, which live in the parent. The child
// dies by its own hand at one point (see package failpoint), is started again, and the parent judges by what the platform, the model and the
// tools saw, and by what the store still holds.
//
//	crash [-sample N] [-seed S] [-store sqlite|redis|both] [-scenario NAME] [-only POINT] [-jobs N] [-v]
//	crash -load N [-seed S] [-platform P] [-scenario NAME] [-v]
//	crash -flood N
//
// With -load two or three replicas on one store are frozen, killed and restarted while N messages are said, alone, on a cluster and on the fake
// Slack, whose sockets break; the store itself is killed, and loses its replies. With -flood N messages are said in one conversation that
// has room for few, with others beside it.
//
// The package must not know how turns, outbox or stores do their work.
package main
