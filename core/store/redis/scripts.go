package redis

import (
	"crypto/sha1"
	_ "embed"
	"encoding/hex"
)

// script is a Lua script as it is sent: by its digest, or whole to a server that does not know it.
type script struct {
	name, text, digest string
	// writes is false for a script that Redis may run when it takes no writes.
	writes bool
}

//go:embed scripts/common.lua
var commonLua string

//go:embed scripts/agenda.lua
var agendaLua string

//go:embed scripts/commit.lua
var commitLua string

//go:embed scripts/read.lua
var readLua string

//go:embed scripts/claim.lua
var claimLua string

//go:embed scripts/extend.lua
var extendLua string

//go:embed scripts/reserve.lua
var reserveLua string

//go:embed scripts/hold.lua
var holdLua string

//go:embed scripts/partitions.lua
var partitionsLua string

//go:embed scripts/letters.lua
var lettersLua string

// scripts are all that the driver runs.
type scripts struct {
	commit, read, claim, extend, reserve, hold, partitions, letters *script
}

func (s *scripts) all() []*script {
	return []*script{s.commit, s.read, s.claim, s.extend, s.reserve, s.hold, s.partitions, s.letters}
}

func newScripts() *scripts {
	return &scripts{
		commit:     newScript("commit", true, agendaLua+commitLua),
		read:       newScript("read", false, readLua),
		claim:      newScript("claim", true, agendaLua+claimLua),
		extend:     newScript("extend", true, agendaLua+extendLua),
		reserve:    newScript("reserve", true, reserveLua),
		hold:       newScript("hold", true, holdLua),
		partitions: newScript("partitions", false, partitionsLua),
		letters:    newScript("letters", false, lettersLua),
	}
}

// newScript puts a script together. The first line tells Redis to refuse a writing one before it has begun when memory is short, and to run the
// others in any state.
func newScript(name string, writes bool, body string) *script {
	head := "#!lua flags=no-writes\n"
	if writes {
		head = "#!lua\n"
	}
	text := head + "-- Herald: " + name + "\n" + commonLua + body
	sum := sha1.Sum([]byte(text)) // the digest that Redis itself uses; nothing secret rests on it
	return &script{name: name, text: text, digest: hex.EncodeToString(sum[:]), writes: writes}
}
