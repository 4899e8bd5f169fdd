package journal

import (
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A print tells one request from another. It is made of what is in the file:
// without secrets, so that it is the same when the run is gone on with.

// print is the digest of values as JSON.
func (r *recording) print(values ...any) (digest, error) {
	p := packer{secrets: r.j.secrets}
	parts := make([][]byte, 0, 2*len(values))
	for _, v := range values {
		raw, err := encode(v)
		if err != nil {
			return digest{}, err
		}
		parts = append(parts, p.redact(raw), []byte{0})
	}
	return digestOf(parts...), nil
}

func (r *recording) callPrint(c tool.Call) (digest, error) {
	return r.print(c.Name, exactObject(c.Arguments))
}

func (r *recording) questionPrint(q engine.Question) (digest, error) { return r.print(q) }

func (r *recording) subjectPrint(v engine.Validation) (digest, error) {
	s := v.Subject
	return r.print(v.Validator, s.Content, exact(s.Output), exactObject(s.Input), exactObject(s.State), exactObject(s.Outputs), s.Turn, s.Attempt)
}

// requestPrint is the print of a request, which its event has made already.
func (r *recording) requestPrint(at event.Path, req *model.Request) (digest, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if d, ok := r.prints[at]; ok {
		delete(r.prints, at)
		return d, nil
	}
	said, err := r.talk(req)
	return said.print, err
}
