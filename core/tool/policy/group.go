package policy

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"herald/core/command"
	"herald/core/people"
	"herald/core/store"
	"herald/core/tool/gate"
)

// The texts of the command.
const (
	helpGroup = "shows or chooses the permission group of this conversation"
	argsGroup = "[NAME | none]"

	textGroup   = "The permission group here is `%s`. You may choose: %s. Whoever may not use it keeps their own."
	textOwn     = "No permission group is chosen here: everybody has the one of their role. You may choose: %s."
	textChosen  = "The permission group here is `%s` now; it holds from the next call on."
	textCleared = "No permission group is chosen here any more: everybody has the one of their role."
)

// Contexts lets people choose the run context of a conversation as far as their role allows.
type Contexts struct {
	Store store.Store
	// Roles gives the roles as they are now, Groups the permission groups that exist.
	Roles  func() gate.Roles
	Groups func() []string
}

// Commands are the command `group`.
func (x *Contexts) Commands() []command.Spec {
	return []command.Spec{{Name: "group", Args: argsGroup, MaxArgs: 1, Least: people.Member, Help: helpGroup, Run: x.group}}
}

func (x *Contexts) group(ctx context.Context, c command.Call) (string, error) {
	role, roles := string(c.Person.Role), x.Roles()
	may := roles.EffectiveGroups(role)
	if roles[role].Admin {
		may = slices.Concat([]string{gate.DefaultGroup, gate.Restricted}, x.Groups())
	}
	slices.Sort(may)
	may = slices.Compact(may)
	names := "`" + strings.Join(may, "`, `") + "`"
	stands, err := ContextOf(ctx, x.Store, c.Where)
	if err != nil {
		return "", err
	}
	if len(c.Args) == 0 {
		if stands == nil || stands.SecurityGroup == "" {
			return fmt.Sprintf(textOwn, names), nil
		}
		return fmt.Sprintf(textGroup, plain(stands.SecurityGroup), names), nil
	}
	want := &gate.RunContext{SecurityGroup: c.Args[0]}
	if c.Args[0] == "none" {
		want.SecurityGroup = ""
	} else if !slices.Contains(may, c.Args[0]) {
		return fmt.Sprintf("Nothing was changed: `%s` is no permission group that you may choose here; there are %s.", plain(c.Args[0]), names), nil
	}
	err = Bind(ctx, x.Store, c.Where, Actor{Person: c.Person.ID, Event: c.Event}, role, roles, want)
	switch {
	case errors.Is(err, gate.ErrForbidden):
		return "Nothing was changed: " + plain(err.Error()) + ".", nil
	case err != nil:
		return "", err
	case want.SecurityGroup == "":
		return textCleared, nil
	}
	return fmt.Sprintf(textChosen, plain(want.SecurityGroup)), nil
}
