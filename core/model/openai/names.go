package openai

import (
	"fmt"
	"hash/fnv"
	"strconv"
	"strings"

	"herald/core/model"
)

// maxName is the longest tool name that all providers take.
const maxName = 64

// names maps tool names to what a provider takes and back.
type names struct {
	out, in map[string]string // only where they differ
}

// newNames finds a wire name for each tool. Two tools of one name are refused: the model could not tell them apart.
func newNames(tools []model.ToolSpec) (*names, error) {
	n := &names{}
	if len(tools) == 0 {
		return n, nil
	}
	taken := make(map[string]bool, len(tools))
	for i := range tools {
		name := tools[i].Name
		if name == "" {
			return nil, fmt.Errorf("tool %d has no name", i)
		}
		if taken[name] {
			return nil, fmt.Errorf("tool %s is offered twice", name)
		}
		taken[name] = true
	}
	for i := range tools {
		name := tools[i].Name
		if usable(name) {
			continue
		}
		wire := sanitise(name)
		for k := 0; taken[wire]; k++ {
			wire = sanitise(name + strconv.Itoa(k))
		}
		taken[wire] = true
		if n.out == nil {
			n.out, n.in = map[string]string{}, map[string]string{}
		}
		n.out[name], n.in[wire] = wire, name
	}
	return n, nil
}

// wire is the name that is sent. A name of the history that is no longer offered is made usable, too.
func (n *names) wire(name string) string {
	if w, ok := n.out[name]; ok {
		return w
	}
	if usable(name) {
		return name
	}
	return sanitise(name)
}

// back is the tool that a name on the wire means. An unknown name stays as it is: who runs calls says that it is none.
func (n *names) back(wire string) string {
	if name, ok := n.in[wire]; ok {
		return name
	}
	return wire
}

func usable(name string) bool {
	if name == "" || len(name) > maxName {
		return false
	}
	for i := range len(name) {
		if !wordByte(name[i]) {
			return false
		}
	}
	return true
}

func wordByte(b byte) bool {
	return b == '_' || b == '-' || b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z'
}

// sanitise makes a name usable. A hash of the whole keeps apart what looks the same afterwards.
func sanitise(name string) string {
	var b strings.Builder
	for _, r := range name {
		if r < 0x80 && wordByte(byte(r)) {
			b.WriteRune(r)
		} else {
			b.WriteByte('_')
		}
	}
	suffix := "_" + hash36(name, 6)
	s := b.String()
	return s[:min(len(s), maxName-len(suffix))] + suffix
}

// ids maps Herald's call ids to ids that every provider takes: nine letters and digits (Mistral takes nothing else). They
// follow from the id alone, so that the history reads the same in the next request.
type ids struct{ out, taken map[string]string }

func newIDs() *ids { return &ids{} }

func (m *ids) wire(id string) string {
	if w, ok := m.out[id]; ok {
		return w
	}
	if m.out == nil {
		m.out, m.taken = map[string]string{}, map[string]string{}
	}
	w := hash36(id, 9)
	for k := 0; m.taken[w] != "" || w == ""; k++ {
		w = hash36(id+"#"+strconv.Itoa(k), 9)
	}
	m.out[id], m.taken[w] = w, "x"
	return w
}

// hash36 is a hash of s in n letters and digits.
func hash36(s string, n int) string {
	h := fnv.New64a()
	_, _ = h.Write([]byte(s)) // never fails
	t := strings.Repeat("0", 13) + strconv.FormatUint(h.Sum64(), 36)
	return t[len(t)-n:]
}
