package authored

// Parse is parse for tests.
func Parse(name string, src []byte) (line int, err error) {
	_, err = parse(name, src)
	if f, ok := err.(fault); ok {
		line = f.line
	}
	return line, err
}

// Words is words for tests.
func Words(command []string, args map[string]any) ([]string, error) { return words(command, args) }
