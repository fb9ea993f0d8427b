package service

import (
	"context"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"herald/agents"
	"herald/cmd/internal/redact"
	"herald/config"
	"herald/core/tool"
	"herald/core/tool/sandbox"
	"herald/skills"
	"herald/skills/authored"
)

// authorFolder is a folder as the registries want it: the default one may be missing.
func authorFolder(cfg *config.Config, path, setting string) skills.Folder {
	return skills.Folder{Path: path, Setting: setting, MayBeMissing: cfg.Source(setting).Kind == config.FromDefault}
}

// SkillOptions are how a configuration's skills are found: the folders of skills in their order, and the agents'.
func SkillOptions(cfg *config.Config, log *slog.Logger) skills.Options {
	o := skills.Options{Agents: authorFolder(cfg, cfg.Agents.Dir, "agents.dir"), Clock: time.Now, Log: log}
	add := func(path, setting string) {
		if path != "" && !slices.ContainsFunc(o.Shared, func(f skills.Folder) bool { return f.Path == path }) {
			o.Shared = append(o.Shared, authorFolder(cfg, path, setting))
		}
	}
	add(cfg.Skills.Dir, "skills.dir")
	add(cfg.Skills.ProjectDir, "skills.project_dir")
	add(cfg.Skills.PersonalDir, "skills.personal_dir")
	for _, d := range cfg.Skills.PluginDirs {
		add(d, "skills.plugin_dirs")
	}
	return o
}

// ToolOptions are how a configuration's authors' tools are found, without what they need to run.
func ToolOptions(cfg *config.Config, log *slog.Logger) authored.Options {
	return authored.Options{
		Shared: authorFolder(cfg, cfg.Tools.Dir, "tools.dir"), Agents: authorFolder(cfg, cfg.Agents.Dir, "agents.dir"), Reserved: ownTool, Clock: time.Now, Log: log,
	}
}

// ownTools are the names of Herald's own tools, which no author's tool may have, whether this installation has them or not.
var ownTools = []string{
	"current_time", "remember", "recall", "memory_search", "read_file", "write_file", "edit_file", "append_file", "insert_at_line", "replace_lines",
	"list_files", "search_file", "grep_files", "show_file_to_user", "execute_cmd", "web_fetch", "web_search", "execute_task", "execute_subtask", "list_items",
	"toggle_item", "delete_cron_job", "update_scratchpad", "write_todos", "ask_user_clarification", "activate_tools", "notify", "read_notification",
	skills.LoadSkill, skills.LoadReference, skills.ExecuteScript,
}

func ownTool(name string) bool { return slices.Contains(ownTools, name) }

// Runner runs scripts and commands as the configuration says.
func Runner(cfg *config.Config) *sandbox.Runner {
	return sandbox.New(sandbox.Options{Unsandboxed: cfg.Skills.Unsandboxed})
}

// authors are what authors give agents beside their texts: skills and tools.
type authors struct {
	runner *sandbox.Runner
	skills *skills.Registry
	tools  *authored.Registry
	use    skills.Use
}

// vault keeps every secret that this process has met, so that none of them shows anywhere: what was begun with an old one may still be under way.
type vault struct {
	mu   sync.Mutex
	seen map[string]bool
}

// hide takes secrets in. When it returns they are hidden, whoever else hides some at the same time.
func (v *vault) hide(in *redact.Secrets, secrets ...string) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.seen == nil {
		v.seen = map[string]bool{}
	}
	fresh := false
	for _, x := range secrets {
		fresh = fresh || !v.seen[x]
		v.seen[x] = true
	}
	if fresh {
		in.Set(slices.Sorted(maps.Keys(v.seen))...)
	}
}

// authorSecret is the value of a variable that an author's tool names. Herald's own secrets are not handed out.
func (s *Service) authorSecret(variable string) (string, error) {
	v := os.Getenv(variable)
	switch {
	case v == "":
		return "", fmt.Errorf("the environment variable %s, which the tool needs, is not set where Herald runs", variable)
	case strings.HasPrefix(variable, "HERALD_") || slices.Contains(SecretsOf(s.now.Load()), v):
		return "", fmt.Errorf("the environment variable %s belongs to Herald itself and is given to no tool", variable)
	}
	s.vault.hide(s.opts.Secrets, v)
	return v, nil
}

// setSecrets hides the secrets of a configuration.
func (s *Service) setSecrets(cfg *config.Config) { s.vault.hide(s.opts.Secrets, SecretsOf(cfg)...) }

// shut is a runner that runs nothing where this replica does not share the folder of files with the others.
type shut struct {
	*sandbox.Runner
	off func() error
}

// Run runs a command, unless programs are off here.
func (r shut) Run(ctx context.Context, c sandbox.Command) (sandbox.Result, error) {
	if err := r.off(); err != nil {
		return sandbox.Result{}, err
	}
	return r.Runner.Run(ctx, c)
}

