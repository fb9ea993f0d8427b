package cli

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"herald/agents"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/prompt"
	"herald/skills"
)

type agentsCmd struct {
	Check agentsCheckCmd `cmd:"" help:"Say what is wrong with the agents, and what was taken where a file says nothing."`
	List  agentsListCmd  `cmd:"" help:"List the agents."`
	Show  agentsShowCmd  `cmd:"" help:"Print an agent with its prompt as its model sees it."`
	Set   agentsSetCmd   `cmd:"" help:"Change one setting of an agent, and nothing else in its file."`
	New   agentsNewCmd   `cmd:"" help:"Write an agent that can be filled in."`
}

func (e *env) agents() (*config.Config, *agents.Registry, error) {
	cfg, err := e.load()
	if err != nil {
		return nil, nil, err
	}
	return cfg, agents.Open(service.AgentOptions(cfg, quietLog())), nil
}

// known is an agent that the command line names. One that its file keeps from being there is a fault of the configuration.
func known(reg *agents.Registry, id string) (agents.Agent, error) {
	a, err := reg.Now().Agent(id)
	switch {
	case err == nil:
		return a, nil
	case slices.ContainsFunc(reg.Problems(), func(p agents.Problem) bool { return p.Agent == id }):
		return agents.Agent{}, codeError{Config, err}
	default:
		return agents.Agent{}, usagef("%w; herald agents list names those that there are", err)
	}
}

type agentsCheckCmd struct {
	Strict bool `help:"Fail on notes too."`
}

// Run says what is wrong with agents.
func (c agentsCheckCmd) Run(e *env) error {
	cfg, reg, err := e.agents()
	if err != nil {
		return err
	}
	problems, notes := reg.Problems(), reg.Notes()
	for _, a := range reg.List() {
		if _, ok := cfg.Model(a.Model); a.Model != "" && !ok {
			problems = append(problems, agents.Problem{
				Agent: a.ID, Path: a.Source, Text: fmt.Sprintf("agent %q wants the model %q, which is not configured; add [models.%s], or change the agent", a.ID, a.Model, a.Model),
			})
		}
		if text, remedy := service.Unthinking(cfg, a); text != "" {
			notes = append(notes, agents.Problem{Agent: a.ID, Path: a.Source, Text: text + "; " + remedy})
		}
	}
	var b strings.Builder
	for _, p := range problems {
		fmt.Fprintf(&b, "error    %s\n", p)
	}
	for _, p := range notes {
		fmt.Fprintf(&b, "note     %s\n", p)
	}
	fmt.Fprintf(&b, "%s in force, %s, %s\n", counted(len(reg.List()), "agent"), counted(len(problems), "error"), counted(len(notes), "note"))
	if _, err := io.WriteString(e.Out, b.String()); err != nil {
		return err
	}
	if len(problems) > 0 || c.Strict && len(notes) > 0 {
		return quietError{Config}
	}
	return nil
}

type agentsListCmd struct{}

// Run lists agents.
func (agentsListCmd) Run(e *env) error {
	_, reg, err := e.agents()
	if err != nil {
		return err
	}
	rows := [][]string{}
	for _, a := range reg.List() {
		rows = append(rows, []string{a.ID, string(a.Type), a.Source, firstOf(a.Description)})
	}
	if err := e.table(rows, "There are no agents."); err != nil {
		return err
	}
	return e.unlisted(len(reg.Problems()), "agents")
}

type agentsShowCmd struct {
	ID  string `arg:"" help:"Agent to print."`
	Raw bool   `help:"Print the file with the prompt as it is written, to begin an agent of your own with."`
}

// Run prints an agent.
func (c agentsShowCmd) Run(e *env) error {
	cfg, reg, err := e.agents()
	if err != nil {
		return err
	}
	set := reg.Now()
	a, err := known(reg, c.ID)
	if err != nil {
		return err
	}
	if c.Raw {
		return c.raw(e, a)
	}
	var b strings.Builder
	for _, row := range settingsOf(a) {
		fmt.Fprintf(&b, "%-21s %s\n", row[0], row[1])
	}
	b.WriteString("\n" + prompt.Expand(a.Prompt, func(key string) string {
		if key == "AGENTS_LIST" {
			return service.AgentsList(set, a)
		}
		return ""
	}) + "\n")
	if a.InjectSkills {
		if block := skills.Open(service.SkillOptions(cfg, quietLog())).Index(a.ID, service.SkillSelector(a)); block != "" {
			b.WriteString("\n" + block + "\n")
		}
	}
	for _, p := range a.InjectMemory {
		fmt.Fprintf(&b, "\n<memory_file path=%q> is filled in at each turn, where it may be read\n", p)
	}
	_, err = io.WriteString(e.Out, b.String())
	return err
}

