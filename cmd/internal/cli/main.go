package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"github.com/alecthomas/kong"

	"herald/config"
)

// Process is what the program has from its surroundings.
type Process struct {
	Args []string
	In   io.Reader
	Out  io.Writer
	Err  io.Writer
	Env  []string
	// Dir is the working folder, "" for the process's own.
	Dir string
}

// System is the surroundings of this process.
func System() Process {
	return Process{Args: os.Args[1:], In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.Environ()}
}

// Main runs one command and returns the exit code. What a person is to read on failure goes to Err.
func Main(ctx context.Context, p Process) int {
	err := run(ctx, p)
	code := codeOf(err)
	if err == nil {
		return int(code)
	}
	if _, quiet := errors.AsType[quietError](err); !quiet {
		fmt.Fprintf(p.Err, "herald: %v\n", err)
	}
	if e, ok := errors.AsType[*kong.ParseError](err); ok {
		fmt.Fprintln(p.Err, "herald: "+helpFor(e.Context))
	}
	return int(code)
}

// helpFor names the help of the command that was meant, as far as it was understood.
func helpFor(k *kong.Context) string {
	if n := k.Selected(); n != nil {
		return fmt.Sprintf("%q explains this command", "herald "+n.Path()+" --help")
	}
	return `"herald --help" lists the commands; "herald COMMAND --help" explains one`
}

// spelled is the command line as the grammar has it: people also write "help COMMAND" and "--version", as with other programs.
func spelled(args []string) []string {
	switch {
	case len(args) == 0:
		return []string{"--help"}
	case args[0] == "help":
		return append(slices.Clone(args[1:]), "--help")
	case len(args) == 1 && args[0] == "--version":
		return []string{"version"}
	}
	return args
}

// exited is thrown by kong when it has shown the help and wants the process to end.
type exited struct{ code int }

func run(ctx context.Context, p Process) (err error) {
	defer func() {
		if r := recover(); r != nil {
			e, ok := r.(exited)
			if !ok {
				panic(r)
			}
			if e.code != 0 {
				err = quietError{Code(e.code)}
			}
		}
	}()
	var g grammar
	parser, err := newParser(&g, p)
	if err != nil {
		return err
	}
	k, err := parser.Parse(spelled(p.Args))
	if err != nil {
		return usageError{err}
	}
	return k.Run(&env{Process: p, ctx: ctx, grammar: &g})
}

func newParser(g *grammar, p Process) (*kong.Kong, error) {
	return kong.New(
		g,
		kong.Name("herald"),
		kong.Description("Herald puts agents that stand on language models into the conversations of a group of people."),
		kong.Writers(p.Out, p.Err),
		kong.Exit(func(code int) { panic(exited{code}) }),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
		kong.Help(func(o kong.HelpOptions, k *kong.Context) error {
			if err := kong.DefaultHelpPrinter(o, k); err != nil {
				return err
			}
			_, err := fmt.Fprint(k.Stdout, "\n", exitHelp())
			return err
		}),
	)
}

// env is what a command works with.
type env struct {
	Process
	ctx     context.Context
	grammar *grammar
}

// options are how the configuration is read.
func (e *env) options() config.Options {
	return config.Options{File: e.grammar.Config, Env: e.Env, Dir: e.Dir}
}

// load reads the configuration.
func (e *env) load() (*config.Config, error) { return config.Load(e.options()) }
