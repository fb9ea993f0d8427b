package turn

import (
	"context"
	"testing"

	"herald/core/model"
	"herald/core/tool"
)

func TestSchemasAreReadOnce(t *testing.T) {
	t.Parallel()
	run := func(context.Context, tool.Call) (tool.Result, error) { return tool.Result{}, nil }
	const object = `{"type":"object"}`
	var s schemas
	for range 2 { // the second time the schema is known
		for _, tc := range []struct {
			name string
			t    tool.Tool
			ok   bool
		}{
			{"good", tool.Tool{Spec: model.ToolSpec{Name: "a", Parameters: []byte(object)}, Run: run}, true},
			{"bad name", tool.Tool{Spec: model.ToolSpec{Name: "a b", Parameters: []byte(object)}, Run: run}, false},
			{"nothing to run", tool.Tool{Spec: model.ToolSpec{Name: "a", Parameters: []byte(object)}}, false},
			{"no object", tool.Tool{Spec: model.ToolSpec{Name: "a", Parameters: []byte(`{"type":"array"}`)}, Run: run}, false},
			{"no JSON", tool.Tool{Spec: model.ToolSpec{Name: "a", Parameters: []byte(`{`)}, Run: run}, false},
		} {
			if err := s.check(&tc.t); (err == nil) != tc.ok {
				t.Errorf("%s: %v", tc.name, err)
			}
		}
	}
	if n := len(s.good); n != 1 {
		t.Errorf("%d schemas are remembered, want the good one alone", n)
	}
}
