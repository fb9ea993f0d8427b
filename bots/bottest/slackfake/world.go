package slackfake

import (
	"cmp"
	"slices"
	"strings"
)

// Workspace is one Slack team.
type Workspace struct {
	ID     string
	Name   string
	Domain string
	// Enterprise is the id of the grid it belongs to, if any.
	Enterprise string
}

// User is an account of a workspace.
type User struct {
	ID, Team   string
	Name, Real string
	Email, TZ  string
	// TZOffset is in seconds east of UTC.
	TZOffset int
	Admin    bool
	// Guest is a restricted account; SingleChannel one that is bound to one channel.
	Guest, SingleChannel bool
	// Deactivated accounts can do nothing and take no direct message.
	Deactivated bool
	Bot         bool
	// Locale such as "en-US".
	Locale string
}

// App is an app as its manifest declares it.
type App struct {
	ID, Name      string
	AppToken      string
	SigningSecret string
	// RequestURL takes events, CommandURL slash commands and InteractiveURL clicks and forms over HTTP. Empty ones mean Socket Mode; the
	// latter two follow the first when they are empty.
	RequestURL, CommandURL, InteractiveURL string
	// Events are the subscriptions, such as "message.channels" and "app_mention"; nil means all.
	Events []string
	// AgentView and AssistantView are the features of the manifest by which the app's direct messages are an agent's.
	AgentView, AssistantView bool
	// NoMessagesTab closes the app's direct messages.
	NoMessagesTab bool
}

// Install is an app in a workspace.
type Install struct {
	App, Team string
	// Enterprise is set for an install in a whole grid; Team is empty then.
	Enterprise     string
	Token          string
	BotUser, BotID string
	// Scopes are what the bot token may do; nil means all.
	Scopes []string
}

// Channel is a conversation. Direct messages come to be by themselves.
type Channel struct {
	ID, Name, Team string
	Private        bool
	Archived       bool
	Members        []string
	// SharedWith are other workspaces that see it by Slack Connect.
	SharedWith []string
	// AdminsOnly refuses posts of others with restricted_action; ThreadsOnly top-level ones, NoThreads replies.
	AdminsOnly, ThreadsOnly, NoThreads bool
	// IM marks a direct message, whose person is With and whose bot is Bot.
	IM        bool
	With, Bot string
	// MPIM marks a direct message of several people.
	MPIM  bool
	Topic string
}

type (
	team struct{ Workspace }
	user struct{ User }
	app  struct {
		App
		conns []*conn
		turn  int
	}
	install struct {
		Install
		app  *app
		dead string // the error of a token that is no more
	}
	channel struct {
		Channel
		members  map[string]bool
		top      []*Message
		threads  map[string][]*Message
		byTS     map[string]*Message
		whispers []*Message
		sessions map[string]*agentThread
		// looking is the channel that the person looks at beside the agent's direct message.
		looking string
	}
)

// standing makes the world of the package's constants.
func (s *Server) standing() {
	a := s.opt.App
	a.ID, a.Name = cmp.Or(a.ID, AppID), cmp.Or(a.Name, "herald")
	a.AppToken, a.SigningSecret = cmp.Or(a.AppToken, AppToken), cmp.Or(a.SigningSecret, SigningSecret)
	s.AddWorkspace(Workspace{ID: Team, Name: "Lab", Domain: "lab"})
	s.AddApp(a)
	s.Install(Install{App: a.ID, Team: Team, Token: BotToken, BotUser: BotUser, BotID: BotID})
	for _, u := range []User{{ID: Alice, Name: "alice", Real: "Alice Liddell", Admin: true}, {ID: Bob, Name: "bob", Real: "Bob Stone"}, {ID: Carol, Name: "carol", Real: "Carol Reed"}} {
		u.Team, u.TZ, u.Locale, u.Email = Team, "Europe/London", "en-GB", u.Name+"@lab.example"
		s.AddUser(u)
	}
	everyone := []string{Alice, Bob, Carol, BotUser}
	s.AddChannel(Channel{ID: General, Name: "general", Team: Team, Members: everyone})
	s.AddChannel(Channel{ID: Random, Name: "random", Team: Team, Members: everyone})
}

