package config

import (
	"bytes"
	"fmt"
	"strings"
)

// Answers are what a new configuration is made from. Empty texts leave the
// default, shown as a comment.
type Answers struct {
	// ProviderName names the provider; "" makes a file without a provider.
	ProviderName string
	ProviderType string
	BaseURL      string
	// APIKeyEnv is the variable that holds the key, never the key itself.
	APIKeyEnv string
	// APIKeyFile is the file that holds the key, instead of APIKeyEnv.
	APIKeyFile string
	// Model is the provider's own id of the model to use.
	Model string

	// StoreURL should carry no password; name it in StorePasswordEnv.
	StoreURL         string
	StorePasswordEnv string

	// SlackBotTokenEnv connects Slack; the mode's other secret stands beside it.
	SlackMode             string
	SlackBotTokenEnv      string
	SlackAppTokenEnv      string
	SlackSigningSecretEnv string

	Listen   string
	Timezone string
	Admins   []string
	DataDir  string
}

// Render writes a commented configuration with the answers set and every other
// setting shown with its default behind a comment mark. What it writes passes
// [Load] as long as each answer keeps to the bounds of its key and what the
// answers name exists.
func Render(a Answers) []byte {
	var b bytes.Buffer
	b.WriteString("# Configuration of Herald. Lines behind a comment mark show what holds without them.\n" +
		"# `herald config check` checks this file, `herald config explain` shows every value in force.\n" +
		"# Each key can also be set in the environment, such as HERALD_LOG__LEVEL for log.level.\n")
	values := a.values()
	section := ""
	for _, s := range settings() {
		b.WriteString("\n")
		if s.section() != section {
			section = s.section()
			a.writeHeader(&b, section)
		}
		writeSetting(&b, s, values[s.key], a.commented(section))
	}
	return b.Bytes()
}

// values are the answers by the key that they answer, as TOML.
func (a Answers) values() map[string]string {
	out := map[string]string{}
	for key, answer := range map[string]string{
		"data_dir":                  a.DataDir,
		"timezone":                  a.Timezone,
		"store.url":                 a.StoreURL,
		"store.password_env":        a.StorePasswordEnv,
		"http.listen":               a.Listen,
		"slack.mode":                a.SlackMode,
		"slack.bot_token_env":       a.SlackBotTokenEnv,
		"slack.app_token_env":       a.SlackAppTokenEnv,
		"slack.signing_secret_env":  a.SlackSigningSecretEnv,
		"providers.*.type":          a.ProviderType,
		"providers.*.base_url":      a.BaseURL,
		"providers.*.api_key_env":   a.APIKeyEnv,
		"providers.*.api_key_file":  a.APIKeyFile,
		"providers.*.default_model": a.Model,
	} {
		if answer != "" {
			out[key] = quoteTOML(answer)
		}
	}
	if len(a.Admins) > 0 {
		items := make([]string, len(a.Admins))
		for i, id := range a.Admins {
			items[i] = quoteTOML(id)
		}
		out["admins"] = "[" + strings.Join(items, ", ") + "]"
	}
	return out
}

// commented reports whether the whole section is an example only.
func (a Answers) commented(section string) bool {
	return section == modelsKey+".*" || section == rulesKey+".*" || section == groupsKey+".*" || section == rolesKey+".*" || section == providersKey+".*" && a.ProviderName == ""
}

func (a Answers) writeHeader(b *bytes.Buffer, section string) {
	name, mark := section, ""
	switch section {
	case providersKey + ".*":
		b.WriteString("# A provider is an endpoint that serves models. There may be several.\n")
		name = keyText([]string{providersKey, orName(a.ProviderName)})
	case modelsKey + ".*":
		b.WriteString("# A model as Herald names it. There may be several; without any, each provider's default_model is one.\n")
		name = modelsKey + ".NAME"
	}
	if section == groupsKey+".*" {
		b.WriteString("# A permission group beside the default one. There may be several.\n")
		name = groupsKey + ".NAME"
	}
	if section == rolesKey+".*" {
		b.WriteString("# A role beside admin and member, or the people of the role restricted, who may only talk and keep notes.\n")
		name = rolesKey + ".NAME"
	}
	if section == rulesKey+".*" {
		b.WriteString("# A rule says which calls of tools run, need a person or never run. There may be several.\n")
		name = "[" + rulesKey + "]"
	}
	if a.commented(section) {
		mark = "# "
	}
	fmt.Fprintf(b, "%s[%s]\n", mark, name)
}

func orName(s string) string {
	if s == "" {
		return "NAME"
	}
	return s
}

func writeSetting(b *bytes.Buffer, s setting, answer string, commented bool) {
	var facts []string
	if s.unit != "" {
		facts = append(facts, s.unit)
	}
	if limits := s.limits(); limits != "" {
		facts = append(facts, limits)
	}
	doc := s.doc
	if len(facts) > 0 {
		doc += " (" + strings.Join(facts, "; ") + ")"
	}
	for _, line := range wrap(doc, 96) {
		fmt.Fprintf(b, "# %s\n", line)
	}
	mark, value := "# ", answer
	switch {
	case answer != "":
		if !commented {
			mark = ""
		}
	default:
		value = s.example()
	}
	fmt.Fprintf(b, "%s%s = %s\n", mark, s.leaf(), value)
}

// example writes the default, or what a value could be, as TOML.
func (s setting) example() string {
	switch {
	case s.optional && s.kind == list:
		return "[" + quoteTOML(s.sample) + "]"
	case s.optional && s.kind != whole && s.kind != decimal:
		return quoteTOML(s.sample)
	case s.optional:
		return s.sample
	case s.kind == whole || s.kind == decimal || s.kind == truth:
		return s.def
	default:
		return quoteTOML(strings.NewReplacer("{xdg_data}", "~/.local/share", "{data_dir}", "~/.local/share/herald").Replace(s.def))
	}
}

// quoteTOML writes a text as a basic string of TOML, whose escapes for control
// characters differ from Go's.
func quoteTOML(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			b.WriteString(`\u` + fmt.Sprintf("%04X", r))
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// wrap breaks a text at blanks into lines of at most so many bytes, where words
// allow.
func wrap(s string, width int) []string {
	var lines []string
	line := ""
	for word := range strings.FieldsSeq(s) {
		if line != "" && len(line)+1+len(word) > width {
			lines = append(lines, line)
			line = ""
		}
		line = strings.TrimLeft(line+" "+word, " ")
	}
	return append(lines, line)
}
