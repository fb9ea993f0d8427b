// Command bench measures the service: messages a second, processor time and store work per message, latency, start and memory, on
// each store in turn and in one run, so that the figures can be compared with each other.
//
// It starts the service as a child process, put together by the same package as the shipped program and with the settings that
// ship; only the platform's pace is lifted and the ports are free ones. The platform and the load live in this process. Each answer
// is checked from the platform's side: nothing may be lost, doubled or out of order. It must know nothing of the engines: what it
// says of them comes from the platform, the service's own metrics and the operating system.
package main
