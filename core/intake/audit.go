package intake

import (
	"encoding/json"
	"fmt"

	"herald/core/chat"
	"herald/core/conversation"
	"herald/core/store"
)

// AuditRow is an entry of the log of commands that changed something; the entry's kind is the command's name or "decide". It is
// written in the commit of the change.
type AuditRow struct {
	V int `json:"v"`
	// By is the person, Identity the account; MessageID the message or invocation.
	By        string          `json:"by"`
	Identity  chat.IdentityID `json:"identity"`
	MessageID string          `json:"message_id"`
	// Wait and Result are those of a decision.
	Wait   string `json:"wait,omitempty"`
	Result string `json:"result,omitempty"`
}

func (e *event) audit(kind, wait, result string) store.Op {
	b, err := json.Marshal(AuditRow{
		V: conversation.Version, By: e.who.ID, Identity: e.in.Sender.Identity, MessageID: e.in.MessageID, Wait: wait, Result: result,
	})
	if err != nil {
		panic(fmt.Sprintf("intake: encode an audit row: %v", err)) // strings only, which all encode
	}
	return store.Append{Log: conversation.Audit, ID: e.in.MessageID, Kind: kind, Data: b}
}
