// Package files holds the tools that read and write files: those of the session's working folder, and notes under the same tools.
//
// A path belongs to notes when it begins with one of their roots, else to the working folder. Both stand behind one small interface, so that
// each tool is written once. The working folder is opened through os.Root, and a path is refused that leaves it, leads through a symbolic link or
// ends at anything but a plain file.
//
// The package must not know who may call what: the gate was asked for the same path, in the same lexical form.
package files
