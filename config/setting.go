package config

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// kind is the type of a setting's value.
type kind int

const (
	text       kind = iota
	path            // text that names a file or folder; made absolute
	whole           // integer, also of durations
	decimal         // floating-point number
	truth           // true or false
	list            // list of texts
	envName         // text that names an environment variable that holds a secret
	secretFile      // path of a file that holds a secret
)

// setting is one row of the table: everything that is known about one key.
type setting struct {
	// key is the dotted key; "*" stands for the name of a provider or model.
	key  string
	kind kind
	// unit is what a number counts, "" for none.
	unit string
	// min and max bound a number; both zero means unbounded.
	min, max float64
	// choices are the only texts allowed, nil for any.
	choices []string
	// form describes the accepted text where choices and bounds do not.
	form string
	// def is the default as text. "{data_dir}" stands for the data folder.
	def string
	// optional means that without a value there is none: the field stays nil
	// or empty, and that is no default. sample then shows what one looks like.
	optional bool
	sample   string
	// doc says in a sentence or two what the setting is for.
	doc string
	// check looks at a text that has the right type; nil for no further check.
	check func(string) *fault
	// only names the store driver, or the way to reach Redis, that the key
	// applies to, "" for all.
	only string
	// restart means that a running service takes a change only at its next
	// start.
	restart bool
}

// section returns the key without its last part, "" at the top level.
func (s setting) section() string {
	i := strings.LastIndexByte(s.key, '.')
	return s.key[:max(i, 0)]
}

// leaf returns the last part of the key.
func (s setting) leaf() string {
	return s.key[strings.LastIndexByte(s.key, '.')+1:]
}

// concrete returns the key with the name of a provider or model filled in, as
// TOML writes it.
func (s setting) concrete(name string) string {
	return strings.Replace(s.key, "*", keyText([]string{name}), 1)
}

// concreteSection returns the section of the concrete key.
func (s setting) concreteSection(name string) string {
	return strings.Replace(s.section(), "*", keyText([]string{name}), 1)
}

// under returns the key of a provider or model, as TOML writes it.
func under(section, name string) string { return keyText([]string{section, name}) }

// envFor returns the environment variable of the key for that name.
func (s setting) envFor(name string) string {
	parts := strings.Split(s.key, ".")
	for i, p := range parts {
		if p == "*" {
			p = foldName(name)
		}
		parts[i] = strings.ToUpper(p)
	}
	return envPrefix + strings.Join(parts, "__")
}

// bounds describes what the value may be, "" when anything may.
func (s setting) bounds() string {
	switch {
	case len(s.choices) > 0:
		return strings.Join(s.choices, " | ")
	case s.kind == truth:
		return "true | false"
	case s.min != 0 || s.max != 0:
		return fmt.Sprintf("%s to %s", trimFloat(s.min), trimFloat(s.max))
	default:
		return s.form
	}
}

// wants names the type for problem texts.
func (s setting) wants() string {
	switch s.kind {
	case whole:
		return "a whole number" + s.ofUnit()
	case decimal:
		return "a number" + s.ofUnit()
	case truth:
		return "true or false"
	case list:
		return "a list of texts"
	default:
		return "a text in quotes"
	}
}

func (s setting) ofUnit() string {
	if s.unit == "" || strings.HasPrefix(s.unit, "per ") {
		return ""
	}
	return " of " + s.unit
}

// secret reports whether a value typed here by mistake could be a secret, so
// that no problem may repeat it.
func (s setting) secret() bool { return s.kind == envName || s.kind == secretFile }

// decode turns a value as it stands in the file (string, int64, float64, bool,
// []any) or in the environment (string, with fromEnv) into the setting's type:
// string, int, float64, bool or []string.
func (s setting) decode(v any, fromEnv bool) (any, *fault) {
	if fromEnv {
		v = s.fromText(v.(string))
	}
	var out any
	switch s.kind {
	case whole:
		n, ok := v.(int64)
		if f, isFloat := v.(float64); isFloat && f == math.Trunc(f) && math.Abs(f) < 1<<53 {
			n, ok = int64(f), true
		}
		if !ok {
			return nil, s.wrongType(v)
		}
		if f := s.inBounds(float64(n)); f != nil {
			return nil, f
		}
		out = int(n)
	case decimal:
		f, ok := v.(float64)
		if n, isInt := v.(int64); isInt {
			f, ok = float64(n), true
		}
		if !ok || math.IsNaN(f) || math.IsInf(f, 0) {
			return nil, s.wrongType(v)
		}
		if bad := s.inBounds(f); bad != nil {
			return nil, bad
		}
		out = f
	case truth:
		b, ok := v.(bool)
		if !ok {
			return nil, s.wrongType(v)
		}
		out = b
	case list:
		return s.decodeList(v)
	default:
		t, ok := v.(string)
		if !ok {
			return nil, s.wrongType(v)
		}
		if f := s.checkText(t); f != nil {
			return nil, f
		}
		out = t
	}
	return out, nil
}

