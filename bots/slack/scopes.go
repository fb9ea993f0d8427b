package slack

import "slices"

// Scope is a right that the app asks for.
type Scope struct {
	Name string
	// Why says to an operator what is missing without it.
	Why string
	// Methods and Events of Slack need it.
	Methods, Events []string
}

// BotScopes are the rights of the bot token: each is needed by a method that is called or an event that is handled, and nothing else is asked for.
func BotScopes() []Scope {
	return []Scope{
		{Name: "app_mentions:read", Why: "hear when somebody mentions Herald", Events: []string{"app_mention"}},
		{Name: "chat:write", Why: "answer, and change answers while they grow", Methods: []string{
			postMethod, updateMethod, ephemeralMethod, startMethod, appendMethod, stopMethod, statusMethod,
		}},
		{Name: "commands", Why: "the command /herald"},
		{Name: "assistant:write", Why: "titles and proposals in conversations with the agent", Methods: []string{titleMethod, promptsMethod}, Events: []string{
			"app_context_changed", "assistant_thread_started", "assistant_thread_context_changed", "agent_session_stopped",
		}},
		{Name: "channels:history", Why: "read threads of public channels in which it was mentioned, and find its own messages there after a crash", Methods: []string{repliesMethod, historyMethod}, Events: []string{"message.channels"}},
		{Name: "groups:history", Why: "the same in private channels", Methods: []string{repliesMethod, historyMethod}, Events: []string{"message.groups"}},
		{Name: "im:history", Why: "direct messages", Methods: []string{repliesMethod, historyMethod}, Events: []string{"message.im"}},
		{Name: "im:write", Why: "write to people first: to admins what to do after the installation, and trouble; to deciders what waits for their approval", Methods: []string{openDirectMethod}},
		{Name: "mpim:history", Why: "direct messages of several people", Methods: []string{repliesMethod, historyMethod}, Events: []string{"message.mpim"}},
		{Name: "files:read", Why: "read the files that people attach to their messages", Methods: []string{fileMethod}},
		{Name: "files:write", Why: "show files of the working folder where an agent is asked to", Methods: []string{uploadMethod, completeMethod}},
		{Name: "users:read", Why: "tell the model what people are called, and learn the app's own id", Methods: []string{usersMethod, botsMethod, peopleMethod}},
		{Name: "channels:read", Why: "herald doctor names the public channels that Herald is in; notes that members share stay closed where guests read along; threads that were opened during an outage are found", Methods: []string{listMethod, infoMethod, membersMethod, memberMethod}},
		{Name: "groups:read", Why: "the same for private channels", Methods: []string{listMethod, infoMethod, membersMethod, memberMethod}},
		{Name: "im:read", Why: "see whether a direct conversation is a guest's, and find those that were begun during an outage", Methods: []string{infoMethod, memberMethod}},
		{Name: "mpim:read", Why: "see whether guests read a direct conversation of several people, and find what was begun there during an outage", Methods: []string{infoMethod, membersMethod, memberMethod}},
	}
}

// freeMethods need no scope of the bot token; viewMethod needs a trigger and openMethod needs the app-level token's connections:write. Events without a scope are in freeEvents.
var (
	freeMethods = []string{identityMethod, openMethod, viewMethod}
	freeEvents  = []string{"app_home_opened", "app_uninstalled", "tokens_revoked"}
)

// AppScope is the right of the app-level token.
const AppScope = "connections:write"

// BotEvents are the subscriptions of the manifest, sorted.
func BotEvents() []string {
	all := slices.Clone(freeEvents)
	for _, s := range BotScopes() {
		all = append(all, s.Events...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}
