// Package cli is Herald's command line: the grammar of its commands, what each does, and the exit code that its error becomes.
//
// It reads the configuration, asks a running service over its local socket, and leaves all work to the packages below. Nothing
// but this package reads the process's arguments, environment and standard streams.
package cli
