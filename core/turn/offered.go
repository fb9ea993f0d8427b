package turn

import (
	"sync"

	"herald/core/tool"
)

// maxSchemas bounds the remembered schemas; they are those of an installation's tools, so that it is hardly ever reached.
const maxSchemas = 4096

// schemas remembers the parameters that were found to be a schema. Sources make their tools anew for every frame, and reading each schema
// each time was a twelfth of what a message costs.
type schemas struct {
	mu   sync.Mutex
	good map[string]bool
}

// check is [tool.Tool.Check], which reads a schema once.
func (s *schemas) check(t *tool.Tool) error {
	s.mu.Lock()
	known := s.good[string(t.Spec.Parameters)]
	s.mu.Unlock()
	if known && t.Run != nil && tool.ValidName(t.Spec.Name) {
		return nil
	}
	if err := t.Check(); err != nil {
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.good == nil || len(s.good) >= maxSchemas {
		s.good = map[string]bool{}
	}
	s.good[string(t.Spec.Parameters)] = true
	return nil
}
