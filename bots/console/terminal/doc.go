// Package terminal is the person's side of the console: a client of the service's local socket, a line editor with streamed answers for people
// ([Chat]), and one question with one answer for scripts ([Once]).
//
// What the service says is data: nothing of it reaches the terminal before [Clean] has taken out what a terminal would obey. The package must
// know nothing of the service beyond package proto.
package terminal