// AddWorkspace adds a workspace, or replaces the one with its id.
func (s *Server) AddWorkspace(w Workspace) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w.Name, w.Domain = cmp.Or(w.Name, w.ID), cmp.Or(w.Domain, strings.ToLower(w.ID))
	s.teams[w.ID] = &team{w}
}

// AddApp adds an app, or changes the one with its id; its sockets stay.
func (s *Server) AddApp(a App) {
	s.mu.Lock()
	defer s.mu.Unlock()
	a.CommandURL, a.InteractiveURL = cmp.Or(a.CommandURL, a.RequestURL), cmp.Or(a.InteractiveURL, a.RequestURL)
	if old := s.apps[a.ID]; old != nil {
		old.App = a
		return
	}
	s.apps[a.ID] = &app{App: a}
}

// Install puts an app into a workspace (or, without Team, into a grid) and makes its bot user.
func (s *Server) Install(in Install) {
	s.mu.Lock()
	defer s.mu.Unlock()
	i := &install{Install: in, app: s.apps[in.App]}
	s.installs = append(s.installs, i)
	s.tokens[in.Token] = i
	s.users[in.BotUser] = &user{User{ID: in.BotUser, Team: in.Team, Name: i.app.Name, Real: i.app.Name, Bot: true}}
}

// AddUser adds an account, or replaces the one with its id.
func (s *Server) AddUser(u User) {
	s.mu.Lock()
	defer s.mu.Unlock()
	u.Name = cmp.Or(u.Name, strings.ToLower(u.ID))
	u.Real = cmp.Or(u.Real, u.Name)
	s.users[u.ID] = &user{u}
}

// AddChannel adds a channel.
func (s *Server) AddChannel(c Channel) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.addChannel(c)
}

// SetChannel changes what a channel is (its messages stay): archived, for admins only, and so on. Members changes nothing here: see [Server.Join] and [Server.Leave].
func (s *Server) SetChannel(id string, change func(*Channel)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if ch := s.channels[id]; ch != nil {
		change(&ch.Channel)
	}
}

// SetUser changes an account, such as to deactivate it.
func (s *Server) SetUser(id string, change func(*User)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if u := s.users[id]; u != nil {
		change(&u.User)
	}
}

func (s *Server) addChannel(c Channel) *channel {
	ch := &channel{Channel: c, members: map[string]bool{}, threads: map[string][]*Message{}, byTS: map[string]*Message{}, sessions: map[string]*agentThread{}}
	for _, m := range c.Members {
		ch.members[m] = true
	}
	s.channels[c.ID] = ch
	return ch
}

// dm is the direct message of a bot and a person; it is made when there is none. s.mu is held.
func (s *Server) dm(bot, person string) *channel {
	key := [2]string{bot, person}
	if ch := s.dms[key]; ch != nil {
		return ch
	}
	ch := s.addChannel(Channel{ID: s.nextID("D"), Team: s.users[person].Team, IM: true, With: person, Bot: bot, Members: []string{bot, person}})
	s.dms[key] = ch
	return ch
}

// DM is the id of the direct message of a person and the bot of an install; "" names the first install.
func (s *Server) DM(person, bot string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if bot == "" {
		bot = s.installs[0].BotUser
	}
	return s.dm(bot, person).ID
}

// Kill makes a token useless: calls with it are answered by code, such as token_revoked, account_inactive or invalid_auth. An empty code heals it.
func (s *Server) Kill(token, code string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.tokens[token]; i != nil {
		i.dead = code
	}
}

// SetScopes changes what a token may do; nil means all.
func (s *Server) SetScopes(token string, scopes []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if i := s.tokens[token]; i != nil {
		i.Scopes = scopes
	}
}

// sees reports whether an install hears of a channel: its bot is a member. s.mu is held.
func (i *install) sees(ch *channel) bool { return ch.members[i.BotUser] }

// reaches reports whether a channel exists for an install's workspace at all.
func (i *install) reaches(ch *channel) bool {
	return i.Team == "" || ch.Team == i.Team || slices.Contains(ch.SharedWith, i.Team) || ch.members[i.BotUser]
}

// kind is Slack's channel_type.
func (ch *channel) kind() string {
	switch {
	case ch.IM:
		return "im"
	case ch.MPIM:
		return "mpim"
	case ch.Private:
		return "group"
	}
	return "channel"
}

func (i *install) has(scope string) bool { return i.Scopes == nil || slices.Contains(i.Scopes, scope) }
