package agents

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v4"
)

// isNull reports whether a value is written as null, which means the same as leaving the setting out.
func isNull(n *yaml.Node) bool {
	return n.Kind == yaml.ScalarNode && n.Tag == "!!null" && n.Value != ""
}

// scalar is the text of a plain value.
func scalar(n *yaml.Node) (string, error) {
	if n.Kind != yaml.ScalarNode {
		return "", errors.New("it must be one value")
	}
	if n.Tag == "!!null" {
		return "", errors.New("it has no value")
	}
	return strings.TrimSpace(n.Value), nil
}

func line(n *yaml.Node, limit int) (string, error) {
	s, err := scalar(n)
	if err != nil {
		return "", err
	}
	if s == "" {
		return "", errors.New("it has no value")
	}
	if c := len([]rune(s)); c > limit {
		return "", fmt.Errorf("it has %d characters, at most %d", c, limit)
	}
	return strings.Join(strings.Fields(s), " "), nil
}

func boolean(n *yaml.Node) (bool, error) {
	s, err := scalar(n)
	if err != nil {
		return false, err
	}
	switch {
	case n.Tag == "!!bool" && strings.EqualFold(s, "true"):
		return true, nil
	case n.Tag == "!!bool" && strings.EqualFold(s, "false"):
		return false, nil
	default:
		return false, fmt.Errorf("%q is neither true nor false", short(s))
	}
}

func whole(n *yaml.Node, least, most int) (int, error) {
	s, err := scalar(n)
	if err != nil {
		return 0, err
	}
	i, err := strconv.Atoi(s)
	if err != nil || i < least || i > most {
		return 0, fmt.Errorf("%q is no whole number from %d to %d", short(s), least, most)
	}
	return i, nil
}

// list is a list of texts without repetitions, in the order of the file.
func list(n *yaml.Node, what string) ([]string, error) {
	if n.Kind != yaml.SequenceNode {
		return nil, fmt.Errorf("it must be a list of %ss", what)
	}
	if len(n.Content) > maxList {
		return nil, fmt.Errorf("it has %d entries, at most %d", len(n.Content), maxList)
	}
	out := []string{}
	for i, e := range n.Content {
		if e.Kind != yaml.ScalarNode || e.Tag != "!!str" {
			return nil, fmt.Errorf("entry %d is not the name of a %s: it must be a text", i+1, what)
		}
		s := strings.TrimSpace(e.Value)
		if s == "" || len(s) > 256 {
			return nil, fmt.Errorf("entry %d is not the name of a %s: it has %d bytes, from 1 to 256 are possible", i+1, what, len(s))
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out, nil
}

// selector is true, false or a list.
func selector(n *yaml.Node, what string) (Selector, error) {
	if n.Kind == yaml.ScalarNode {
		b, err := boolean(n)
		if err != nil {
			return Selector{}, fmt.Errorf("it must be a list of %ss, true for all of them or false for none", what)
		}
		return Selector{All: b, Chosen: !b}, nil
	}
	names, err := list(n, what)
	if err != nil {
		return Selector{}, err
	}
	s := Selector{Chosen: true}
	if len(names) > 0 {
		s.Names = names
	}
	return s, nil
}
