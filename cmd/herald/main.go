// Command herald puts agents that stand on language models into the conversations of a group of people. "herald --help"
// lists what it can do.
package main

import (
	"context"
	"os"

	"herald/cmd/internal/cli"
)

func main() {
	os.Exit(cli.Main(context.Background(), cli.System()))
}
