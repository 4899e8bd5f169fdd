package stats

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/seed61713e19/capstan/internal/signatures"
)

// A Gate identifies the gate of a measurement.
type Gate struct {
	File    string // of the cascade
	Cascade string // its cascade_id
	Phase   string
	Moment  string
	Name    string
	Digest  string
}

// Find returns the measurement of exactly this gate, with the digest of its file beside the
// cascade. open reads files. If there is none, problem is the reason.
func (g Gate) Find(open func(name string) ([]byte, error)) (e Evidence, file, problem string) {
	at := path.Join(path.Dir(g.File), EvidenceDir, EvidenceName(g.Name))
	if open == nil {
		return e, "", "there are no files here, and so no evidence"
	}
	text, err := open(at)
	if errors.Is(err, fs.ErrNotExist) {
		return e, "", fmt.Sprintf("there is no evidence for it: no %s, which capstan measure stats --write makes", at)
	}
	if err != nil {
		return e, "", err.Error()
	}
	all, err := ParseEvidence(text)
	if err != nil {
		return e, "", at + ": " + err.Error()
	}
	e, found, stale := all.For(g.Cascade, g.Digest, g.Phase, g.Moment)
	switch {
	case stale:
		problem = fmt.Sprintf("%s belongs to an earlier version of the gate or to another model", at)
	case !found:
		problem = fmt.Sprintf("%s has no evidence for it in phase %s, at its moment %s", at, g.Phase, g.Moment)
	}
	return e, signatures.Digest(text), problem
}
