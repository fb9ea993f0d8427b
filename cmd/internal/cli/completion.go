package cli

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCmd struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"bash, zsh or fish."`
}

// Run prints the script that the shell reads.
func (c completionCmd) Run(e *env) error {
	parser, err := newParser(new(grammar), e.Process)
	if err != nil {
		return err
	}
	words := completions(parser.Model.Node, "", nil)
	scripts := map[string]func([]completion) string{"bash": bash, "zsh": zsh, "fish": fish}
	_, err = fmt.Fprint(e.Out, scripts[c.Shell](words))
	return err
}

// completion is what can follow a command.
type completion struct {
	// path is the command, "" for the program alone.
	path string
	// words are what may follow: commands, values of an argument, flags.
	words []word
}

type word struct{ text, help string }

// completions walks the grammar, so that a new command needs no second mention.
func completions(n *kong.Node, path string, inherited []*kong.Flag) []completion {
	c := completion{path: path}
	flags := append(slices.Clone(inherited), n.Flags...)
	var below []completion
	for _, child := range n.Children {
		if child.Hidden {
			continue
		}
		c.words = append(c.words, word{child.Name, child.Help})
		below = append(below, completions(child, strings.TrimSpace(path+" "+child.Name), flags)...)
	}
	for _, p := range n.Positional {
		for _, v := range p.EnumSlice() {
			if v != "" {
				c.words = append(c.words, word{v, ""})
			}
		}
	}
	for _, f := range flags {
		if !f.Hidden {
			c.words = append(c.words, word{"--" + f.Name, f.Help})
		}
	}
	return append([]completion{c}, below...)
}

// bash finds the command among the words before the cursor and offers what may follow it.
func bash(all []completion) string {
	var b strings.Builder
	b.WriteString("# bash completion for herald: source <(herald completion bash)\n_herald() {\n")
	b.WriteString("\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} path= i w\n")
	b.WriteString("\tif [[ $prev == --config || $prev == -c ]]; then COMPREPLY=($(compgen -f -- \"$cur\")); return; fi\n")
	b.WriteString("\tfor ((i = 1; i < COMP_CWORD; i++)); do\n\t\tw=${COMP_WORDS[i]}\n")
	b.WriteString("\t\tcase \"${path:+$path }$w\" in\n\t\t" + strings.Join(paths(all), "|") + ") path=\"${path:+$path }$w\" ;;\n\t\tesac\n\tdone\n")
	b.WriteString("\tcase \"$path\" in\n")
	for _, c := range all {
		var words []string
		for _, w := range c.words {
			words = append(words, w.text)
		}
		fmt.Fprintf(&b, "\t%s) COMPREPLY=($(compgen -W '%s' -- \"$cur\")) ;;\n", quote(c.path), strings.Join(words, " "))
	}
	b.WriteString("\tesac\n}\ncomplete -o default -F _herald herald\n")
	return b.String()
}

// zsh does the same and shows what each word means.
func zsh(all []completion) string {
	var b strings.Builder
	b.WriteString("#compdef herald\n# zsh completion for herald: herald completion zsh > \"${fpath[1]}/_herald\"\n_herald() {\n")
	b.WriteString("\tlocal path_= w\n\tlocal -a offer\n")
	b.WriteString("\tif [[ ${words[CURRENT-1]} == (--config|-c) ]]; then _files; return; fi\n")
	b.WriteString("\tfor w in ${words[2,CURRENT-1]}; do\n")
	b.WriteString("\t\tcase \"${path_:+$path_ }$w\" in\n\t\t(" + strings.Join(paths(all), "|") + ") path_=\"${path_:+$path_ }$w\" ;;\n\t\tesac\n\tdone\n")
	b.WriteString("\tcase \"$path_\" in\n")
	for _, c := range all {
		fmt.Fprintf(&b, "\t(%s) offer=(", quote(c.path))
		for _, w := range c.words {
			text := strings.ReplaceAll(w.text, ":", `\:`)
			if w.help != "" {
				text += ":" + w.help
			}
			b.WriteString(" " + quote(text))
		}
		b.WriteString(" ) ;;\n")
	}
	b.WriteString("\tesac\n\t_describe herald offer\n}\nif [[ ${funcstack[1]} == _herald ]]; then _herald \"$@\"; else compdef _herald herald; fi\n")
	return b.String()
}

// fish has a condition for each command.
func fish(all []completion) string {
	var b strings.Builder
	b.WriteString("# fish completion for herald: herald completion fish > ~/.config/fish/completions/herald.fish\n")
	b.WriteString("function __herald_path\n\tset -l path\n\tfor w in (commandline -opc)[2..]\n")
	b.WriteString("\t\tset -l next (string join ' ' $path $w)\n\t\tif contains -- $next " + strings.Join(paths(all), " ") + "\n\t\t\tset path $next\n\t\tend\n\tend\n\techo \"$path\"\nend\n")
	b.WriteString("complete -c herald -f\n")
	b.WriteString("complete -c herald -l config -s c -r -F\n")
	for _, c := range all {
		for _, w := range c.words {
			cond := fmt.Sprintf(`test (__herald_path) = %s`, quote(c.path))
			if c.path == "" {
				cond = `test -z (__herald_path)`
			}
			fmt.Fprintf(&b, "complete -c herald -n \"%s\"", cond)
			if long, ok := strings.CutPrefix(w.text, "--"); ok {
				if long == "config" {
					// It stands above, with its file; here it would take none.
					fmt.Fprint(&b, " -l config -r -F")
				} else {
					fmt.Fprintf(&b, " -l %s", long)
				}
			} else {
				fmt.Fprintf(&b, " -a %s", quote(w.text))
			}
			if w.help != "" {
				fmt.Fprintf(&b, " -d %s", quote(w.help))
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// paths are all commands, quoted.
func paths(all []completion) []string {
	var out []string
	for _, c := range all {
		if c.path != "" {
			out = append(out, quote(c.path))
		}
	}
	return out
}

// quote makes s one word of any of the three shells. Single quotes cannot stand inside of single quotes, so they are replaced;
// texts here are the grammar's own.
func quote(s string) string { return "'" + strings.ReplaceAll(s, "'", "’") + "'" }
