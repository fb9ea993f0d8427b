package session

// Unmarked is a text that does not come from the service, so that it cannot speak with the service's voice: the marks of a note in it are escaped.
func Unmarked(text string) string { return unmarked(text) }
