package service

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// httpHandler serves health and metrics, and what mount adds. Nothing of its own changes anything or holds a person's words.
func httpHandler(r *readiness, m *metrics, mount func(*http.ServeMux)) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		fmt.Fprintln(w, "ok")
	})
	mux.HandleFunc("GET /readyz", func(w http.ResponseWriter, req *http.Request) {
		parts, ready := r.parts()
		code := http.StatusOK
		if !ready {
			code = http.StatusServiceUnavailable
		}
		if strings.Contains(req.Header.Get("Accept"), "application/json") {
			writeJSON(w, code, map[string]any{"ready": ready, "parts": parts})
			return
		}
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		w.WriteHeader(code)
		for _, p := range parts {
			fmt.Fprintln(w, p)
		}
	})
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{}))
	mount(mux)
	return mux
}

func writeJSON(w http.ResponseWriter, code int, v any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	// The reader has gone when this fails, and there is nobody left to tell.
	_ = json.NewEncoder(w).Encode(v)
}
