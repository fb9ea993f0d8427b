// Package tool is what an agent can do besides talking: the tool type, the registry and the gate.
//
// The gate is the only door: whoever runs a tool asks it first, for every call, also for one that the model named although it was
// never shown. The package must not know models' wire formats, platforms or the engine that runs the calls.
package tool
