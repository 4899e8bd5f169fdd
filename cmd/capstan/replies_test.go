package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/rogpeppe/go-internal/testscript"
)

// serveReplies is the command replies FILE... of scripts. It serves models at $ENDPOINT:
// request N gets the N-th file, as JSON or, if its name ends in .sse, as a stream. The
// file requests/N has the path and the body of request N.
func serveReplies(ts *testscript.TestScript, _ bool, files []string) {
	var count atomic.Int64
	requests := ts.MkAbs("requests")
	ts.Check(os.MkdirAll(requests, 0o700))
	var replies []string
	for _, name := range files {
		replies = append(replies, ts.ReadFile(name))
	}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		n := int(count.Add(1))
		text, _ := io.ReadAll(r.Body)
		record := fmt.Sprintf("%s %s\n%s\n", r.Method, r.URL.Path, text)
		if err := os.WriteFile(filepath.Join(requests, fmt.Sprint(n)), []byte(record), 0o600); err != nil || n > len(replies) {
			http.Error(w, fmt.Sprintf(`{"error":{"message":"request %d was not expected"}}`, n), http.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", map[bool]string{true: "text/event-stream", false: "application/json"}[filepath.Ext(files[n-1]) == ".sse"])
		_, _ = io.WriteString(w, replies[n-1])
	}))
	ts.Defer(s.Close)
	ts.Setenv("ENDPOINT", s.URL)
}
