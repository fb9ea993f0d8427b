// Package sandboxtest gives tests a sandbox that works. It must not know what they run in it.
package sandboxtest
