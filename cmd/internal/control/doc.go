// Package control is the local socket over which commands reach a running service: who listens on it, who may use it, and how
// a command finds out that nobody does.
//
// The socket belongs to the account that runs the service (mode 0600 from the first instant); there is no other authority. What is
// asked over it is HTTP; the routes are the service's, and the terminal's are mounted beside them.
package control
