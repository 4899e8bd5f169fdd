package serve

import (
	"cmp"
	"net/http"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/internal/orders"
)

// maxPath is the maximum length of a path in the log, in bytes.
const maxPath = 256

// logged logs and counts every request that next answers. The line has no query and no body,
// which may contain texts.
func (s *Server) logged(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		began, note, rec := time.Now(), &orders.Note{}, &recorder{ResponseWriter: w}
		r = orders.WithNote(r, note)
		finished := false
		defer func() { // also after a panic, which net/http handles
			took := time.Since(began)
			status := cmp.Or(rec.status, http.StatusOK)
			route := cmp.Or(r.Pattern, "none")
			s.metrics.Request(route, status, took)
			line := []any{"method", r.Method, "path", r.URL.Path[:min(len(r.URL.Path), maxPath)], "status", status,
				"bytes", rec.bytes, "took", took.Round(time.Microsecond), "remote", r.RemoteAddr}
			if note.Code != "" {
				line = append(line, "code", note.Code)
			}
			if note.Err != nil {
				line = append(line, "error", note.Err)
			}
			if !finished {
				line = append(line, "aborted", true)
			}
			s.o.Log.Log(r.Context(), note.Level, "request", line...)
		}()
		next.ServeHTTP(rec, r)
		finished = true
	})
}

// A recorder records the status and the size of an answer.
type recorder struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// Unwrap implements the interface of [http.ResponseController].
func (r *recorder) Unwrap() http.ResponseWriter { return r.ResponseWriter }

// WriteHeader records the status.
func (r *recorder) WriteHeader(status int) {
	r.status = cmp.Or(r.status, status)
	r.ResponseWriter.WriteHeader(status)
}

// Write records the size.
func (r *recorder) Write(p []byte) (int, error) {
	n, err := r.ResponseWriter.Write(p)
	r.bytes += int64(n)
	return n, err
}
