package openai_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	goopenai "github.com/sashabaranov/go-openai"

	"herald/core/model"
	"herald/core/model/modeltest"
	"herald/core/model/openai"
)

// recorded answers each request with the same stream, without a network.
type recorded string

func (r recorded) RoundTrip(req *http.Request) (*http.Response, error) {
	_, _ = io.Copy(io.Discard, req.Body)
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"text/event-stream"}}, Request: req,
		Body: io.NopCloser(strings.NewReader(string(r))),
	}, nil
}

func stream(chunks int) recorded {
	var b strings.Builder
	for i := range chunks {
		fmt.Fprintf(&b, "data: {\"id\":\"chatcmpl-1\",\"object\":\"chat.completion.chunk\",\"created\":1,\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"word%d \"},\"finish_reason\":null}]}\n\n", i)
	}
	b.WriteString("data: {\"id\":\"chatcmpl-1\",\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: {\"choices\":[],\"usage\":{\"prompt_tokens\":9,\"completion_tokens\":9}}\n\ndata: [DONE]\n\n")
	return recorded(b.String())
}

// BenchmarkStream compares the driver with the library that it stands on, over the same streams: the price of being robust.
func BenchmarkStream(b *testing.B) {
	for _, chunks := range []int{1, 200} {
		answer := stream(chunks)
		b.Run(fmt.Sprintf("driver/%d", chunks), func(b *testing.B) {
			m, err := openai.New(openai.Options{Name: "m", BaseURL: "http://bench/v1", Model: "m", HTTP: answer})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, a, err := collect(b.Context(), m, ask("hi")); err != nil || a.Finish != model.FinishStop {
					b.Fatal(err)
				}
			}
		})
		b.Run(fmt.Sprintf("library/%d", chunks), func(b *testing.B) {
			config := goopenai.DefaultConfig("")
			config.BaseURL, config.HTTPClient = "http://bench/v1", &http.Client{Transport: answer}
			c := goopenai.NewClientWithConfig(config)
			q := goopenai.ChatCompletionRequest{Model: "m", Messages: []goopenai.ChatCompletionMessage{{Role: "user", Content: "hi"}}}
			b.ReportAllocs()
			for b.Loop() {
				s, err := c.CreateChatCompletionStream(b.Context(), q)
				if err != nil {
					b.Fatal(err)
				}
				for err == nil {
					_, err = s.Recv()
				}
				_ = s.Close()
				if !errors.Is(err, io.EOF) {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkLoopback is a whole call over a real connection to the fake endpoint, which shares the machine.
func BenchmarkLoopback(b *testing.B) {
	s := &modeltest.Server{Unchecked: true, Rules: []modeltest.Rule{modeltest.Always(modeltest.Say("hello"))}}
	base, stop, err := s.Start(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	defer stop()
	tr := openai.NewTransport()
	defer tr.CloseIdleConnections()
	m, err := openai.New(openai.Options{Name: "m", BaseURL: base, Model: "m", HTTP: tr, StreamUsage: true})
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			if _, a, err := collect(b.Context(), m, ask("hi")); err != nil || a.Usage.Output == 0 {
				b.Error(err)
				return
			}
		}
	})
}
