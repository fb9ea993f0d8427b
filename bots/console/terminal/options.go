package terminal

import (
	"context"
	"io"
	"net"
	"os"
	"slices"
	"strings"

	"herald/bots/console/proto"
)

// Options of a terminal. Dial, In, Out and Err are needed.
type Options struct {
	// Dial connects to the service's local socket.
	Dial func(ctx context.Context) (net.Conn, error)
	// Place is the conversation; [proto.DefaultPlace] when empty.
	Place string
	In    io.Reader
	Out   io.Writer
	// Err takes what is no part of an answer.
	Err io.Writer
	// TTY: In and Out are a terminal that a person sits at.
	TTY bool
	// HistoryFile keeps what was typed over restarts; empty keeps nothing.
	HistoryFile string
	// Replay is how many of the last messages a terminal shows at its start; 6 by default, a negative number none.
	Replay int
	// Environ is the environment (NO_COLOR, TERM, COLORTERM …); os.Environ by default.
	Environ []string
}

func (o Options) withDefaults() Options {
	if o.Place == "" {
		o.Place = proto.DefaultPlace
	}
	if o.Replay == 0 {
		o.Replay = 6
	}
	if o.Environ == nil {
		o.Environ = os.Environ()
	}
	return o
}

// plainOnly reports whether no colours and no emphasis are wanted.
func (o Options) plainOnly() bool {
	return slices.ContainsFunc(o.Environ, func(kv string) bool {
		k, v, _ := strings.Cut(kv, "=")
		return k == "NO_COLOR" && v != "" || k == "TERM" && v == "dumb"
	})
}
