package journal

import (
	"bytes"
	"crypto/sha256"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/journal/encodings"
	"github.com/seed61713e19/capstan/runner/model"
)

// A print tells one request from another: the digest of it as it was made and,
// where it held secrets, that of it without them too. Two are of the same
// request where they have one of the two in common. So a run is known again
// when there are secrets that were none before, when their values are others,
// and when they are not there any more.
type print []byte

func printOf(whole, clean digest) print {
	if whole == clean {
		return whole[:]
	}
	return append(whole[:], clean[:]...)
}

// same tells whether prints are of the same request. What has none is told by
// its path alone.
func (p print) same(other print) bool {
	const size = len(digest{})
	if len(p) < size || len(other) < size {
		return len(p) == len(other)
	}
	for i := 0; i+size <= len(p); i += size {
		for k := 0; k+size <= len(other); k += size {
			if bytes.Equal(p[i:i+size], other[k:k+size]) {
				return true
			}
		}
	}
	return false
}

// clean is JSON as people see it in the file: the same whatever values the
// secrets had.
func (s *secrets) clean(raw []byte) []byte { return bareJSON(s.redact(raw)) }

// print is the print of values as JSON.
func (r *recording) print(values ...any) (print, error) {
	secrets := r.j.secrets
	clean := make([][]byte, len(values)) // nil of what is huge
	secret := false
	h := sha256.New()
	for i, v := range values {
		if hasHuge(v) {
			secret = true
			if err := writeJSON(h, v, view{text: func(said string) string { return said }}); err != nil {
				return nil, err
			}
		} else {
			raw, err := encodings.Of(v)
			if err != nil {
				return nil, err
			}
			h.Write(raw)
			clean[i] = secrets.clean(raw)
			secret = secret || !untouched(raw, clean[i])
		}
		h.Write([]byte{0})
	}
	whole := sumOf(h)
	if !secret {
		return printOf(whole, whole), nil
	}
	h.Reset()
	for i, v := range values {
		if h.Write(clean[i]); clean[i] == nil {
			if err := writeJSON(h, v, view{text: func(said string) string { return bare(secrets.hidden(said)) }}); err != nil {
				return nil, err
			}
		}
		h.Write([]byte{0})
	}
	return printOf(whole, sumOf(h)), nil
}

// untouched tells of JSON that nothing was taken out of: it is in its place.
func untouched(raw, clean []byte) bool {
	return len(raw) == len(clean) && (len(raw) == 0 || &raw[0] == &clean[0])
}

func (r *recording) subjectPrint(v engine.Validation) (print, error) {
	s := v.Subject
	return r.print(v.Validator, s.Content, s.Output, s.Input, s.State, s.Outputs, s.Turn, s.Attempt)
}

// requestPrint is the print of a request, which its event has made already.
func (r *recording) requestPrint(at event.Path, req *model.Request) (print, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if p, ok := r.prints[at]; ok {
		delete(r.prints, at)
		return p, nil
	}
	said, err := r.talk(req)
	return said.print, err
}
