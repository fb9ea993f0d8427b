package main

import (
	"context"
	"errors"

	"herald/core/tool"
)

// forward owes another conversation a message.
func forward(_ context.Context, c tool.Call) (tool.Result, error) {
	return tool.Result{}, errors.New("not yet")
}