// openAuthors finds skills and authors' tools.
func (s *Service) openAuthors(context.Context) error {
	a := &authors{runner: Runner(s.cfg), skills: skills.Open(SkillOptions(s.cfg, s.log))}
	o := ToolOptions(s.cfg, s.log)
	run := shut{a.runner, func() error { return s.shared.off() }}
	o.Runner, o.Transport, o.Secret = run, http.RoundTripper(s.transport), s.authorSecret
	a.tools = authored.Open(o)
	a.use = skills.Use{Registry: a.skills, Runner: run, Selector: func(ctx context.Context, id string) (skills.Selector, error) {
		agent, err := s.agents.Agent(ctx, id)
		return SkillSelector(agent), err
	}}
	s.authors = a
	return nil
}

// SkillSelector is what an agent's file says of skills. An agent without tools can use none.
func SkillSelector(a agents.Agent) skills.Selector {
	if a.NoTools {
		return skills.Selector{Chosen: true}
	}
	return skills.Selector{Chosen: a.Skills.Chosen && !a.Skills.All, Names: a.Skills.Names}
}

// sources are the tools that depend on who asks. Their results hold no secret.
func (s *Service) authorSources() []tool.Source {
	clean := func(src tool.Source) tool.Source {
		return tool.SourceFunc(func(ctx context.Context, of tool.Scope) ([]tool.Tool, error) {
			list, err := src.Tools(ctx, of)
			return discreet(list, s.opts.Secrets.Clean), err
		})
	}
	return []tool.Source{clean(s.authors.use), clean(s.authors.tools)}
}

// index is the block of skills in an agent's prompt, "" for none.
func (a *authors) index(agent agents.Agent) string {
	if a == nil || !agent.InjectSkills {
		return ""
	}
	return a.skills.Index(agent.ID, SkillSelector(agent))
}

// names are the tools that an agent's file lists, as ids: its own go first by their short names.
func (a *authors) names(agent string, list []string) []string {
	if a == nil || list == nil {
		return list
	}
	return a.tools.Resolve(agent, list)
}

// CheckAuthors looks at skills and authors' tools, at what agents list of them, and whether their programs can run.
func CheckAuthors(ctx context.Context, ag *agents.Registry, reg *skills.Registry, tools *authored.Registry, runner *sandbox.Runner) Checks {
	var out Checks
	for _, kind := range []struct {
		name     string
		problems []skills.Problem
		found    int
	}{{"skills", reg.Problems(), len(reg.All())}, {"tools", tools.Problems(), len(tools.All())}} {
		for _, p := range kind.problems {
			c := Check{Name: kind.name, Status: Bad, Text: p.String(), Remedy: "correct it; the folder is read again by itself"}
			if p.Kept || p.Level == skills.Odd {
				c.Status = Warn
			}
			out = append(out, c)
		}
		if len(kind.problems) == 0 {
			out = append(out, Check{Name: kind.name, Status: Good, Text: fmt.Sprintf("%d found", kind.found)})
		}
	}
	for _, a := range ag.List() {
		for _, kind := range []struct {
			name    string
			unknown []string
		}{{"skills", reg.Unknown(a.ID, SkillSelector(a))}, {"tools", tools.Unknown(a.ID, a.Tools.Names)}} {
			for _, n := range kind.unknown {
				out = append(out, Check{
					Name: kind.name, Status: Warn, Text: fmt.Sprintf("%s: the agent %q lists %q among its %s, and there is nothing of that name for it", a.Source, a.ID, n, kind.name),
					Remedy: "correct the name; herald " + kind.name + " list shows what there is, and for whom",
				})
			}
		}
	}
	return append(out, checkSandbox(ctx, reg, tools, runner)...)
}

// checkSandbox says how scripts and commands run here, and which programs for them are missing.
func checkSandbox(ctx context.Context, reg *skills.Registry, tools *authored.Registry, runner *sandbox.Runner) Checks {
	runs, sandboxed, err := runner.Check(ctx)
	c := Check{Name: "sandbox", Status: Good, Text: "scripts and commands run in bwrap"}
	switch {
	case runs && !sandboxed:
		c.Status, c.Text = Warn, "scripts and commands run WITHOUT a sandbox, with all rights that Herald has, because skills.unsandboxed is set: "+err.Error()
		c.Remedy = "install bubblewrap and let this account make user namespaces; then take skills.unsandboxed away"
	case !runs:
		c.Status, c.Text = Warn, "scripts of skills and commands of tools do not run: "+err.Error()
		c.Remedy = "install the package bubblewrap; or, where everybody who writes skills may do all that Herald may, set skills.unsandboxed = true"
	}
	out := Checks{c}
	for _, need := range []struct {
		name, what string
		missing    map[string][]string
	}{
		{"skills", "scripts of these skills need it", skills.Use{Registry: reg, Runner: runner}.Missing()},
		{"tools", "these tools need it", tools.Missing(runner.Find)},
	} {
		for _, p := range slices.Sorted(maps.Keys(need.missing)) {
			out = append(out, Check{
				Name: need.name, Status: Warn, Text: fmt.Sprintf("%s is not installed; %s: %s", p, need.what, strings.Join(need.missing[p], ", ")),
				Remedy: "install " + p + " where Herald runs, below /usr",
			})
		}
	}
	return out
}
