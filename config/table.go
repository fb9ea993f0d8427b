package config

// settings returns the table of all keys, in the order in which they are
// explained and written. It is the one place where a setting is defined.
func settings() []setting {
	all := []setting{
		{
			key: "data_dir", kind: path, def: "{xdg_data}/herald", restart: true,
			doc: "Folder for everything that Herald writes itself: the embedded store, the control socket, the terminal's history.",
		},
		{
			key: "socket", kind: path, def: "{data_dir}/herald.sock", check: checkSocket, restart: true,
			doc: "Local socket over which commands reach a running service.",
		},
		{
			key: "timezone", kind: text, def: "UTC", form: "IANA name", check: checkZone, restart: true,
			doc: "Time zone of the installation, used where neither the person nor the workspace has one.",
		},
		{
			key: "admins", kind: list, optional: true, sample: "slack:T0123/U0456", form: "slack:TEAM/USER, discord:ID", check: checkIdentity,
			doc: "Identities that are admins from the first start on.",
		},
		{
			key: "shutdown_grace_seconds", kind: whole, unit: "seconds", def: "25", min: 0, max: 3600, restart: true,
			doc: "How long running turns may go on at shutdown before they are left for the next start. Keep it below the time after which the supervisor kills the process.",
		},
	}
	all = append(all, storeSettings()...)
	all = append(all, slackSettings()...)
	all = append(all, modelSettings()...)
	all = append(all, serviceSettings()...)
	all = append(all, engineSettings()...)
	all = append(all, toolSettings()...)
	return append(all, permissionSettings()...)
}

func storeSettings() []setting {
	return []setting{
		{
			key: "store.url", kind: text, def: "sqlite:{data_dir}/herald.db", form: storeForms, check: checkStoreURL, restart: true,
			doc: "Where everything is kept: an embedded file for one process, Redis for several replicas, memory for trials.",
		},
		{
			key: "store.password_env", kind: envName, optional: true, sample: "REDIS_PASSWORD", only: driverRedis, form: "name of a variable", check: checkEnvName, restart: true,
			doc: "Environment variable that holds the password of Redis.",
		},
		{
			key: "store.password_file", kind: secretFile, optional: true, sample: "/run/secrets/redis_password", only: driverRedis, restart: true,
			doc: "File that holds the password of Redis, instead of password_env.",
		},
		{
			key: "store.sentinel_password_env", kind: envName, optional: true, sample: "SENTINEL_PASSWORD", only: ModeSentinel, form: "name of a variable", check: checkEnvName, restart: true,
			doc: "Environment variable that holds the password of the sentinels themselves.",
		},
		{
			key: "store.sentinel_password_file", kind: secretFile, optional: true, sample: "/run/secrets/sentinel_password", only: ModeSentinel, restart: true,
			doc: "File that holds the password of the sentinels, instead of sentinel_password_env.",
		},
		{
			key: "store.wait_replicas", kind: whole, unit: "replicas", def: "0", min: 0, max: 16, only: driverRedis, restart: true,
			doc: "How many replicas of Redis must have a message before the platform is told that it arrived.",
		},
		{
			key: "store.require_persistence", kind: truth, def: "false", only: driverRedis, restart: true,
			doc: "Refuse to start, instead of warning, when Redis runs without append-only persistence.",
		},
		{
			key: "store.sqlite_sync", kind: text, choices: []string{"full", "normal"}, def: "full", only: driverSQLite, restart: true,
			doc: "When SQLite flushes to disk: full at every commit, normal at checkpoints, where a power cut can lose the last commits.",
		},
	}
}

