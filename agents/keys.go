package agents

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// strengths are the five words, weakest first.
var strengths = [...]string{"very_low", "low", "average", "high", "very_high"}

// setting is one key that a file may have. Keys may be written with '_' or '-'.
type setting struct {
	key     string
	aliases []string
	set     func(*Agent, *yaml.Node) error
}

// keys is the table of settings.
func keys() []setting {
	return []setting{
		{key: "name", set: func(a *Agent, n *yaml.Node) (err error) { a.Name, err = line(n, 80); return }},
		{key: "description", set: func(a *Agent, n *yaml.Node) (err error) { a.Description, err = line(n, 1024); return }},
		{key: "type", set: setType},
		{key: "model", aliases: []string{"client"}, set: setModel},
		{key: "strength", set: setStrength},
		{key: "temperature", set: setTemperature},
		{key: "max_steps", set: setMaxSteps},
		{key: "tools", set: setTools},
	}
}

func lookup(written string) (setting, bool) {
	k := strings.ReplaceAll(written, "-", "_")
	for _, s := range keys() {
		if s.key == k || slices.Contains(s.aliases, k) {
			return s, true
		}
	}
	return setting{}, false
}

// nearest is the key that a person most likely meant, or "".
func nearest(written string) string {
	w := []rune(strings.ToLower(strings.ReplaceAll(written, "-", "_")))
	best, at := "", 1<<30
	if len(w) > 40 {
		return best
	}
	for _, s := range keys() {
		for _, k := range append([]string{s.key}, s.aliases...) {
			if d := distance(w, []rune(k)); d < at && d <= max(1, len(k)/2) {
				best, at = k, d
			}
		}
	}
	return best
}

// distance counts the letters to insert, remove or replace.
func distance(a, b []rune) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		diag := row[0]
		row[0] = i + 1
		for j := range b {
			next := diag
			if a[i] != b[j] {
				next++
			}
			diag = row[j+1]
			row[j+1] = min(next, row[j]+1, diag+1)
		}
	}
	return row[len(b)]
}

// scalar is the text of a plain value.
func scalar(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", fmt.Errorf("it must be one value")
	}
	if n.Tag == "!!null" {
		return "", fmt.Errorf("it has no value")
	}
	return strings.TrimSpace(n.Value), nil
}

func line(n *yaml.Node, limit int) (string, error) {
	s, err := scalar(n)
	if err != nil {
		return "", err
	}
	if s == "" {
		return "", fmt.Errorf("it has no value")
	}
	if c := len([]rune(s)); c > limit {
		return "", fmt.Errorf("it has %d characters, at most %d", c, limit)
	}
	return strings.Join(strings.Fields(s), " "), nil
}

func setType(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	if Type(s) != Chat {
		return fmt.Errorf("%q is no type of agent that this version runs; there is: chat", short(s))
	}
	a.Type = Chat
	return nil
}

func setModel(a *Agent, n *yaml.Node) error {
	s, err := line(n, 200)
	if err != nil {
		return err
	}
	if strings.EqualFold(s, "auto") {
		s = ""
	}
	a.Model = s
	return nil
}

func setStrength(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	if !slices.Contains(strengths[:], s) {
		return fmt.Errorf("%q is no strength; there are: %s", short(s), strings.Join(strengths[:], ", "))
	}
	a.Strength = s
	return nil
}

func setTemperature(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	f, err := strconv.ParseFloat(s, 64)
	if err != nil || !(f >= 0 && f <= maxTemperature) {
		return fmt.Errorf("%q is no number from 0 to %d", short(s), maxTemperature)
	}
	a.Temperature = &f
	return nil
}

func setMaxSteps(a *Agent, n *yaml.Node) error {
	s, err := scalar(n)
	if err != nil {
		return err
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < 1 || i > maxSteps {
		return fmt.Errorf("%q is no whole number from 1 to %d", short(s), maxSteps)
	}
	a.MaxSteps = i
	return nil
}

func setTools(a *Agent, n *yaml.Node) error {
	switch n.Kind {
	case yaml.ScalarNode:
		switch n.Value {
		case "true":
			a.Tools = Tools{All: true}
		case "false":
			a.Tools = Tools{Chosen: true}
		default:
			return fmt.Errorf("%q is neither a list of tools nor true nor false", short(n.Value))
		}
		return nil
	case yaml.SequenceNode:
		a.Tools = Tools{Chosen: true}
		for i, e := range n.Content {
			s, err := scalar(e)
			if err != nil || s == "" || len(s) > 128 {
				return fmt.Errorf("entry %d is not the name of a tool", i+1)
			}
			if !slices.Contains(a.Tools.Names, s) {
				a.Tools.Names = append(a.Tools.Names, s)
			}
		}
		return nil
	default:
		return fmt.Errorf("it must be a list of tools, or true for all of them")
	}
}