// fromText reads the text of an environment variable as the setting's type. A
// text that is none stays a text, which decode then refuses.
func (s setting) fromText(t string) any {
	t = strings.TrimSpace(t)
	switch s.kind {
	case whole:
		if n, err := strconv.ParseInt(t, 10, 64); err == nil {
			return n
		}
	case decimal:
		if f, err := strconv.ParseFloat(t, 64); err == nil {
			return f
		}
	case truth:
		switch strings.ToLower(t) {
		case "true":
			return true
		case "false":
			return false
		}
	case list:
		items := []any{}
		for item := range strings.SplitSeq(t, ",") {
			if item = strings.TrimSpace(item); item != "" {
				items = append(items, item)
			}
		}
		return items
	}
	return t
}

func (s setting) decodeList(v any) (any, *fault) {
	items, ok := v.([]any)
	if !ok {
		return nil, s.wrongType(v)
	}
	out := make([]string, 0, len(items))
	for _, item := range items {
		t, ok := item.(string)
		if !ok {
			return nil, s.wrongType(item).withHint("every entry of the list must be a text in quotes")
		}
		if f := s.checkText(t); f != nil {
			return nil, f
		}
		out = append(out, t)
	}
	return out, nil
}

func (s setting) checkText(t string) *fault {
	if strings.TrimSpace(t) == "" {
		return faultf("must not be empty").withHint("leave the key out to have the default")
	}
	if strings.ContainsFunc(t, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		return faultf("must not hold line breaks or control characters")
	}
	if len(s.choices) > 0 && !contains(s.choices, t) {
		f := faultf("must be one of %s, is %q", strings.Join(s.choices, ", "), shorten(t))
		if near := nearest(t, s.choices); near != "" {
			f.hint = fmt.Sprintf("did you mean %q?", near)
		}
		return f
	}
	if s.check != nil {
		return s.check(t)
	}
	return nil
}

func (s setting) inBounds(f float64) *fault {
	if s.min == 0 && s.max == 0 || f >= s.min && f <= s.max {
		return nil
	}
	return faultf("must be %s from %s to %s, is %s", s.wants(), trimFloat(s.min), trimFloat(s.max), trimFloat(f))
}

func (s setting) wrongType(v any) *fault {
	f := faultf("must be %s, is %s", s.wants(), typeName(v))
	if t, ok := v.(string); ok && s.kind == whole && s.unit != "" {
		if n := strings.TrimRight(t, " abcdefghijklmnopqrstuvwxyz"); n != t && n != "" && strings.Trim(n, "0123456789") == "" {
			f.hint = fmt.Sprintf("write the number alone; the unit is always %s", s.unit)
		}
	}
	if t, ok := v.(string); ok && f.hint == "" && s.kind != list && s.fromText(t) != any(t) {
		f.hint = "write it without quotes"
	}
	return f
}

func typeName(v any) string {
	switch v := v.(type) {
	case string:
		return "a text"
	case int64:
		return "a whole number"
	case float64:
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return "not a finite number"
		}
		return "a number with a fraction"
	case bool:
		return "true or false"
	case []any:
		return "a list"
	case tooLarge:
		return "a number too large to hold"
	default:
		return "a date or time"
	}
}

// display gives a decoded value as it is shown to people.
func (s setting) display(v any) string {
	switch v := v.(type) {
	case nil:
		return ""
	case string:
		return v
	case float64:
		return trimFloat(v)
	case []string:
		return strings.Join(v, ", ")
	default:
		return fmt.Sprint(v)
	}
}

func trimFloat(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func contains(all []string, one string) bool {
	for _, a := range all {
		if a == one {
			return true
		}
	}
	return false
}

// shorten keeps a text that an operator mistyped readable in a problem.
func shorten(t string) string {
	const most = 60
	r := []rune(t)
	if len(r) <= most {
		return t
	}
	return string(r[:most]) + "…"
}
