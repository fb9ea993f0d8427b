package cli

import (
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"

	"herald/agents"
	"herald/cmd/internal/service"
	"herald/config"
	"herald/skills"
	"herald/skills/authored"
)

type skillsCmd struct {
	List  skillsListCmd  `cmd:"" help:"List the skills, each with who may use it."`
	Check skillsCheckCmd `cmd:"" help:"Say what is wrong with the skills, and where index.md differs from what is there."`
	Index skillsIndexCmd `cmd:"" help:"Bring the index.md in the folder of skills up to date."`
	New   skillsNewCmd   `cmd:"" help:"Write a skill that can be filled in."`
}

type toolsCmd struct {
	List  toolsListCmd  `cmd:"" help:"List your own tools, each with who may use it."`
	Check toolsCheckCmd `cmd:"" help:"Say what is wrong with your own tools."`
}

// quietLog is for commands that print problems themselves.
func quietLog() *slog.Logger { return slog.New(slog.DiscardHandler) }

func (e *env) skills() (*config.Config, *skills.Registry, error) {
	cfg, err := e.load()
	if err != nil {
		return nil, nil, err
	}
	return cfg, skills.Open(service.SkillOptions(cfg, quietLog())), nil
}

type skillsListCmd struct {
	Agent string `placeholder:"ID" help:"Only what this agent may use, as it is shown to its model."`
}

// Run lists skills.
func (c skillsListCmd) Run(e *env) error {
	cfg, reg, err := e.skills()
	if err != nil {
		return err
	}
	if c.Agent == "" {
		var rows [][]string
		for _, k := range reg.All() {
			rows = append(rows, []string{k.ID, ownerText(k.Owner), firstOf(k.Description)})
		}
		if err := e.table(rows, "There are no skills. herald skills new NAME writes one."); err != nil {
			return err
		}
		return e.unlisted(len(reg.Problems()), "skills")
	}
	a, err := known(agents.Open(service.AgentOptions(cfg, quietLog())), c.Agent)
	if err != nil {
		return err
	}
	block := reg.Index(a.ID, service.SkillSelector(a))
	if block == "" {
		block = fmt.Sprintf("The agent %q has no skills.", a.ID)
	}
	_, err = fmt.Fprintln(e.Out, block)
	return err
}

func ownerText(owner string) string {
	if owner == "" {
		return "all agents"
	}
	return "only " + owner
}

// firstOf is a text in one short line.
func firstOf(s string) string {
	s = strings.Join(strings.Fields(s), " ")
	if r := []rune(s); len(r) > 80 {
		return strings.TrimSpace(string(r[:79])) + "…"
	}
	return s
}

// table prints rows in columns, or the text where there are none.
func (e *env) table(rows [][]string, none string) error {
	if len(rows) == 0 {
		_, err := fmt.Fprintln(e.Out, none)
		return err
	}
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, c := range r {
			width[i] = max(width[i], len([]rune(c)))
		}
	}
	var b strings.Builder
	for _, r := range rows {
		var line strings.Builder
		for i, c := range r {
			fmt.Fprintf(&line, "%-*s  ", width[i], c)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	_, err := fmt.Fprint(e.Out, b.String())
	return err
}

// unlisted says on stderr that the list may lack something: what is broken is not in it.
func (e *env) unlisted(problems int, kind string) error {
	if problems == 0 {
		return nil
	}
	_, err := fmt.Fprintf(e.Err, "herald: %s here: herald %s check says what to do\n", counted(problems, "problem"), kind)
	return err
}

func counted(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprintf("%d %s", n, what)
}

type skillsCheckCmd struct {
	Strict bool `help:"Fail on warnings too."`
}

// Run says what is wrong with skills.
func (c skillsCheckCmd) Run(e *env) error {
	_, reg, err := e.skills()
	if err != nil {
		return err
	}
	return e.report(reg.Problems(), len(reg.All()), "skill", c.Strict)
}

// report prints problems; an error among them is a wrong configuration.
func (e *env) report(problems []skills.Problem, found int, kind string, strict bool) error {
	failed := false
	for _, p := range problems {
		failed = failed || strict || p.Level == skills.Lost
		if _, err := fmt.Fprintf(e.Out, "%-7s  %s\n", p.Level, p); err != nil {
			return err
		}
	}
	if _, err := fmt.Fprintf(e.Out, "%s in force, %s\n", counted(found, kind), counted(len(problems), "problem")); err != nil {
		return err
	}
	if failed {
		return quietError{Config}
	}
	return nil
}

type skillsIndexCmd struct{}

// Run writes the index.
func (skillsIndexCmd) Run(e *env) error {
	cfg, reg, err := e.skills()
	if err != nil {
		return err
	}
	path := filepath.Join(cfg.Skills.Dir, "index.md")
	changed, err := reg.WriteIndex(cfg.Skills.Dir)
	if err != nil {
		return fmt.Errorf("%s could not be written: %w", path, err)
	}
	word := "is as it should be"
	if changed {
		word = "was written"
	}
	_, err = fmt.Fprintf(e.Out, "%s %s\n", path, word)
	return err
}

type skillsNewCmd struct {
	Name        string `arg:"" help:"Name of the skill: small letters, digits and single '-'."`
	Agent       string `placeholder:"ID" help:"Agent that alone may use it."`
	Description string `placeholder:"TEXT" help:"What the skill does and when it is of use."`
}

// Run writes a skill.
func (c skillsNewCmd) Run(e *env) error {
	cfg, reg, err := e.skills()
	if err != nil {
		return err
	}
	if c.Agent != "" {
		if _, err := known(agents.Open(service.AgentOptions(cfg, quietLog())), c.Agent); err != nil {
			return err
		}
	}
	path, err := reg.New(c.Agent, c.Name, c.Description)
	if err != nil {
		return usageError{err}
	}
	_, err = fmt.Fprintf(e.Out, "%s\n", path)
	return err
}

func (e *env) tools() (*authored.Registry, error) {
	cfg, err := e.load()
	if err != nil {
		return nil, err
	}
	return authored.Open(service.ToolOptions(cfg, quietLog())), nil
}

type toolsListCmd struct{}

// Run lists authors' tools.
func (toolsListCmd) Run(e *env) error {
	reg, err := e.tools()
	if err != nil {
		return err
	}
	var rows [][]string
	for _, t := range reg.All() {
		rows = append(rows, []string{t.ID, ownerText(t.Owner), firstOf(t.Description)})
	}
	if err := e.table(rows, "There are no tools of your own. docs/authors.md says how to write one."); err != nil {
		return err
	}
	return e.unlisted(len(reg.Problems()), "tools")
}

type toolsCheckCmd struct {
	Strict bool `help:"Fail on warnings too."`
}

// Run says what is wrong with authors' tools.
func (c toolsCheckCmd) Run(e *env) error {
	reg, err := e.tools()
	if err != nil {
		return err
	}
	return e.report(reg.Problems(), len(reg.All()), "tool", c.Strict)
}
