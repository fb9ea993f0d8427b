package service

import (
	"context"
	"fmt"
	"slices"
	"time"

	"herald/config"
	"herald/core/command"
	"herald/core/people"
	"herald/core/project"
	"herald/core/tool"
	"herald/core/tool/gate"
	"herald/core/tool/policy"
	"herald/core/tool/stack"
	"herald/skills"
)

// permissions are what a configuration says of calls; a new configuration makes new ones.
type permissions struct {
	rules  []gate.Rule
	roles  gate.Roles
	single bool
}

func permissionsOf(cfg *config.Config, allow []string) *permissions {
	p := &permissions{rules: cfg.GateRules(), single: cfg.Approvals.SingleOperator, roles: gate.Roles{
		string(people.Admin): {Admin: true}, string(people.Member): {},
	}}
	for _, r := range cfg.Roles {
		if len(r.People) > 0 {
			p.roles[r.Name] = gate.Role{Group: r.OwnGroup()}
		}
	}
	for _, n := range allow {
		p.rules = append(p.rules, gate.Rule{ID: gate.FileMark + "option-" + n, Tool: n, Action: tool.Allow})
	}
	for _, g := range cfg.Groups {
		for _, role := range g.Roles {
			r, ok := p.roles[role]
			if !ok {
				continue // nobody has it
			}
			r.Groups = append(r.Groups, g.Name)
			p.roles[role] = r
		}
	}
	return p
}

// fileRules are the rules of the configuration in force.
func (s *Service) fileRules() []gate.Rule { return s.permits.Load().rules }

// book keeps the rules of the run time.
func (s *Service) book() *policy.Book { return policy.NewBook(s.store, s.fileRules) }

// ruleCommands are the commands about rights: rules, the group and the project of a conversation.
func (s *Service) ruleCommands() []command.Spec {
	x := &policy.Contexts{Store: s.store, Roles: func() gate.Roles { return s.permits.Load().roles }, Groups: func() []string {
		var out []string
		for _, g := range s.now.Load().Groups {
			out = append(out, g.Name)
		}
		return out
	}}
	return slices.Concat(s.book().Commands(), x.Commands(), project.Commands(s.store, people.New(s.store).Name), []command.Spec{s.threadsCommand(), command.Tasks(s.store)})
}

// openGate makes the gate before the tools, and puts in the rules that Herald brings for those that exist.
func (s *Service) openGate(ctx context.Context, tools *tool.Registry) (*policy.Keeper, error) {
	seeds := gate.Seeds(func(name string) bool {
		_, ok := tools.Get(name)
		return ok || slices.Contains(stack.Names(), name) || slices.Contains(skills.ToolNames(), name) || name == stack.DelegatePrefix+"*"
	})
	if err := s.book().Seed(ctx, "seed-"+s.opts.NewID(), seeds); err != nil {
		return nil, fmt.Errorf("the rules for tools could not be written to the store: %w", err)
	}
	ppl := people.New(s.store)
	return policy.New(policy.Options{
		Store: s.store, File: s.fileRules, Roles: func() gate.Roles { return s.permits.Load().roles }, Role: s.roleOf, Admin: s.isAdmin, Name: ppl.Name,
		Folder:         func(c tool.Call, rc *gate.RunContext) (string, error) { return folderOf(s.cfg.Files.Dir, c, rc) },
		SingleOperator: func() bool { return s.permits.Load().single }, Clock: time.Now, Log: s.log,
	}), nil
}

// roleOf is the role of a person now.
func (s *Service) roleOf(ctx context.Context, person string) (string, error) {
	r, err := people.New(s.store).Role(ctx, person)
	return string(r), err
}