func (agentsShowCmd) raw(e *env, a agents.Agent) error {
	src, err := agents.BuiltInFile(a.ID)
	if a.Source != agents.BuiltIn {
		src, err = os.ReadFile(a.Source)
	}
	if err != nil {
		return err
	}
	_, err = e.Out.Write(src)
	return err
}

// settingsOf are the settings of an agent that say something.
func settingsOf(a agents.Agent) [][2]string {
	var out [][2]string
	add := func(name, value string) {
		if value != "" {
			out = append(out, [2]string{name, value})
		}
	}
	selected := func(s agents.Selector) string {
		switch {
		case s.All:
			return "all"
		case s.None():
			return "none"
		default:
			return strings.Join(s.Names, ", ")
		}
	}
	add("id", a.ID)
	add("source", a.Source)
	add("layout", string(a.Layout))
	add("name", a.Name)
	add("description", a.Description)
	add("instructions", a.Instructions)
	add("for people", a.FriendlyDescription)
	kind := string(a.Type)
	if a.TypeTaken {
		kind += " (taken, the file names none)"
	}
	add("type", kind)
	add("model", a.Model)
	add("strength", a.Strength)
	add("scope", a.Scope)
	if a.Temperature != nil {
		add("temperature", fmt.Sprint(*a.Temperature))
	}
	if a.Thinking != nil {
		add("thinking", map[int]string{-1: "as the model does by itself", 0: "none"}[*a.Thinking])
		if *a.Thinking > 0 {
			add("thinking", fmt.Sprintf("at most %d tokens", *a.Thinking))
		}
	}
	if a.MaxSteps > 0 {
		add("max_steps", fmt.Sprint(a.MaxSteps))
	}
	if a.Compaction != nil {
		add("compaction_enabled", fmt.Sprint(*a.Compaction))
	}
	if a.NoTools {
		add("allow_tools", "false")
	}
	add("tools", selected(a.Tools))
	add("skills", selected(a.Skills))
	if a.Delegates != nil {
		add("delegates", selected(agents.Selector{Chosen: true, Names: a.Delegates}))
	}
	add("inject_memory", strings.Join(a.InjectMemory, ", "))
	add("extra", strings.ReplaceAll(a.Extra, "\n", "\n                      "))
	return out
}

type agentsSetCmd struct {
	ID    string `arg:"" help:"Agent of your own folder."`
	Key   string `arg:"" help:"Setting to change."`
	Value string `arg:"" help:"New value, as the file has it: a word, a number, true, [a, b]."`
}

// Run changes a setting.
func (c agentsSetCmd) Run(e *env) error {
	_, reg, err := e.agents()
	if err != nil {
		return err
	}
	path, err := reg.Set(c.ID, c.Key, c.Value)
	if err != nil {
		return usageError{err}
	}
	_, err = fmt.Fprintf(e.Out, "%s: %s was changed; a running service takes it at its next turn\n", path, c.Key)
	return err
}

type agentsNewCmd struct {
	ID          string `arg:"" help:"Id of the agent: letters, digits, '-', '_' and '.'."`
	Type        string `default:"task" enum:"chat,task,system" help:"What it is for: people talk to chat agents, others delegate to task agents."`
	Description string `placeholder:"TEXT" help:"What it does and what it returns, in a line."`
}

// Run writes an agent.
func (c agentsNewCmd) Run(e *env) error {
	_, reg, err := e.agents()
	if err != nil {
		return err
	}
	path, err := reg.New(c.ID, agents.Type(c.Type), c.Description)
	if err != nil {
		return usageError{err}
	}
	_, err = fmt.Fprintf(e.Out, "%s\n", path)
	return err
}
