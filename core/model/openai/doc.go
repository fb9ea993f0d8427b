// Package openai is the driver for every endpoint that speaks OpenAI's chat completions: OpenAI, Azure's v1 endpoint, Gemini
// and Anthropic in compatible mode, OpenRouter, LiteLLM, vLLM, SGLang, llama.cpp, Ollama and their kin.
//
// It stands on go-openai, which builds the request line and headers and reads the stream, but never sees the wire: an
// exchange sits under it as its HTTP client. On the way out the exchange sends the body that encode.go writes, since nearly
// every field needs care that the library's types do not allow (empty content, temperature 0, ids, names, schemas), and so that
// the library's rules about model names do not hit self-hosted aliases. On the way in it turns whatever a server sends into
// well-formed one-line events (normalise.go), keeps status, headers and the error body (failure.go), bounds sizes and watches
// the clock (watch.go). The driver folds the events with its own rules (accumulate.go).
//
// It must not know how models are chosen, retried or paid for, nor sessions and turns.
package openai
