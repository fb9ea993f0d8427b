// Package authored finds the tools that authors write: a file NAME.toml with a description, a JSON Schema of the parameters, and a command or
// an HTTP request. A file in the folder tools of an agent's folder belongs to that agent alone, one in the operator's folder of tools is
// shared.
//
// A command runs in a sandbox and gets its arguments as JSON on stdin and as whole words, never through a shell; a request gets them as
// encoded parts. Secrets are named by the variable that holds them and are read when a call needs them: they stand in no file and are shown
// to no model.
//
// Ownership is a property of the registration, as for skills. A [Registry] looks at its folders again when it is asked; a broken file keeps the
// version before it, and holds its name where there was none.
//
// The package must not know agents' files, sessions, models' wire formats or platforms.
package authored
