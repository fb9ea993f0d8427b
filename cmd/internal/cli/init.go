package cli

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"herald/cmd/internal/service"
	"herald/config"
	"herald/core/model/openai"
	"herald/core/store"
)

type initCmd struct {
	Output    string `short:"o" placeholder:"FILE" help:"File to write; --config or ./herald.toml when it is not given."`
	Force     bool   `help:"Replace a file that exists."`
	Yes       bool   `short:"y" help:"Ask nothing: take the flags, and the defaults for the rest."`
	NoTest    bool   `help:"Do not try the model and the store."`
	BaseURL   string `name:"base-url" placeholder:"URL" help:"Address of the models' provider."`
	APIKeyEnv string `name:"api-key-env" placeholder:"NAME" help:"Environment variable that holds the provider's key."`
	Model     string `placeholder:"ID" help:"The provider's id of the model."`
	Slack     bool   `help:"Connect to a Slack workspace; the manifest of the app is printed."`
	StoreURL  string `name:"store" placeholder:"URL" help:"Where everything is kept: sqlite:PATH, redis://HOST or another form that config explain lists."`
}

// openAIURL is the provider that init proposes.
const openAIURL = "https://api.openai.com/v1"

// Run asks for provider and store, tries each while asking, and writes a configuration that config check passes.
func (c initCmd) Run(e *env) error {
	path := cmp.Or(c.Output, e.grammar.Config, "herald.toml")
	at := path
	if !filepath.IsAbs(at) {
		at = filepath.Join(e.Dir, at)
	}
	if _, err := os.Lstat(at); err == nil && !c.Force {
		return usagef("%s exists; use --force to replace it, or --output for another file", path)
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s cannot be looked at: %w", path, err)
	}
	if _, err := os.Stat(filepath.Dir(at)); err != nil {
		return usagef("%s cannot be written: %w; make its folder first", path, err)
	}
	w := &wizard{initCmd: c, env: e, path: path, in: bufio.NewReader(e.In), later: map[string]string{}}
	if err := w.provider(); err != nil {
		return err
	}
	if err := w.store(); err != nil {
		return err
	}
	if err := w.slack(); err != nil {
		return err
	}
	if _, err := w.try(); err != nil {
		return err
	}
	if err := writeNew(at, config.Render(w.answers), c.Force); err != nil {
		return fmt.Errorf("%s cannot be written: %w", path, err)
	}
	fmt.Fprintf(e.Err, "Wrote %s. Next: %s\n", path, w.next())
	return nil
}

// next says how to go on after the file was written.
func (w *wizard) next() string {
	herald, talk, export := "herald", "chat", ""
	if w.path != "herald.toml" || lookup(w.env.Env, "HERALD_CONFIG") != "" {
		herald += " --config " + w.path
	}
	if w.answers.SlackBotTokenEnv != "" {
		talk = "run"
	}
	if names := w.unset(w.answers.APIKeyEnv, w.answers.SlackBotTokenEnv, w.answers.SlackAppTokenEnv, w.answers.SlackSigningSecretEnv); len(names) > 0 {
		export = "export " + strings.Join(names, " and ") + ", then "
	}
	return export + herald + " doctor --ask, then " + herald + " " + talk
}

// lookup is the value of a variable, "" where it is not set.
func lookup(environ []string, name string) string {
	value := ""
	for _, v := range environ {
		if v, ok := strings.CutPrefix(v, name+"="); ok {
			value = v
		}
	}
	return value
}

// writeNew writes a file that only this account can read, and never half of it over another.
func writeNew(path string, text []byte, replace bool) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".herald-*.toml")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name())
	_, err = f.Write(text)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if replace {
		return os.Rename(f.Name(), path)
	}
	return os.Link(f.Name(), path) // fails when the path was taken meanwhile
}

// wizard is one run of init. What it says goes to stderr: stdout stays free for scripts.
type wizard struct {
	initCmd
	env     *env
	path    string
	in      *bufio.Reader
	answers config.Answers
	// later has the variables that a person exports after init, each with a value of the right kind to try the rest with. It is written nowhere.
	later map[string]string
}

// unset are those of names that are exported later.
func (w *wizard) unset(names ...string) []string {
	return slices.DeleteFunc(names, func(n string) bool { return w.later[n] == "" })
}

// ask returns the flag's value, what the person types, or def for an empty line.
func (w *wizard) ask(question, flag, def string) (string, error) {
	if flag != "" {
		return flag, nil
	}
	if w.Yes {
		return def, nil
	}
	shown := ""
	if def != "" {
		shown = " [" + def + "]"
	}
	fmt.Fprintf(w.env.Err, "%s%s: ", question, shown)
	line, err := w.in.ReadString('\n')
	line = strings.TrimSpace(line)
	if err != nil && line == "" {
		if errors.Is(err, io.EOF) {
			fmt.Fprintln(w.env.Err)
			return "", usagef("the input ended before everything was asked; use --yes to take the defaults")
		}
		return "", err
	}
	return cmp.Or(line, def), nil
}

