package serve

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/runner/serve/formats"
	"github.com/seed61713e19/capstan/validators/schema"
)

// maxBody bounds what is posted, in bytes.
const maxBody = 16 << 20

// read reads a JSON body of the named schema of the contract into v. What the
// schema does not know, keys that stand twice, and text behind the document are
// refused.
func (s *Server) read(w http.ResponseWriter, r *http.Request, name string, v any) error {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/json" {
		return problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/json")
	}
	text, err := readAll(w, r, maxBody)
	if err != nil {
		return err
	}
	value, err := schema.Parse(text)
	if err != nil {
		return problem(http.StatusBadRequest, "bad_json", err.Error())
	}
	held := s.contract.schemas[name]
	if held == nil {
		return fmt.Errorf("the contract holds no %s: nothing would be refused", name)
	}
	broken, err := held.Check(r.Context().Err, value)
	if err != nil {
		return problem(http.StatusUnprocessableEntity, "invalid_body", err.Error())
	}
	if len(broken) > 0 {
		p := problem(http.StatusUnprocessableEntity, "invalid_body", "the body is not a "+name)
		for _, b := range broken {
			p.Errors = append(p.Errors, Place{b.Path, b.Message})
		}
		return p
	}
	if err := schema.Unmarshal(text, v); err != nil {
		return problem(http.StatusUnprocessableEntity, "invalid_body", err.Error())
	}
	return nil
}

// bare reads the body of an order that takes none, or an empty object. A key
// that is ignored would be taken for one that was heeded. Instead of what some
// keys ask for, hints have something to say.
func bare(w http.ResponseWriter, r *http.Request, hints map[string]string) error {
	text, err := readAll(w, r, maxBody)
	if err != nil || strings.TrimSpace(string(text)) == "" {
		return err
	}
	value, err := schema.Parse(text)
	body, isObject := value.(map[string]any)
	if err != nil || !isObject {
		return problem(http.StatusBadRequest, "bad_json", "this takes no body, or an empty object")
	}
	if len(body) == 0 {
		return nil
	}
	p := problem(http.StatusUnprocessableEntity, "invalid_body", "this takes no body, or an empty object")
	for _, key := range slices.Sorted(maps.Keys(body)) {
		message := "is not known here"
		if hint := hints[strings.ReplaceAll(strings.ToLower(key), "-", "_")]; hint != "" {
			message += ": " + hint
		}
		p.Errors = append(p.Errors, Place{"$." + key, message})
	}
	return p
}

// readAll reads a body of at most limit bytes in bounded time.
func readAll(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(time.Minute))
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, problem(http.StatusRequestEntityTooLarge, "too_large", "the body has more than "+formats.Size(int(limit)))
	case err != nil:
		return nil, problem(http.StatusBadRequest, "bad_body", "the body could not be read")
	}
	control.SetReadDeadline(time.Time{}) // only now: of a body that did not come, the server would wait for the rest
	return text, nil
}

// posted reads a form of at most limit bytes in bounded time and gives its fields by name.
// Browsers send the ends of lines as CRLF; whoever typed them meant the end of a
// line.
func posted(w http.ResponseWriter, r *http.Request, limit int64) (func(name string) string, error) {
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || kind != "application/x-www-form-urlencoded" {
		return nil, problem(http.StatusUnsupportedMediaType, "unsupported_media_type", "send application/x-www-form-urlencoded")
	}
	text, err := readAll(w, r, limit)
	if err != nil {
		return nil, err
	}
	form, err := url.ParseQuery(string(text))
	if err != nil {
		return nil, problem(http.StatusBadRequest, "bad_form", "the form could not be read")
	}
	return func(name string) string { return strings.ReplaceAll(form.Get(name), "\r\n", "\n") }, nil
}
