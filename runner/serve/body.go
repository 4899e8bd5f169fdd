package serve

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"time"

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
	text, err := readAll(w, r)
	if err != nil {
		return err
	}
	value, err := schema.Parse(text)
	if err == nil {
		err = unique(text)
	}
	if err != nil {
		return problem(http.StatusBadRequest, "bad_json", err.Error())
	}
	if broken := s.contract.schemas[name].Check(value); len(broken) > 0 {
		p := problem(http.StatusUnprocessableEntity, "invalid_body", "the body is not a "+name)
		for _, b := range broken {
			p.Errors = append(p.Errors, Place{b.Path, b.Message})
		}
		return p
	}
	if err := json.Unmarshal(text, v); err != nil {
		return problem(http.StatusUnprocessableEntity, "invalid_body", err.Error())
	}
	return nil
}

// readAll reads a bounded body in bounded time.
func readAll(w http.ResponseWriter, r *http.Request) ([]byte, error) {
	control := http.NewResponseController(w)
	control.SetReadDeadline(time.Now().Add(time.Minute))
	defer control.SetReadDeadline(time.Time{})
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
	var large *http.MaxBytesError
	switch {
	case errors.As(err, &large):
		return nil, problem(http.StatusRequestEntityTooLarge, "too_large", "a body has at most 16 MiB")
	case err != nil:
		return nil, problem(http.StatusBadRequest, "bad_body", "the body could not be read")
	}
	return text, nil
}

// unique tells whether no object has a key twice: two readers would take
// different ones for the true one.
func unique(text []byte) error {
	d := json.NewDecoder(bytes.NewReader(text))
	type object struct {
		keys map[string]bool // nil in an array
		key  bool            // a key comes next
	}
	var open []object
	for {
		t, err := d.Token()
		if err != nil {
			return nil // the end: the text was parsed before
		}
		top := len(open) - 1
		if t == json.Delim('}') || t == json.Delim(']') {
			open = open[:top]
			continue
		}
		if top >= 0 && open[top].keys != nil {
			if open[top].key {
				name := t.(string)
				if open[top].keys[name] {
					return errors.New("a key stands twice in one object")
				}
				open[top].keys[name] = true
			}
			open[top].key = !open[top].key
		}
		switch t {
		case json.Delim('{'):
			open = append(open, object{map[string]bool{}, true})
		case json.Delim('['):
			open = append(open, object{})
		}
	}
}
