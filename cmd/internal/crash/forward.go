package main

import (
	"context"

	"herald/bots/slack"
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

// forward owes another conversation a message. Its id is that of the call, and it stands behind all that people say there. A thread of Slack
// needs a root, so there it goes to the channel itself.
func forward(_ context.Context, c tool.Call) (tool.Result, error) {
	where := chat.Conversation{Workspace: c.Conversation.Workspace, Channel: c.Conversation.Channel, Thread: forwardTo}
	if where.Workspace.Platform() == slack.Platform {
		where.Thread = ""
	}
	to := conversation.Partition(where)
	owed := handover.OweMessage(c.ID, to, &conversation.Message{
		MessageID: "f" + c.ID, Order: "9" + c.ID, Person: c.Person, Text: "#" + forwarded + tokenOf(c) + " " + verbPlain, Direct: true,
	})
	return tool.Result{Text: "done", Owe: []tool.Debt{{Kind: owed.Kind, To: string(owed.To), Data: owed.Data}}}, nil
}
