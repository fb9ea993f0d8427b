package config

import (
	"crypto/sha256"
	"slices"
	"time"
)

// Config is a checked configuration. It is read-only: a change makes a new one.
type Config struct {
	// File is the file that was read, as it was named; "" when there was none.
	File string

	Store         Store         `key:"store"`
	Providers     []Provider    `key:"providers"` // in the order of their first mention
	Models        []Model       `key:"models"`    // likewise; implied models last
	Rules         []Rule        `key:"rules"`     // in the order of the file
	Groups        []Group       `key:"groups"`
	Roles         []Role        `key:"roles"`
	Approvals     Approvals     `key:"approvals"`
	Web           Web           `key:"web"`
	Commands      Commands      `key:"commands"`
	HTTP          HTTP          `key:"http"`
	Log           Log           `key:"log"`
	Agents        Folder        `key:"agents"`
	Skills        Skills        `key:"skills"`
	Tools         Folder        `key:"tools"`
	Files         Folder        `key:"files"`
	Turn          Turn          `key:"turn"`
	Workers       Workers       `key:"workers"`
	Outbox        Outbox        `key:"outbox"`
	Intake        Intake        `key:"intake"`
	ModelTimeouts ModelTimeouts `key:"model_timeouts"`
	Console       Console       `key:"console"`
	Slack         Slack         `key:"slack"`

	// Timezone is the IANA name of the installation's zone; Location gives it
	// loaded.
	Timezone string `key:"timezone"`
	// Admins are identities such as "slack:T123/U1" or "discord:789".
	Admins []string `key:"admins"`
	// DataDir is the absolute folder of everything that Herald itself writes.
	DataDir string `key:"data_dir"`
	// Socket is the absolute path of the local control socket.
	Socket string `key:"socket"`
	// ShutdownGrace is how long running turns may take to end at shutdown.
	ShutdownGrace time.Duration `key:"shutdown_grace_seconds"`

	location *time.Location
	origin   map[string]effective // concrete key → what stands in force
	files    []string             // absolute paths of all files that were read
	digests  map[string][sha256.Size]byte
	blank    bool // the file holds nothing but blanks and comments
}

// Store says where everything is kept.
type Store struct {
	// URL never holds a password; see Password.
	URL                string `key:"url"`
	WaitReplicas       int    `key:"wait_replicas"`
	RequirePersistence bool   `key:"require_persistence"`
	SQLiteSync         string `key:"sqlite_sync"` // "full" or "normal"
	PasswordEnv        string `key:"password_env"`
	PasswordFile       string `key:"password_file"`

	SentinelPasswordEnv  string `key:"sentinel_password_env"`
	SentinelPasswordFile string `key:"sentinel_password_file"`

	// Password is what password_env, password_file or the URL gave.
	Password Secret
	// SentinelPassword is what sentinel_password_env or _file gave.
	SentinelPassword Secret
	// Target is URL taken apart.
	Target StoreTarget
}

// Provider is one endpoint that serves models.
type Provider struct {
	Name         string
	Type         string `key:"type"` // "openai"
	BaseURL      string `key:"base_url"`
	APIKeyEnv    string `key:"api_key_env"`
	APIKeyFile   string `key:"api_key_file"`
	DefaultModel string `key:"default_model"` // "" when there is none
	StreamUsage  bool   `key:"stream_usage"`

	// APIKey is what api_key_env or api_key_file gave; not set for an endpoint
	// that needs none.
	APIKey Secret
}

// Model is one model as Herald names it.
type Model struct {
	Name     string
	Provider string `key:"provider"`
	Model    string `key:"model"`    // the provider's own id
	Strength string `key:"strength"` // "very_low" … "very_high", "" when unrated
	Scope    string `key:"scope"`
	Priority int    `key:"priority"` // lower goes first

	ContextTokens int `key:"context_tokens"`
	// Images: it takes pictures.
	Images bool `key:"images"`
	// Thinking: it takes reasoning_effort.
	Thinking bool `key:"thinking"`
	// Nil in the following means that the request leaves it to the provider.
	Temperature     *float64 `key:"temperature"`
	MaxOutputTokens *int     `key:"max_output_tokens"`
	// Prices are per million tokens. Nil means unknown, which is not free.
	InputPrice  *float64 `key:"input_price"`
	CachedPrice *float64 `key:"cached_price"`
	OutputPrice *float64 `key:"output_price"`

	// Implied is true for the model that a provider's default_model stands
	// for when no [models.NAME] uses that provider.
	Implied bool
}

