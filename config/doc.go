// Package config is Herald's typed configuration: it finds the file, reads it
// together with the environment, checks everything, explains every value and
// watches for changes.
//
// One table (settings) says for each key its type, unit, bounds, default and
// purpose. Parsing, environment names, problem texts, [Config.Explain],
// [Render] and the question whether a change needs a restart all read that
// table, so a setting is added in one row and one field.
//
// The order is default, then file, then environment; the later one wins. All
// problems are reported together, each with its place. Secrets are never
// written in the configuration: a key ending in _env or _file names where the
// secret stands, and the value lives in a [Secret], which no formatting verb,
// log handler or encoder prints.
//
// The package holds plain types and knows nothing of the parts that it
// configures: no store, no model client, no platform. Only the command that
// wires Herald together imports it.
package config
