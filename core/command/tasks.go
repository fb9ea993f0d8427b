package command

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"herald/core/conversation"
	"herald/core/people"
	"herald/core/session"
	"herald/core/store"
)

// recentTasks is how long a task that was not done is listed.
const recentTasks = 30 * time.Minute

// stopOrder is the order of a person's stop in the partition of a task: behind the task, which is all that is said there.
const stopOrder = "1"

// Tasks is the command that lists the tasks that run beside a conversation, and stops one for who asked for it or an admin.
func Tasks(st store.Store) Spec {
	return Spec{
		Name: "tasks", Args: "[stop ID]", MaxArgs: 2, Least: people.Restricted, Help: helpTasks,
		Run: func(ctx context.Context, c Call) (string, error) {
			switch {
			case len(c.Args) == 0:
				return listTasks(ctx, c)
			case len(c.Args) == 2 && strings.EqualFold(c.Args[0], "stop"):
				return stopTask(ctx, st, c, c.Args[1])
			default:
				return fmt.Sprintf(tasksUsage, c.mark(), c.mark()), nil
			}
		},
	}
}

func listTasks(ctx context.Context, c Call) (string, error) {
	as, err := c.Read.Read(ctx, store.List{Partition: c.Where, Collection: conversation.Tasks})
	if err != nil {
		return "", fmt.Errorf("read the tasks of %s: %w", c.Where, err)
	}
	var lines []string
	for _, doc := range as[0].Docs {
		var t conversation.TaskDoc
		if err := conversation.Decode(doc, &t); err != nil {
			return "", err
		}
		switch {
		case t.State == conversation.TaskRunning:
			lines = append(lines, fmt.Sprintf(tasksRunning, quote(t.ID), quote(t.Title), quote(t.Agent), ago(as[0].Now, t.At)))
		case t.Status != session.Done && as[0].Now.Sub(t.EndedAt) < recentTasks:
			lines = append(lines, fmt.Sprintf(tasksEnded, quote(t.ID), quote(t.Title), quote(t.Agent), t.Status, ago(as[0].Now, t.EndedAt)))
		}
	}
	if len(lines) == 0 {
		return tasksNone, nil
	}
	return strings.Join(lines, "\n"), nil
}

// stopTask puts a stop before the agent of a task. A task that has ended meanwhile takes no notice of it.
func stopTask(ctx context.Context, st store.Store, c Call, id string) (string, error) {
	d := conversation.TaskDoc{ID: id}
	where, ok := conversation.Of(c.Where)
	if !ok {
		return fmt.Sprintf(tasksUnknown, quote(id)), nil
	}
	p := conversation.Partition(conversation.TaskPlace(where.Workspace, id))
	as, err := st.Read(ctx, store.Get{Partition: c.Where, Key: d.Key()}, store.Get{Partition: p, Key: conversation.TaskKey})
	if err != nil {
		return "", fmt.Errorf("stop the task %s: %w", id, err)
	}
	doc, ok := as[0].Doc()
	if !ok {
		return fmt.Sprintf(tasksUnknown, quote(id)), nil
	}
	if err := conversation.Decode(doc, &d); err != nil {
		return "", err
	}
	begun, ok := as[1].Doc()
	switch {
	case d.State != conversation.TaskRunning:
		return fmt.Sprintf(tasksOver, quote(id)), nil
	case c.Person.ID != d.Person && !c.Person.Role.Covers(people.Admin):
		return tasksNotYours, nil
	case !ok:
		return tasksNotBegun, nil
	}
	order := conversation.Control{V: conversation.Version, Kind: conversation.Stop, ID: "stop-" + c.Event, Order: stopOrder, By: c.Person.ID, At: as[0].Now}
	_, err = st.Commit(ctx, store.Commit{
		ID: conversation.ID("command.taskstop/", id, c.Event), Partition: p, Guards: []store.Guard{store.At{Key: conversation.TaskKey, Version: begun.Version}},
		Ops: []store.Op{
			store.Put{Key: order.Key(), Value: conversation.Encode(order)},
			store.Put{Key: conversation.HeadKey, Value: conversation.Encode(conversation.Head{V: conversation.Version, StopOrder: stopOrder, By: c.Person.ID})},
			store.Wake{Agenda: store.Turns, Member: store.MemberOf(p, "")},
		},
	})
	if err != nil && !errors.Is(err, store.ErrConflict) {
		return "", fmt.Errorf("stop the task %s: %w", id, err)
	}
	return fmt.Sprintf(tasksStopping, quote(id)), nil
}

// The texts of the command.
const (
	helpTasks = "shows the tasks that run beside this conversation, and those of the last half hour that were not done; `stop ID` ends one"

	tasksUsage    = "Write `%stasks`, or `%stasks stop ID` with the id of a task."
	tasksNone     = "No task runs beside this conversation."
	tasksRunning  = "- `%s`: %s, by the agent `%s`, began %s."
	tasksEnded    = "- `%s`: %s, by the agent `%s`, ended as %s %s."
	tasksUnknown  = "`%s` names no task of this conversation."
	tasksOver     = "Nothing was changed: the task `%s` has ended."
	tasksNotYours = "Nothing was changed: who asked for a task, or an admin, ends it."
	tasksNotBegun = "Nothing was changed: the task is on its way to its agent. Try again in a moment."
	tasksStopping = "The task `%s` is being ended. What it came to follows here."
)
