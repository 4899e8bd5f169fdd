package redactions

import (
	"bytes"
	"io"
	"mime"
	"net/http"
	"strings"
)

// Handler returns a handler whose responses contain no secrets. JSON remains
// valid. Other texts are redacted as by [Writer], and other bodies are
// unchanged. Streams, which must not be buffered, must redact their pieces by
// [Piece].
func Handler(next http.Handler, secrets map[string]string) http.Handler {
	r := newRedactor(nil, secrets)
	if r == nil {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		a := &response{ResponseWriter: w, redactor: r}
		next.ServeHTTP(a, request) // if a handler panics, its response is cut
		a.finish()
	})
}

// Piece returns whole lines of a stream without the secrets of the [Handler]
// that w is from. Lines of JSON, also after "data: ", remain valid.
func Piece(w http.ResponseWriter, piece string) string {
	a, ok := w.(*response)
	if !ok || a.redactor.isClean([]byte(piece)) {
		return piece
	}
	var out strings.Builder
	to := a.redactor.to(&out)
	for line := range strings.Lines(piece) {
		data, isData := strings.CutPrefix(line, "data: ")
		if isData {
			out.WriteString("data: ")
		}
		_ = WriteJSON(to, []byte(data)) // a strings.Builder never fails
		Flush(to)
	}
	return out.String()
}

// response is a response in progress.
type response struct {
	http.ResponseWriter
	redactor *redactor
	out      io.Writer     // nil before the header is written
	document *bytes.Buffer // buffers a JSON body, else nil
}

// Unwrap allows an [http.ResponseController] to flush and to set deadlines.
func (a *response) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// WriteHeader writes the header of the response.
func (a *response) WriteHeader(status int) {
	if a.out == nil && status >= http.StatusOK {
		a.begin()
	}
	a.ResponseWriter.WriteHeader(status)
}

// begin chooses the redaction of the body by its content type.
func (a *response) begin() {
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
func (a *response) Write(p []byte) (int, error) {
	if a.out == nil {
		a.begin()
	}
	if a.document != nil {
		return a.document.Write(p)
	}
	return a.out.Write(p)
}

func (a *response) finish() {
	if a.document != nil {
		_ = WriteJSON(a.out, a.document.Bytes()) // the client may be gone
	}
	if a.out != nil {
		Flush(a.out)
	}
}
