package slack

import "herald/core/chat"

// StatusPending reports whether the call that sets a status is still on its way: a test that answers meanwhile tells another story.
func (a *Adapter) StatusPending(c chat.Conversation) bool { return a.surfaces.pending(c) }
