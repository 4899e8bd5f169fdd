package cascades

import (
	"errors"
	"fmt"
	"io/fs"
	"path"

	"github.com/seed61713e19/capstan/runner/measure"
	"github.com/seed61713e19/capstan/runner/signatures"
	"github.com/seed61713e19/capstan/wards"
)

// Evidence is what was measured of exactly the gate of a name and a digest, at the
// moment of a phase, from the file that is kept beside the cascade, with that
// file's digest. Where there is none, why says what is missing.
func (c *Cascade) Evidence(name, digest, phase string, moment wards.Moment, open Opener) (e measure.Evidence, file string, why string) {
	at := path.Join(path.Dir(c.File), measure.EvidenceDir, measure.EvidenceName(name))
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
	all, err := measure.ParseEvidence(text)
	if err != nil {
		return e, "", at + ": " + err.Error()
	}
	e, found, stale := all.For(c.ID, digest, phase, string(moment))
	switch {
	case stale:
		why = fmt.Sprintf("%s is of what it was before it changed, or of another model", at)
	case !found:
		why = fmt.Sprintf("%s has no evidence for it in phase %s, at its moment %s", at, phase, moment)
	}
	return e, signatures.Digest(text), why
}