// HTTP configures the endpoint for health and metrics.
type HTTP struct {
	// Listen is host:port; "off" means that nothing listens.
	Listen string `key:"listen"`
}

// Log configures the structured log.
type Log struct {
	Level  string `key:"level"`  // "debug", "info", "warn" or "error"
	Format string `key:"format"` // "text" or "json"
}

// Skills says where skills are and how their scripts run.
type Skills struct {
	// Dir, ProjectDir and PersonalDir are absolute, the last two "" for none.
	// The first folder to have a name wins, PluginDirs come last.
	Dir         string   `key:"dir"`
	ProjectDir  string   `key:"project_dir"`
	PersonalDir string   `key:"personal_dir"`
	PluginDirs  []string `key:"plugin_dirs"`
	// Unsandboxed lets scripts and commands run without a sandbox where none
	// works.
	Unsandboxed bool `key:"unsandboxed"`
}

// Folder is a folder of the operator's.
type Folder struct {
	// Dir is absolute. It need not exist while it is the default.
	Dir string `key:"dir"`
}

// Turn bounds one turn.
type Turn struct {
	Lease     time.Duration `key:"lease_seconds"`
	MaxRounds int           `key:"max_rounds"`
	// CompactPercent of the model's context filled has the older part of a history summarised; 0 means never by itself.
	CompactPercent int           `key:"compact_percent"`
	StreamEdit     time.Duration `key:"stream_edit_ms"`
}

// Workers bounds what runs side by side.
type Workers struct {
	Turns int `key:"turns"`
}

// Outbox paces and bounds deliveries.
type Outbox struct {
	ChannelInterval   time.Duration `key:"channel_interval_ms"`
	WorkspaceInterval time.Duration `key:"workspace_interval_ms"`
	AnswerMaxAge      time.Duration `key:"answer_max_age_minutes"`
	MaxAttempts       int           `key:"max_attempts"`
}

// Intake guards against floods and loops.
type Intake struct {
	BotExchanges int           `key:"bot_exchanges"`
	BotWindow    time.Duration `key:"bot_window_seconds"`
	BotSilence   time.Duration `key:"bot_silence_seconds"`
	InboxLimit   int           `key:"inbox_limit"`
}

// ModelTimeouts bounds the waiting for a model.
type ModelTimeouts struct {
	FirstToken    time.Duration `key:"first_token_seconds"`
	BetweenTokens time.Duration `key:"between_tokens_seconds"`
}

// Console configures the terminal.
type Console struct {
	HistoryFile string `key:"history_file"`
}

// Location returns the installation's time zone.
func (c *Config) Location() *time.Location { return c.location }

// Provider returns the provider of that name.
func (c *Config) Provider(name string) (Provider, bool) {
	i := slices.IndexFunc(c.Providers, func(p Provider) bool { return p.Name == name })
	if i < 0 {
		return Provider{}, false
	}
	return c.Providers[i], true
}

// Model returns the model of that name.
func (c *Config) Model(name string) (Model, bool) {
	i := slices.IndexFunc(c.Models, func(m Model) bool { return m.Name == name })
	if i < 0 {
		return Model{}, false
	}
	return c.Models[i], true
}

// Source says where the effective value of a key, such as "store.url" or
// "models.fast.strength", came from. An unknown key has the zero Source.
func (c *Config) Source(key string) Source { return c.origin[key].source }

// ReadFiles returns the absolute paths of all files that this configuration was
// read from: the configuration itself and the files of its secrets.
func (c *Config) ReadFiles() []string { return slices.Clone(c.files) }

// effective is a value in force: as text for people, with its source.
type effective struct {
	text   string // never a secret
	source Source
}
