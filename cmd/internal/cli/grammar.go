package cli

// grammar is the command line. The texts are what --help and the shells' completions show.
type grammar struct {
	Config string `short:"c" placeholder:"FILE" help:"Configuration to use, instead of $$HERALD_CONFIG, ./herald.toml or the one in the user's configuration folder."`

	Run         runCmd         `cmd:"" help:"Run the service."`
	Chat        chatCmd        `cmd:"" help:"Talk in the terminal."`
	Demo        demoCmd        `cmd:"" help:"See it all at work in under a minute: no network, no token, no Redis."`
	DemoService demoServiceCmd `cmd:"" hidden:"" name:"demo-service"`
	Doctor      doctorCmd      `cmd:"" help:"Look for what is wrong with this installation, and say what to do about it."`
	Store       storeCmd       `cmd:"" help:"Make the store."`
	Init        initCmd        `cmd:"" help:"Ask for provider and store, try them, and write a configuration."`
	Settings    configCmd      `cmd:"" name:"config" help:"Check and explain the configuration."`
	Agents      agentsCmd      `cmd:"" help:"List, check, show and write agents."`
	Eval        evalCmd        `cmd:"" help:"Play the scenarios of agents with a model, and say which properties hold."`
	Skills      skillsCmd      `cmd:"" help:"List, check and write skills."`
	Tools       toolsCmd       `cmd:"" help:"List and check your own tools."`
	Version     versionCmd     `cmd:"" help:"Print the version."`
	Completion  completionCmd  `cmd:"" help:"Print a completion script for a shell."`
}

type configCmd struct {
	Check   configCheckCmd   `cmd:"" help:"Check the configuration and the agents' folder, and print a summary."`
	Explain configExplainCmd `cmd:"" help:"Print every setting with its value, where it came from, its unit and its bounds."`
}
