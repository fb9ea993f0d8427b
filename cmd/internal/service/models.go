package service

import (
	"net/http"

	"herald/config"
	"herald/core/model"
	"herald/core/model/openai"
)

// Models makes the configured models. They share transport; nothing is sent.
func Models(cfg *config.Config, transport http.RoundTripper) ([]model.Configured, error) {
	var out []model.Configured
	for _, m := range cfg.Models {
		p, _ := cfg.Provider(m.Provider)
		o := openai.Options{
			Name: m.Name, BaseURL: p.BaseURL, Key: p.APIKey.Reveal(), Model: m.Model, Temperature: m.Temperature, Thinking: m.Thinking, StreamUsage: p.StreamUsage,
			FirstToken: cfg.ModelTimeouts.FirstToken, BetweenTokens: cfg.ModelTimeouts.BetweenTokens, HTTP: transport,
		}
		if m.MaxOutputTokens != nil {
			o.MaxOutputTokens = *m.MaxOutputTokens
		}
		driver, err := openai.New(o)
		if err != nil {
			return nil, err
		}
		strength, err := model.ParseStrength(m.Strength)
		if err != nil {
			return nil, err
		}
		out = append(out, model.Configured{
			Name: m.Name, Model: driver, Provider: m.Provider, Strength: strength, Scope: m.Scope, Priority: m.Priority, ContextTokens: m.ContextTokens, Images: m.Images,
			Prices: model.Prices{Input: m.InputPrice, Cached: m.CachedPrice, Output: m.OutputPrice},
		})
	}
	return out, nil
}
