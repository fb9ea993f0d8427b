package policy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"herald/core/conversation"
	"herald/core/store"
	"herald/core/tool/gate"
)

// Version is the newest version of the documents that this code reads and writes.
const Version = 1

// RulesKey is the document of the rules in the store, in the partition system.
var RulesKey = store.Key{Collection: "gate", Name: "rules"}

// ErrNewer is returned for a document that a newer version of Herald wrote.
var ErrNewer = errors.New("a document about permissions is of a newer version")

// rulesDoc is the document of the rules.
type rulesDoc struct {
	V int `json:"v"`
	// Next is the number of the next rule that is made at run time; numbers are not used again.
	Next int `json:"next"`
	// Seeded are the ids of Herald's own rules that were put in once: one that was removed does not come back.
	Seeded []string    `json:"seeded,omitempty"`
	Rules  []gate.Rule `json:"rules"`
}

// contextDoc is the document of a conversation's run context.
type contextDoc struct {
	V       int             `json:"v"`
	Context gate.RunContext `json:"context"`
}

func encode(v any) []byte {
	b, err := json.Marshal(v)
	if err != nil {
		panic(fmt.Sprintf("policy: encode %T: %v", v, err)) // only types of this package, which all encode
	}
	return b
}

// strict reads a document. A key that is not known is an error, for it may be what limits a rule.
func strict(d store.Doc, v any) error {
	var ver struct {
		V int `json:"v"`
	}
	if err := json.Unmarshal(d.Value, &ver); err != nil {
		return fmt.Errorf("read %s/%s: %w", d.Key.Collection, d.Key.Name, err)
	}
	if ver.V > Version {
		return fmt.Errorf("read %s/%s: version %d, this Herald knows %d; finish the upgrade of all replicas: %w", d.Key.Collection, d.Key.Name, ver.V, Version, ErrNewer)
	}
	dec := json.NewDecoder(bytes.NewReader(d.Value))
	dec.DisallowUnknownFields()
	if err := dec.Decode(v); err != nil {
		return fmt.Errorf("read %s/%s: %w", d.Key.Collection, d.Key.Name, err)
	}
	if _, err := dec.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("read %s/%s: something stands behind the document", d.Key.Collection, d.Key.Name)
	}
	return nil
}

// readRules are the rules that an answer holds; an absent document holds none.
func readRules(a store.Answer) (rulesDoc, int64, error) {
	out := rulesDoc{V: Version, Next: 1}
	doc, ok := a.Doc()
	if !ok {
		return out, 0, nil
	}
	if err := strict(doc, &out); err != nil {
		return out, doc.Version, err
	}
	for i := range out.Rules {
		if err := out.Rules[i].Check(); err != nil {
			return out, doc.Version, fmt.Errorf("read %s/%s: %w", RulesKey.Collection, RulesKey.Name, err)
		}
	}
	return out, doc.Version, nil
}

func readContext(a store.Answer) (*gate.RunContext, error) {
	doc, ok := a.Doc()
	if !ok {
		return nil, nil
	}
	var c contextDoc
	if err := strict(doc, &c); err != nil {
		return nil, err
	}
	return &c.Context, nil
}

func readBypasses(a store.Answer) ([]gate.Bypass, error) {
	doc, ok := a.Doc()
	if !ok {
		return nil, nil
	}
	var all conversation.Bypasses
	if err := conversation.Decode(doc, &all); err != nil {
		return nil, err
	}
	out := make([]gate.Bypass, 0, len(all.List))
	for _, b := range all.List {
		out = append(out, gate.Bypass{Tool: b.Tool, Session: b.Session, Person: b.Person, By: b.By, At: b.At, Until: b.Until})
	}
	return out, nil
}
