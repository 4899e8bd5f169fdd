package redactions

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
)

// Handler returns a handler whose answers hold none of the secrets. JSON remains
// valid. Other texts are redacted as [Writer] does, and other bodies stay. Streams,
// which next must not buffer, redact their pieces by [Piece].
func Handler(next http.Handler, secrets map[string]string) http.Handler {
	r := newRedactor(nil, secrets)
	if r == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		a := &answer{ResponseWriter: w, redactor: r}
		next.ServeHTTP(a, request) // a handler that panics has its answer cut
		a.finish()
	})
}

// Piece returns a piece of a stream, of whole lines, without the secrets of the
// [Handler] that w is from. Lines of JSON, also behind "data: ", remain JSON.
func Piece(w http.ResponseWriter, piece string) string {
	a, ok := w.(*answer)
	if !ok || a.redactor.without([]byte(piece)) {
		return piece
	}
	var out strings.Builder
	to := a.redactor.to(&out)
	for line := range strings.Lines(piece) {
		data, isData := strings.CutPrefix(line, "data: ")
		if isData {
			out.WriteString("data: ")
		}
		_ = WriteJSON(to, []byte(data)) // to a strings.Builder
		Flush(to)
	}
	return out.String()
}

// An answer is a response on its way.
type answer struct {
	http.ResponseWriter
	redactor *redactor
	out      io.Writer     // nil before the header is written
	document *bytes.Buffer // a body that is JSON, up to its end; else nil
}

// Unwrap lets an [http.ResponseController] flush and set deadlines.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader writes the header of the answer.
func (a *answer) WriteHeader(status int) {
	if a.out == nil && status >= http.StatusOK {
		a.begin()
	}
	a.ResponseWriter.WriteHeader(status)
}

// begin decides by the content type how the body is redacted.
func (a *answer) begin() {
	a.out = a.ResponseWriter
	kind, _, _ := mime.ParseMediaType(a.Header().Get("Content-Type"))
	switch kind {
	case "application/json", "application/problem+json":
		a.document = &bytes.Buffer{}
	case "text/html", "text/plain", "image/svg+xml", "":
	default:
		return
	}
	a.out = a.redactor.to(a.ResponseWriter)
	a.Header().Del("Content-Length")
}

// Write writes a part of the body.
func (a *answer) Write(p []byte) (int, error) {
	if a.out == nil {
		a.begin()
	}
	if a.document != nil {
		return a.document.Write(p)
	}
	return a.out.Write(p)
}

func (a *answer) finish() {
	if a.document != nil {
		_ = WriteJSON(a.out, a.document.Bytes()) // the reader may be gone
	}
	if a.out != nil {
		Flush(a.out)
	}
}
