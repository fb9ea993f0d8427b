// Package slack is the adapter for Slack: events come by Socket Mode or as signed HTTP requests, deliveries go out by the Web API.
//
// Events are decoded here and not by the SDK, so that an unknown event, an unknown block or a malformed one never costs a message: what
// is not known is acknowledged and counted. A message is acknowledged on the connection that brought it, after the receiver has it. The
// supervisor of the connections opens the next one before it gives the old one up, notices a silent one by its own pings and holds at
// most one live and one draining connection.
//
// It must not know how messages are handled, stored or paced: it speaks [chat] alone.
package slack
