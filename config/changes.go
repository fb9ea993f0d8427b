package config

import (
	"fmt"
	"slices"
	"strings"
)

// Change is one key whose value differs between two configurations.
type Change struct {
	Key string
	// Restart means that a running service goes on with the old value until
	// its next start.
	Restart bool
}

// Changes returns the keys whose values differ, in the order of the table. A
// secret that changed where it stands counts as a change of the key that names
// it. A provider or model that came or went is a change of each of its keys
// that has a value.
func Changes(from, to *Config) []Change {
	var out []Change
	for _, s := range settings() {
		names := from.namesFor(s)
		for _, name := range to.namesFor(s) {
			if !slices.Contains(names, name) {
				names = append(names, name)
			}
		}
		for _, name := range names {
			key := s.concrete(name)
			same := from.origin[key].text == to.origin[key].text
			if same && s.secret() && from.origin[key].text != "" {
				same = from.secretAt(s, name).Equal(to.secretAt(s, name))
			}
			if same && s.key == "store.url" {
				// The password does not show in the text.
				same = from.Store.Password.Equal(to.Store.Password)
			}
			if !same {
				out = append(out, Change{Key: key, Restart: s.restart})
			}
		}
	}
	return out
}

// secretAt returns the secret that a key names.
func (c *Config) secretAt(s setting, name string) Secret {
	if strings.HasPrefix(s.key, providersKey+".") {
		p, _ := c.Provider(name)
		return p.APIKey
	}
	if strings.HasPrefix(s.leaf(), "sentinel_") {
		return c.Store.SentinelPassword
	}
	return c.Store.Password
}

// RestartError reports keys that changed while the service runs and that it
// takes only at its next start.
type RestartError struct {
	Keys []string
}

// Error names the keys and says what to do.
func (e *RestartError) Error() string {
	return fmt.Sprintf("changed in the configuration, but needs a restart to take effect: %s; restart Herald, or take the change back",
		strings.Join(e.Keys, ", "))
}

// restartError returns nil when no change needs a restart.
func restartError(changes []Change) *RestartError {
	var keys []string
	for _, c := range changes {
		if c.Restart {
			keys = append(keys, c.Key)
		}
	}
	if len(keys) == 0 {
		return nil
	}
	return &RestartError{Keys: keys}
}