// answer asks a question, takes what is said with set, and asks again while it speaks against the bounds of keys. What a flag says is not asked
// about again.
func (w *wizard) answer(question, flag, def string, set func(string), keys ...string) error {
	for {
		a, err := w.ask(question, flag, def)
		if err != nil {
			return err
		}
		set(a)
		switch trouble := w.fits(keys...); {
		case trouble == nil:
			return nil
		case flag != "" || w.Yes:
			return trouble
		default:
			fmt.Fprintf(w.env.Err, "That cannot be used: %v. Answer again; Ctrl-C ends.\n", trouble)
		}
	}
}

// secret asks for the variable that holds a secret, as answer does. Nobody can export one while init asks, and the tokens of an app that init tells
// how to make come late: a person who names the same variable again sets it later. like is a value of the right kind.
func (w *wizard) secret(question, flag, def, like string, set func(string), keys ...string) error {
	last := ""
	for {
		a, err := w.ask(question, flag, cmp.Or(last, def))
		if err != nil {
			return err
		}
		set(a)
		trouble := w.fits(keys...)
		switch {
		case trouble == nil:
			return nil
		case flag != "" || w.Yes:
			return trouble
		}
		again := a != "" && a == last
		last = ""
		if lookup(w.env.Env, a) == "" {
			w.later[a] = like
			if w.fits(keys...) == nil {
				last = a
			}
			if again && last != "" {
				return nil
			}
			delete(w.later, a)
		}
		if last != "" {
			fmt.Fprintf(w.env.Err, "%v. Name another one, or %s again to export it later; Ctrl-C ends.\n", trouble, last)
		} else {
			fmt.Fprintf(w.env.Err, "That cannot be used: %v. Answer again; Ctrl-C ends.\n", trouble)
		}
	}
}

// fits says what the configuration so far has against keys; a key that ends in a dot stands for all below it. The file's lines are left out of it,
// as nobody can look at them yet.
func (w *wizard) fits(keys ...string) error {
	_, err := w.try()
	all, _ := errors.AsType[config.Problems](err)
	var texts []string
	for _, p := range all {
		if slices.ContainsFunc(keys, func(k string) bool { return p.Key == k || strings.HasSuffix(k, ".") && strings.HasPrefix(p.Key, k) }) {
			texts = append(texts, strings.TrimSuffix(p.Key+": "+p.Text+"; "+p.Hint, "; "))
		}
	}
	if len(texts) == 0 {
		return nil
	}
	return codeError{Config, errors.New(strings.Join(texts, "; "))}
}

// again asks whether to answer once more after a test that failed. Without a person there is nobody to ask, and what is wrong elsewhere in the
// configuration is mended by no answer.
func (w *wizard) again(trouble error) (bool, error) {
	if _, elsewhere := errors.AsType[config.Problems](trouble); w.Yes || elsewhere {
		return false, trouble
	}
	fmt.Fprintf(w.env.Err, "This does not work yet: %v\n", trouble)
	for {
		a, err := w.ask("Answer again (a), keep it all the same (k) or end (e)?", "", "a")
		if err != nil {
			return false, err
		}
		switch strings.ToLower(a) {
		case "a", "again":
			return true, nil
		case "k", "keep":
			return false, nil
		case "e", "end":
			return false, trouble
		}
	}
}

// provider asks for the models' endpoint and tries it with one small call.
func (w *wizard) provider() error {
	for first := true; ; first = false {
		c := w.initCmd
		if !first {
			c.BaseURL, c.APIKeyEnv, c.Model = "", "", ""
		}
		if err := w.endpoint(c); err != nil {
			return err
		}
		err := w.tryModel()
		if err == nil {
			return nil
		}
		if retry, err := w.again(err); err != nil || !retry {
			return err
		}
	}
}