func modelSettings() []setting {
	return []setting{
		{
			key: "providers.*.type", kind: text, choices: []string{"openai"}, def: "openai",
			doc: "Protocol of the endpoint. openai is spoken by OpenAI and by every compatible server.",
		},
		{
			key: "providers.*.base_url", kind: text, def: defaultBaseURL, form: "http(s)://HOST/PATH", check: checkBaseURL,
			doc: "Address of the endpoint, without /chat/completions.",
		},
		{
			key: "providers.*.api_key_env", kind: envName, optional: true, sample: "OPENAI_API_KEY", form: "name of a variable", check: checkEnvName,
			doc: "Environment variable that holds the key. Endpoints without a key need none.",
		},
		{
			key: "providers.*.api_key_file", kind: secretFile, optional: true, sample: "/run/secrets/openai_api_key",
			doc: "File that holds the key, instead of api_key_env.",
		},
		{
			key: "providers.*.default_model", kind: text, optional: true, sample: "gpt-4.1-mini", form: "the provider's own id",
			doc: "Model for every [models.NAME] of this provider that names none; without such a section it is a model of its own, named like the provider.",
		},
		{
			key: "providers.*.stream_usage", kind: truth, def: "true",
			doc: "Ask for token counts in streamed answers. Turn it off for servers that refuse the option; costs are then unknown.",
		},
		{
			key: "models.*.provider", kind: text, optional: true, sample: "NAME", form: "name of a provider",
			doc: "Provider that serves the model. May be left out when there is only one, or one of the model's name.",
		},
		{
			key: "models.*.model", kind: text, optional: true, sample: "gpt-4.1-mini", form: "the provider's own id",
			doc: "Id of the model at the provider. May be left out when the provider has a default_model.",
		},
		{
			key: "models.*.strength", kind: text, optional: true, sample: "average", choices: []string{"very_low", "low", "average", "high", "very_high"},
			doc: "How able the model is. An agent that asks for a strength gets the nearest one; a model without it counts as too weak.",
		},
		{
			key: "models.*.scope", kind: text, optional: true, sample: "everyday questions", form: "free text",
			doc: "What the model is good for. It breaks ties between models of one strength.",
		},
		{
			key: "models.*.priority", kind: whole, def: "100", min: 1, max: 10000,
			doc: "Order among equally suited models: lower goes first.",
		},
		{
			key: "models.*.context_tokens", kind: whole, unit: "tokens", def: "128000", min: 1024, max: 100_000_000,
			doc: "Size of the model's context. Set it for local models: a value above the real one ends in errors of the provider.",
		},
		{
			key: "models.*.images", kind: truth, def: "false",
			doc: "The model takes pictures. One that does not is told that there are some, and a request with pictures prefers models that do.",
		},
		{
			key: "models.*.thinking", kind: truth, def: "false",
			doc: "The model takes reasoning_effort. What agents say of thinking is sent to such a model alone; others may refuse the field.",
		},
		{
			key: "models.*.temperature", kind: decimal, optional: true, sample: "0.7", min: 0, max: 2,
			doc: "Sampling temperature. Without it the provider's own holds.",
		},
		{
			key: "models.*.max_output_tokens", kind: whole, unit: "tokens", optional: true, sample: "4096", min: 1, max: 10_000_000,
			doc: "Longest answer. Without it the provider's own limit holds.",
		},
		{
			key: "models.*.input_price", kind: decimal, unit: perMillion, optional: true, sample: "0.4", min: 0, max: 1_000_000,
			doc: "Price of tokens sent, in one currency of your choice. Without it costs are shown as unknown.",
		},
		{
			key: "models.*.cached_price", kind: decimal, unit: perMillion, optional: true, sample: "0.1", min: 0, max: 1_000_000,
			doc: "Price of tokens that the provider read from its cache. Without it costs with cached tokens are unknown.",
		},
		{
			key: "models.*.output_price", kind: decimal, unit: perMillion, optional: true, sample: "1.6", min: 0, max: 1_000_000,
			doc: "Price of tokens received. Without it costs are shown as unknown.",
		},
	}
}

func serviceSettings() []setting {
	return []setting{
		{
			key: "http.listen", kind: text, def: "127.0.0.1:8080", form: "HOST:PORT | off", check: checkListen, restart: true,
			doc: "Address for health checks and metrics. Port 0 takes a free one.",
		},
		{
			key: "log.level", kind: text, choices: []string{"debug", "info", "warn", "error"}, def: "info",
			doc: "Least severity that is logged.",
		},
		{
			key: "log.format", kind: text, choices: []string{"text", "json"}, def: "text", restart: true,
			doc: "Form of the log on stderr.",
		},
		{
			key: "agents.dir", kind: path, def: "{data_dir}/agents", restart: true,
			doc: "Folder with your own agents, one folder each. They come beside the built-in ones.",
		},
		{
			key: "skills.dir", kind: path, def: "{data_dir}/skills", restart: true,
			doc: "Folder with your own skills, one folder each.",
		},
		{
			key: "skills.project_dir", kind: path, optional: true, sample: "/srv/project/.agents/skills", restart: true,
			doc: "Folder with the skills of a project. Where a name stands in several folders, skills.dir comes first, then this one.",
		},
		{
			key: "skills.personal_dir", kind: path, optional: true, sample: "~/.agents/skills", restart: true,
			doc: "Folder with the skills of the person who runs Herald. It comes after skills.project_dir.",
		},
		{
			key: "skills.plugin_dirs", kind: list, optional: true, sample: "/srv/plugins/office", form: "absolute paths", check: checkAbsolute, restart: true,
			doc: "Folders with the skills of plugins, which come last, in this order.",
		},
		{
			key: "skills.unsandboxed", kind: truth, def: "false", restart: true,
			doc: "Run scripts of skills and commands of tools also where bwrap is missing or does not work, with all rights that Herald has itself.",
		},
		{
			key: "tools.dir", kind: path, def: "{data_dir}/tools", restart: true,
			doc: "Folder with your own tools for all agents, one TOML file each. Those of one agent stand in the folder tools of its own folder.",
		},
		{
			key: "files.dir", kind: path, def: "{data_dir}/files", restart: true,
			doc: "Folder for the working folders of agents. Several replicas must share it.",
		},
		{
			key: "console.history_file", kind: path, def: "{data_dir}/console_history", restart: true,
			doc: "What was typed in the terminal, for the next time.",
		},
	}
}

