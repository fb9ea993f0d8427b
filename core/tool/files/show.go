package files

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path"

	"herald/core/model"
	"herald/core/tool"
)

// ErrCannotShow: the platform takes no files from us.
var ErrCannotShow = errors.New("files cannot be shown in this conversation")

// Show is show_file_to_user over post, which puts a file into the conversation of a call and gives [ErrCannotShow] where the platform takes none.
// Whether a call that had begun in a process which died took effect is not known, so that it is not run again.
func (o *Options) Show(post func(ctx context.Context, c tool.Call, name string, content []byte) error) tool.Tool {
	return tool.Tool{
		Spec: model.ToolSpec{
			Name:        "show_file_to_user",
			Description: "Posts a file of the working folder in this conversation, for all who read it.",
			Parameters:  json.RawMessage(`{"type":"object","properties":{` + pathArg + `},"required":["path"],"additionalProperties":false}`),
		},
		Group: Group,
		Run: func(ctx context.Context, c tool.Call) (tool.Result, error) {
			var a arguments
			if err := c.Decode(&a); err != nil {
				return tool.Result{}, err
			}
			v, name, err := o.open(ctx, c, a.Path)
			if err != nil {
				return tool.Result{}, err
			}
			defer v.close()
			f, err := v.read(ctx, name)
			if err != nil {
				return tool.Result{}, err
			}
			if f.text == "" {
				return tool.Result{}, fmt.Errorf("%s is empty; there is nothing to show", shown(name))
			}
			err = post(ctx, c, path.Base(name), []byte(f.text))
			if errors.Is(err, ErrCannotShow) {
				return tool.Result{}, fmt.Errorf("%w; write what matters of %s into the answer", err, shown(name))
			}
			if err != nil {
				return tool.Result{}, fmt.Errorf("%s could not be shown: %w", shown(name), err)
			}
			return tool.Result{Text: name + " stands in the conversation now."}, nil
		},
	}
}