// endpoint asks for what makes a provider; flags are those of c.
func (w *wizard) endpoint(c initCmd) error {
	before := w.answers
	// Who makes the configuration runs the installation: in the terminal they see what is an admin's to see.
	w.answers = config.Answers{ProviderName: "main", ProviderType: "openai", Admins: []string{string(service.Operator())}}
	key, id := before.APIKeyEnv, before.Model
	if before.BaseURL != "" {
		key = cmp.Or(key, "-")
	}
	setURL := func(url string) {
		w.answers.BaseURL = url
		if url != openAIURL {
			w.answers.ProviderName = "main"
			return
		}
		w.answers.ProviderName = "openai"
		if url != before.BaseURL {
			key, id = "OPENAI_API_KEY", "gpt-4.1-mini"
		}
	}
	of := func(leaf string) string { return "providers." + w.answers.ProviderName + leaf }
	if err := w.answer("Address of the models' provider (anything that speaks OpenAI's protocol)", c.BaseURL, cmp.Or(before.BaseURL, openAIURL), setURL, "providers.main.base_url", "providers.openai.base_url"); err != nil {
		return err
	}
	setKey := func(name string) {
		if w.answers.APIKeyEnv = name; name == "-" {
			w.answers.APIKeyEnv = ""
		}
	}
	if err := w.secret("Environment variable that holds its key (- for none)", c.APIKeyEnv, key, "later", setKey, of(""), of(".api_key_env")); err != nil {
		return err
	}
	for w.answers.Model == "" {
		if err := w.answer("The provider's id of the model", c.Model, id, func(id string) { w.answers.Model = id }, of(".default_model")); err != nil {
			return err
		}
		if w.answers.Model == "" && w.Yes {
			return usagef("no model was named; use --model")
		}
	}
	return nil
}

// store asks where everything is kept and opens it.
func (w *wizard) store() error {
	for first := true; ; first = false {
		flag := w.StoreURL
		if !first {
			flag = ""
		}
		def := ""
		if cfg, err := config.Load(config.Options{Env: w.env.Env, Dir: w.env.Dir, File: w.path, ReadFile: func(string) ([]byte, error) { return nil, nil }}); err == nil {
			def = cfg.Store.URL
		}
		set := func(url string) {
			w.answers.StoreURL = url
			if url == def {
				w.answers.StoreURL = "" // the default moves with data_dir
			}
		}
		if err := w.answer("Where to keep everything: sqlite:PATH for one machine, redis://HOST for several", flag, def, set, "store."); err != nil {
			return err
		}
		err := w.tryStore()
		if err == nil {
			return nil
		}
		if retry, err := w.again(err); err != nil || !retry {
			return err
		}
	}
}

// try is the configuration that the answers make, read as it will be read.
func (w *wizard) try() (*config.Config, error) {
	text := config.Render(w.answers)
	environ := slices.Clone(w.env.Env)
	for name, like := range w.later {
		environ = append(environ, name+"="+like)
	}
	return config.Load(config.Options{
		File: w.path, Env: environ, Dir: w.env.Dir,
		ReadFile: func(path string) ([]byte, error) {
			if filepath.Base(path) == filepath.Base(w.path) {
				return bytes.Clone(text), nil
			}
			return os.ReadFile(path)
		},
	})
}

func (w *wizard) tryModel() error {
	cfg, err := w.try()
	if err != nil || w.NoTest {
		return err
	}
	if len(w.unset(w.answers.APIKeyEnv)) > 0 {
		fmt.Fprintf(w.env.Err, "The model is not asked: nothing stands in %s yet\n", w.answers.APIKeyEnv)
		return nil
	}
	t := openai.NewTransport()
	defer t.CloseIdleConnections()
	models, err := service.Models(cfg, t)
	if err != nil {
		return err
	}
	for _, m := range models {
		fmt.Fprintf(w.env.Err, "Asking %s … ", m.Name)
		c := service.AskModel(w.env.ctx, m)
		if c.Status != service.Good {
			fmt.Fprintln(w.env.Err, "no")
			return codeError{NoModel, errors.New(c.Text + "; " + c.Remedy)}
		}
		fmt.Fprintln(w.env.Err, "it answers")
	}
	return nil
}

func (w *wizard) tryStore() error {
	cfg, err := w.try()
	if err != nil || w.NoTest {
		return err
	}
	if cfg.Store.Target.Driver == "memory" {
		return nil
	}
	var made bool
	var h store.Health
	running, err := w.env.whileInUse(cfg, func() (err error) {
		made, h, err = createStore(w.env, cfg)
		return err
	})
	if running {
		fmt.Fprintln(w.env.Err, "The store is there, and a running service uses it")
		return nil
	}
	if err != nil {
		if errors.Is(err, store.ErrUnavailable) {
			return fmt.Errorf("%w; %s", err, service.StoreFault(err).Remedy)
		}
		return err
	}
	word := "opened"
	if made {
		word = "made"
	}
	fmt.Fprintf(w.env.Err, "The store was %s: %s, id %s\n", word, h.Driver, h.ID)
	for _, warning := range h.Warnings {
		fmt.Fprintf(w.env.Err, "Warning: %s\n", warning)
	}
	return nil
}
