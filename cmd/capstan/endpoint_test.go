package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveEndpoint starts an endpoint of chat completions at $ENDPOINT. Each answer is "Too
// short." Its tokens are 100,000 of input, of which 40,000 are read from the cache and
// 20,000 are written to it, and 10,000 of output, of which 9,000 are thinking.
func serveEndpoint(ts *testscript.TestScript, _ bool, _ []string) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"choices":[{"message":{"content":"Too short."},"finish_reason":"stop"}],"usage":{"prompt_tokens":100000,"completion_tokens":10000,`+
			`"prompt_tokens_details":{"cached_tokens":40000,"cache_write_tokens":20000},"completion_tokens_details":{"reasoning_tokens":9000}}}`)
	}))
	ts.Defer(s.Close)
	ts.Setenv("ENDPOINT", s.URL)
}
