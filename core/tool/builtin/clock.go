package builtin

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"herald/core/model"
	"herald/core/session"
	"herald/core/tool"
)

// CurrentTime tells the time in a zone; zone is the installation's own, clock the present.
func CurrentTime(zone *time.Location, clock func() time.Time) tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{
			Name:        "current_time",
			Description: "Tells the present date, weekday and time. Use it whenever the answer depends on now.",
			Parameters: json.RawMessage(`{"type":"object","properties":{"timezone":{"type":"string","description":"IANA name such as Europe/Berlin; left out: ` +
				zone.String() + `"}},"additionalProperties":false}`),
		},
		Traits: session.Traits{ReadOnly: true, Repeatable: true},
		Run: func(_ context.Context, c tool.Call) (tool.Result, error) {
			var a struct {
				Timezone string `json:"timezone"`
			}
			if err := c.Decode(&a); err != nil {
				return tool.Result{}, err
			}
			loc := zone
			if a.Timezone != "" {
				l, err := time.LoadLocation(a.Timezone)
				if err != nil {
					return tool.Result{}, fmt.Errorf("there is no time zone %q; use an IANA name such as Europe/Berlin", a.Timezone)
				}
				loc = l
			}
			return tool.Result{Text: clock().In(loc).Format("Monday, 2 January 2006, 15:04:05 MST (-07:00)")}, nil
		},
	}
}
