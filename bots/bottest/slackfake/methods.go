package slackfake

// The tiers of methods: calls a minute.
const (
	tier2 = 20
	tier3 = 50
	tier4 = 100
)

// methods is the Web API as far as a bot needs it. It is never changed.
var methods = map[string]method{
	"auth.test":             {do: (*Server).authTest},
	"apps.connections.open": {do: (*Server).connectionsOpen, appToken: true, tier: tier3},

	"chat.postMessage":   {do: (*Server).postMessage, scopes: []string{"chat:write"}},
	"chat.update":        {do: (*Server).updateMessage, scopes: []string{"chat:write"}, tier: tier3},
	"chat.delete":        {do: (*Server).deleteMessage, scopes: []string{"chat:write"}, tier: tier3},
	"chat.postEphemeral": {do: (*Server).postEphemeral, scopes: []string{"chat:write"}, tier: tier4},
	"chat.getPermalink":  {do: (*Server).permalink},

	"chat.startStream":  {do: (*Server).startStream, scopes: []string{"chat:write"}, tier: tier2},
	"chat.appendStream": {do: (*Server).appendStream, scopes: []string{"chat:write"}, tier: tier4},
	"chat.stopStream":   {do: (*Server).stopStream, scopes: []string{"chat:write"}, tier: tier2},

	"assistant.threads.setStatus":           {do: (*Server).setStatus, scopes: []string{"chat:write", "assistant:write"}},
	"assistant.threads.setTitle":            {do: (*Server).setTitle, scopes: []string{"assistant:write"}, tier: tier4},
	"assistant.threads.setSuggestedPrompts": {do: (*Server).setPrompts, scopes: []string{"assistant:write"}, tier: tier4},
	"agents.sessions.setStatus":             {do: (*Server).setSession, scopes: []string{"chat:write", "assistant:write"}, tier: tier4},
	"agents.sessions.rename":                {do: (*Server).renameSession, scopes: []string{"assistant:write"}, tier: tier4},

	"views.open":    {do: (*Server).openView, tier: tier4},
	"views.push":    {do: (*Server).pushView, tier: tier4},
	"views.update":  {do: (*Server).updateView, tier: tier4},
	"views.publish": {do: (*Server).publishView, tier: tier4},

	"files.getUploadURLExternal":   {do: (*Server).uploadURL, scopes: []string{"files:write"}, tier: tier4},
	"files.completeUploadExternal": {do: (*Server).completeUpload, scopes: []string{"files:write"}, tier: tier4},
	"files.info":                   {do: (*Server).fileInfo, scopes: []string{"files:read"}, tier: tier4},
	"files.delete":                 {do: (*Server).fileDelete, scopes: []string{"files:write"}, tier: tier3},

	"conversations.history": {do: (*Server).history, scopes: historyScopes, tier: tier3},
	"conversations.replies": {do: (*Server).replies, scopes: historyScopes, tier: tier3},
	"conversations.info":    {do: (*Server).channelInfo, scopes: readScopes, tier: tier3},
	"conversations.members": {do: (*Server).channelMembers, scopes: readScopes, tier: tier4},
	"conversations.list":    {do: (*Server).channelList, scopes: readScopes, tier: tier2},
	"conversations.open":    {do: (*Server).channelOpen, scopes: []string{"im:write", "mpim:write"}, tier: tier3},
	"conversations.join":    {do: (*Server).channelJoin, scopes: []string{"channels:join"}, tier: tier3},
	"users.conversations":   {do: (*Server).memberList, scopes: readScopes, tier: tier3},
	"users.info":            {do: (*Server).userInfo, scopes: []string{"users:read"}, tier: tier4},
	"users.list":            {do: (*Server).userList, scopes: []string{"users:read"}, tier: tier2},
	"bots.info":             {do: (*Server).botInfo, scopes: []string{"users:read"}, tier: tier3},
	"team.info":             {do: (*Server).teamInfo, scopes: []string{"team:read"}, tier: tier3},
	"reactions.add":         {do: (*Server).reactionAdd, scopes: []string{"reactions:write"}, tier: tier3},
	"reactions.remove":      {do: (*Server).reactionRemove, scopes: []string{"reactions:write"}, tier: tier2},
}

var (
	historyScopes = []string{"channels:history", "groups:history", "im:history", "mpim:history"}
	readScopes    = []string{"channels:read", "groups:read", "im:read", "mpim:read"}
)

func (s *Server) authTest(c *call) (reply, *refusal) {
	if c.in == nil {
		return reply{"app_name": c.app.Name, "app_id": c.app.ID}, nil
	}
	out := reply{
		"url": s.url + "/", "team": "", "team_id": c.in.Team, "user": s.users[c.in.BotUser].Name, "user_id": c.in.BotUser, "bot_id": c.in.BotID,
		"is_enterprise_install": c.in.Team == "" && c.in.Enterprise != "",
	}
	if t := s.teams[c.in.Team]; t != nil {
		out["team"] = t.Name
		if t.Enterprise != "" {
			out["enterprise_id"] = t.Enterprise
		}
	}
	if c.in.Enterprise != "" {
		out["enterprise_id"] = c.in.Enterprise
	}
	return out, nil
}