func engineSettings() []setting {
	return []setting{
		{
			key: "turn.lease_seconds", kind: whole, unit: "seconds", def: "30", min: 1, max: 600, restart: true,
			doc: "How long a worker may be silent before another one takes its turn over.",
		},
		{
			key: "turn.max_rounds", kind: whole, unit: "rounds", def: "20", min: 1, max: 200, restart: true,
			doc: "How often a model may call tools within one turn before the turn ends with a message that says so.",
		},
		{
			key: "turn.compact_percent", kind: whole, unit: "percent", def: "70", min: 0, max: 95, restart: true,
			doc: "At how much of the model's context the older part of a conversation is summarised for the model. The log stays whole. 0 means only when a request was too long.",
		},
		{
			key: "turn.stream_edit_ms", kind: whole, unit: "milliseconds", def: "1000", min: 50, max: 60_000, restart: true,
			doc: "Least time between two updates of an answer that is being written. Platforms limit how often a message may be edited.",
		},
		{
			key: "workers.turns", kind: whole, unit: "turns", def: "64", min: 1, max: 4096, restart: true,
			doc: "How many turns one replica works on at once.",
		},
		{
			key: "outbox.channel_interval_ms", kind: whole, unit: "milliseconds", def: "1000", min: 0, max: 60_000, restart: true,
			doc: "Least time between two messages to one channel. 0 lifts the limit.",
		},
		{
			key: "outbox.workspace_interval_ms", kind: whole, unit: "milliseconds", def: "50", min: 0, max: 60_000, restart: true,
			doc: "Least time between two calls of one kind to one workspace. 0 lifts the limit.",
		},
		{
			key: "outbox.answer_max_age_minutes", kind: whole, unit: "minutes", def: "15", min: 1, max: 1440, restart: true,
			doc: "An answer that could not be sent for so long is replaced by a line that says when it was written.",
		},
		{
			key: "outbox.max_attempts", kind: whole, unit: "attempts", def: "5", min: 1, max: 100, restart: true,
			doc: "How often a platform may refuse a message before it is set aside for an admin. Outages do not count.",
		},
		{
			key: "intake.bot_exchanges", kind: whole, unit: "messages", def: "20", min: 1, max: 10_000, restart: true,
			doc: "How many messages two bots may exchange within bot_window_seconds before Herald falls silent.",
		},
		{
			key: "intake.bot_window_seconds", kind: whole, unit: "seconds", def: "60", min: 1, max: 86_400, restart: true,
			doc: "Window in which bot_exchanges counts.",
		},
		{
			key: "intake.bot_silence_seconds", kind: whole, unit: "seconds", def: "60", min: 1, max: 86_400, restart: true,
			doc: "How long Herald stays silent towards a bot after that.",
		},
		{
			key: "intake.inbox_limit", kind: whole, unit: "messages", def: "1000", min: 1, max: 100_000, restart: true,
			doc: "How many messages may wait in one conversation. Further ones are refused, and their writer is told.",
		},
		{
			key: "model_timeouts.first_token_seconds", kind: whole, unit: "seconds", def: "120", min: 1, max: 3600,
			doc: "How long a model may think before its first word. Models that reason need minutes.",
		},
		{
			key: "model_timeouts.between_tokens_seconds", kind: whole, unit: "seconds", def: "60", min: 1, max: 3600,
			doc: "How long a model may pause within an answer.",
		},
	}
}

const (
	envPrefix      = "HERALD_"
	envConfigFile  = "HERALD_CONFIG"
	defaultBaseURL = "https://api.openai.com/v1"
	perMillion     = "per million tokens"
	providersKey   = "providers"
	modelsKey      = "models"
	rulesKey       = "rules"
	groupsKey      = "groups"
	rolesKey       = "roles"
)
