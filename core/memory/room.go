package memory

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"

	"herald/core/chat"
	"herald/core/store"
)

// Root is the folder under which a store of notes stands.
type Root string

// The roots.
const (
	User    Root = "user-memory"
	Channel Root = "channel-memory"
	Shared  Root = "shared-memory"
)

// Roots are all of them.
func Roots() []Root { return []Root{User, Channel, Shared} }

// Place is whose notes: their partition.
type Place store.Partition

// Of is the notes of a person.
func Of(person string) Place { return Place("person/" + person) }

// OfChannel is the notes that the threads of a channel share.
func OfChannel(c chat.Conversation) Place { return Place("channel/" + c.ChannelKey()) }

// OfWorkspace is the notes of all members of a workspace.
func OfWorkspace(w chat.Workspace) Place { return Place("workspace/" + url.PathEscape(string(w))) }

// ErrClosed is returned for notes that may not be read or written where they are asked for.
var ErrClosed = errors.New("these notes are closed here")

// Room is where notes are asked for, and by whom.
type Room struct {
	Conversation chat.Conversation
	// Direct: only the person and Herald read the conversation.
	Direct bool
	// Mixed: guests or people of another workspace read along. Whoever cannot tell says true.
	Mixed bool
	// Person is whose message is answered, Askers all of those, Person among them.
	Person string
	Askers []string
}

// Open is the notes behind root. What a turn may read is what every reader of the room may see: a person's own notes are open in that
// person's direct conversation alone, and not when somebody else asks too; a channel's are open in the channel; where guests read along,
// what members share is closed. The error is [ErrClosed] and says why.
func (r Room) Open(root Root) (Place, error) {
	closed := func(why string) (Place, error) { return "", fmt.Errorf("%s/: %w: %s", root, ErrClosed, why) }
	alone := !slices.ContainsFunc(r.Askers, func(p string) bool { return p != r.Person })
	switch root {
	case User:
		switch {
		case r.Person == "":
			return closed("nobody is there whose notes they would be")
		case !r.Direct:
			return closed("others read this conversation; a person's own notes are open in their direct conversation with me")
		case !alone:
			return closed("several people ask, and the notes of each are theirs alone")
		}
		return Of(r.Person), nil
	case Channel:
		switch {
		case r.Direct:
			return closed("this conversation is no channel; use " + string(User) + "/")
		case r.Mixed:
			return closed("guests or people of another workspace read this channel")
		}
		return OfChannel(r.Conversation), nil
	case Shared:
		if r.Mixed {
			return closed("guests or people of another workspace read this conversation")
		}
		return OfWorkspace(r.Conversation.Workspace), nil
	}
	return closed("there are no such notes")
}

// Usual is the root that remember and recall work on: the person's own where they are alone with Herald, else the channel's.
func (r Room) Usual() Root {
	if r.Direct {
		return User
	}
	return Channel
}

// Split takes a path apart: its root and the note's name, which is "" for the folder itself. ok is false for a path that is none of notes.
// The name is the one under which the note is kept, however its accents are written; [CheckName] refuses what is no name.
func Split(path string) (root Root, name string, ok bool) {
	begin, rest, _ := strings.Cut(strings.TrimPrefix(path, "./"), "/")
	if !slices.Contains(Roots(), Root(begin)) {
		return "", "", false
	}
	return Root(begin), norm.NFC.String(strings.TrimSuffix(rest, "/")), true
}
