package files

import (
	"context"
	"errors"
	"io/fs"

	"herald/core/tool"
)

// Look is the text of a file or a note as a prompt may show it: only what a call of the same scope could read. ok is false where there is none
// yet; an error says why it is not shown, in words for a model.
func (o *Options) Look(ctx context.Context, s tool.Scope, path string) (text string, ok bool, err error) {
	v, name, err := o.open(ctx, tool.Call{Scope: s}, path)
	if err != nil {
		return "", false, err
	}
	defer v.close()
	f, err := v.read(ctx, name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", false, nil
	case err != nil:
		return "", false, err
	}
	if err := plain(name, f.text); err != nil {
		return "", false, err
	}
	return f.text, f.exists, nil
}
