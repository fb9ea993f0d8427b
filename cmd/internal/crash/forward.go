package main

import (
	"context"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/handover"
	"herald/core/tool"
)

// forwardTo is the thread to which toolTell forwards, and forwarded begins the tokens of what it says there.
const (
	forwardTo = "t2"
	forwarded = "f"
)

// forward owes another conversation a message. Its id is that of the call, and it stands behind all that people say there.
func forward(_ context.Context, c tool.Call) (tool.Result, error) {
	to := conversation.Partition(chat.Conversation{Workspace: c.Conversation.Workspace, Channel: channel, Thread: forwardTo})
	owed := handover.OweMessage(c.ID, to, &conversation.Message{
		MessageID: "f" + c.ID, Order: "9" + c.ID, Person: c.Person, Text: "#" + forwarded + tokenOf(c) + " " + verbPlain, Direct: true,
	})
	return tool.Result{Text: "done", Owe: []tool.Debt{{Kind: owed.Kind, To: string(owed.To), Data: owed.Data}}}, nil
}
