package config

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"time"
)

// check judges what depends on more than one key, fetches the secrets and
// completes the configuration.
func (l *loader) check(cfg *Config) {
	l.checkStore(cfg)
	l.checkSlack(cfg)
	l.checkProviders(cfg)
	l.checkModels(cfg)
	l.implyModels(cfg)
	if loc, err := time.LoadLocation(cfg.Timezone); err == nil {
		cfg.location = loc
	}
	l.checkSocketPath(cfg)
	l.checkRules(cfg)
	l.checkTools(cfg)
}

func (l *loader) checkStore(cfg *Config) {
	if l.spoiled["store.url"] {
		return
	}
	u, f := parseStoreURL(cfg.Store.URL)
	if f != nil {
		return // Reported with the value.
	}
	cfg.Store.Target = u.target
	cfg.Store.URL = u.bare
	for _, s := range l.table.rows {
		if g, set := l.given[s.key]; set && s.only != "" && s.only != u.target.Driver && s.only != u.target.Mode {
			l.report(g.source.problem(s.key, faultf("applies to %s only, and store.url names %s", s.only, u.target.kind()).
				withHint("leave it out, or change store.url")))
		}
	}
	cfg.Store.Password = l.secret("store.password", cfg.Store.PasswordEnv, cfg.Store.PasswordFile)
	cfg.Store.SentinelPassword = l.secret("store.sentinel_password", cfg.Store.SentinelPasswordEnv, cfg.Store.SentinelPasswordFile)
	if u.password != "" {
		if src, named := l.namedSecret("store.password"); named {
			l.report(src.problem("store.url", faultf("has a password of its own").withHint("leave out one of the two")))
		}
		cfg.Store.Password = NewSecret(u.password)
	}
	shown := cfg.origin["store.url"]
	shown.text = cfg.Store.URL
	if cfg.Store.Password.IsSet() {
		shown.text = maskedURL(u)
	}
	cfg.origin["store.url"] = shown
}

// maskedURL shows where the password goes without showing it.
func maskedURL(u storeURL) string {
	scheme, rest, _ := strings.Cut(u.bare, "://")
	user := ""
	if i := strings.LastIndexByte(rest, '@'); i >= 0 {
		user, rest = rest[:i], rest[i+1:]
	}
	return scheme + "://" + user + ":" + redacted + "@" + rest
}

func (l *loader) checkProviders(cfg *Config) {
	for i := range cfg.Providers {
		p := &cfg.Providers[i]
		key := under(providersKey, p.Name)
		p.BaseURL = strings.TrimRight(p.BaseURL, "/")
		p.APIKey = l.secret(key+".api_key", p.APIKeyEnv, p.APIKeyFile)
		_, named := l.namedSecret(key + ".api_key")
		if p.BaseURL == defaultBaseURL && !named && !l.spoiledSecret(key+".api_key") && !l.spoiled[key+".base_url"] {
			l.report(l.mention[key].problem(key,
				faultf("needs a key, because it is at %s", defaultBaseURL).
					withHint("set api_key_env, or base_url to another endpoint")))
		}
	}
}

func (l *loader) checkModels(cfg *Config) {
	for i := range cfg.Models {
		m := &cfg.Models[i]
		key := under(modelsKey, m.Name)
		if m.Provider == "" && !l.spoiled[key+".provider"] {
			l.adoptProvider(cfg, m)
		}
		p, ok := cfg.Provider(m.Provider)
		switch {
		case l.spoiled[key+".provider"]:
			continue
		case m.Provider == "":
			l.report(l.mention[key].problem(key, faultf("names no provider").withHint("add provider = %q", l.anyProvider())))
			continue
		case !ok:
			src := l.given[key+".provider"].source
			f := faultf("there is no provider %q", shorten(m.Provider))
			if near := nearest(m.Provider, l.names[providersKey]); near != "" {
				f.hint = fmt.Sprintf("did you mean %q?", near)
			} else {
				f.hint = fmt.Sprintf("add [%s]", under(providersKey, m.Provider))
			}
			l.report(src.problem(key+".provider", f))
			continue
		}
		if m.Model == "" && p.DefaultModel != "" {
			m.Model = p.DefaultModel
			cfg.origin[key+".model"] = effective{text: m.Model, source: cfg.origin[under(providersKey, p.Name)+".default_model"].source}
		}
		if m.Model == "" && !l.spoiled[key+".model"] && !l.spoiled[under(providersKey, p.Name)+".default_model"] {
			l.report(l.mention[key].problem(key, faultf("names no model, and its provider %q has no default_model", p.Name).
				withHint("add model = \"ID\" with the provider's own id of the model")))
		}
	}
}

// adoptProvider gives a model without a provider the one that can only be
// meant.
func (l *loader) adoptProvider(cfg *Config, m *Model) {
	switch _, same := cfg.Provider(m.Name); {
	case same:
		m.Provider = m.Name
	case len(cfg.Providers) == 1:
		m.Provider = cfg.Providers[0].Name
	default:
		return
	}
	cfg.origin[under(modelsKey, m.Name)+".provider"] = effective{text: m.Provider}
}

// anyProvider is a provider's name for a hint.
func (l *loader) anyProvider() string {
	if names := l.names[providersKey]; len(names) > 0 {
		return names[0]
	}
	return "NAME"
}

// implyModels adds the model that a provider's default_model stands for where
// no section uses that provider.
func (l *loader) implyModels(cfg *Config) {
	for _, p := range cfg.Providers {
		used := slices.ContainsFunc(cfg.Models, func(m Model) bool { return m.Provider == p.Name })
		if p.DefaultModel == "" || used {
			continue
		}
		src := cfg.origin[under(providersKey, p.Name)+".default_model"].source
		if other, taken := cfg.Model(p.Name); taken {
			l.report(src.problem(under(providersKey, p.Name)+".default_model",
				faultf("would be a model named %q, and [%s] is one already, of provider %q", p.Name, under(modelsKey, p.Name), other.Provider).
					withHint("add a [models.NAME] with provider = %q", p.Name)))
			continue
		}
		if f := checkName(modelsKey, p.Name); f != nil {
			l.report(src.problem(under(providersKey, p.Name)+".default_model", f))
			continue
		}
		l.implyModel(cfg, p, src)
	}
}

func (l *loader) implyModel(cfg *Config, p Provider, src Source) {
	m := Model{Name: p.Name, Provider: p.Name, Model: p.DefaultModel, Implied: true}
	for _, s := range l.table.rows {
		if !strings.HasPrefix(s.key, modelsKey+".") {
			continue
		}
		key := s.concrete(p.Name)
		switch s.leaf() {
		case "provider":
			cfg.origin[key] = effective{text: m.Provider, source: src}
		case "model":
			cfg.origin[key] = effective{text: m.Model, source: src}
		default:
			// No section of that name exists, so these are the defaults.
			l.fill(cfg, reflect.ValueOf(&m).Elem(), s, p.Name)
		}
	}
	cfg.Models = append(cfg.Models, m)
}

// checkSocketPath checks the length of a path that became absolute. That of the
// default is checked with the default.
func (l *loader) checkSocketPath(cfg *Config) {
	g, set := l.given["socket"]
	if !set {
		return
	}
	if f := checkSocket(cfg.Socket); f != nil {
		l.report(g.source.problem("socket", f))
	}
}
