package project

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"herald/core/chat"
	"herald/core/command"
	"herald/core/conversation"
	"herald/core/people"
	"herald/core/store"
)

// The texts of the command.
const (
	help = "makes this channel or thread a project with a working folder, a description and a diary of its own"
	args = "create NAME [DESCRIPTION] | show | describe TEXT | archive"

	textMade      = "This is the project **%s** now. New conversations here begin with the agent `%s`; files stand in the folder `%s`, the diary is `%s`."
	textDescribed = "The project **%s** is described so now: %s"
	textArchived  = "The project **%s** is archived: its folder `%s` stays, and conversations here are as before."
	textNone      = "This is no project. `project create NAME` makes it one."
	textOld       = "The project **%s** is archived. `project create NAME` begins one anew; with the same name it has its old folder."
)

// Commands are the command `project`, over st. name gives the shown name of a person.
func Commands(st store.Store, name func(ctx context.Context, person string) (string, error)) []command.Spec {
	return []command.Spec{{
		Name: "project", Args: args, MaxArgs: 400, Least: people.Member, Help: help,
		Run: func(ctx context.Context, c command.Call) (string, error) {
			out, err := run(ctx, st, name, c)
			if errors.Is(err, errStands) || errors.Is(err, errNone) || errors.Is(err, errNotYour) || errors.Is(err, errWords) {
				return "Nothing was changed: " + err.Error() + ".", nil
			}
			return out, err
		},
	}}
}

// errWords marks what a person wrote that cannot be taken.
var errWords = errors.New("it cannot be taken")

func run(ctx context.Context, st store.Store, name func(context.Context, string) (string, error), c command.Call) (string, error) {
	word := "show"
	if len(c.Args) > 0 {
		word = strings.ToLower(c.Args[0])
	}
	switch {
	case word == "show" && len(c.Args) <= 1:
		return show(ctx, st, name, c.Where)
	case word == "create" && len(c.Args) >= 2:
		return create(ctx, st, c)
	case word == "describe" && len(c.Args) >= 2:
		text, err := clean(strings.Join(c.Args[1:], " "), MaxDescription)
		if err != nil {
			return "", fmt.Errorf("the description: %w: %w", errWords, err)
		}
		p, err := change(ctx, st, c.Where, c.Person.ID, c.Event, func(old *Project, _ time.Time) (*Project, error) {
			if old == nil || old.Archived {
				return nil, errNone
			}
			next := *old
			next.Description = text
			return &next, nil
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(textDescribed, inert(p.Name), inert(p.Description)), nil
	case word == "archive" && len(c.Args) == 1:
		p, err := change(ctx, st, c.Where, c.Person.ID, c.Event, func(old *Project, _ time.Time) (*Project, error) {
			switch {
			case old == nil || old.Archived:
				return nil, errNone
			case old.By != c.Person.ID && !c.Person.Role.Covers(people.Admin):
				return nil, errNotYour
			}
			next := *old
			next.Archived = true
			return &next, nil
		})
		if err != nil {
			return "", err
		}
		return fmt.Sprintf(textArchived, inert(p.Name), p.Folder), nil
	default:
		return "Usage: `project " + args + "`", nil
	}
}

func create(ctx context.Context, st store.Store, c command.Call) (string, error) {
	title, err := clean(c.Args[1], MaxName)
	if err == nil && title == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("the name: %w: %w", errWords, err)
	}
	text, err := clean(strings.Join(c.Args[2:], " "), MaxDescription)
	if err != nil {
		return "", fmt.Errorf("the description: %w: %w", errWords, err)
	}
	p, err := change(ctx, st, c.Where, c.Person.ID, c.Event, func(old *Project, now time.Time) (*Project, error) {
		if old != nil && !old.Archived {
			return nil, fmt.Errorf("%w, %s; archive it first", errStands, inert(old.Name))
		}
		return &Project{Name: title, Description: text, Folder: folderOf(title, c.Where), By: c.Person.ID, At: now}, nil
	})
	if err != nil {
		return "", err
	}
	return fmt.Sprintf(textMade, inert(p.Name), Agent, p.Folder, Diary), nil
}

// show tells of the project here, else of that of the channel.
func show(ctx context.Context, st store.Store, name func(context.Context, string) (string, error), where store.Partition) (string, error) {
	p, _, _, err := at(ctx, st, where)
	if conv, ok := conversation.Of(where); err == nil && p == nil && ok && conv.Thread != "" {
		p, _, _, err = at(ctx, st, conversation.Partition(chat.Conversation{Workspace: conv.Workspace, Channel: conv.Channel}))
	}
	switch {
	case err != nil:
		return "", err
	case p == nil:
		return textNone, nil
	case p.Archived:
		return fmt.Sprintf(textOld, inert(p.Name)), nil
	}
	by, err := name(ctx, p.By)
	if err != nil {
		return "", err
	}
	out := fmt.Sprintf("**%s**, made by %s on %s", inert(p.Name), inert(by), p.At.UTC().Format(time.DateOnly))
	if p.Description != "" {
		out += "\n" + inert(p.Description)
	}
	return out + fmt.Sprintf("\n- agent `%s`\n- folder `%s`, diary `%s`", Agent, p.Folder, Diary), nil
}

// inert keeps the words of people from being marks.
func inert(s string) string {
	return strings.NewReplacer("`", "'", "*", "∗", "<", "‹", ">", "›").Replace(s)
}
