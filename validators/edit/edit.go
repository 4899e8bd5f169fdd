// Package edit is the verifier of the auditable editing protocol.
//
// The state of a document has five parts: its text and the four parts of its
// status file (claim ledger, presentation spec, rubric, gap policy). An editor,
// or anyone else, offers a candidate for one of them, the active part. All
// other parts are frozen. [Verify] decides: accept, reject or
// needs_human_review.
//
// The package computes on structure: files and their schemas, ids, hashes,
// frozen parts, gap markers, and the list of changes of the text. It does not
// interpret sentences. Each change is a question with a place, for a judge or a
// person. The package decides alone, and never accepts a candidate without a
// judgement.
//
// No part of a candidate is executed, rendered or used as a path. Files are
// read and written through an [os.Root]. The only file name from an id has
// ASCII letters, digits, dots and signs.
//
// Each check finds facts (facts.go), and one rule over the facts decides
// (rule.go). Begin there.
package edit

import (
	"slices"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A partName is one of the five parts of a document's state.
type partName string

// The parts.
const (
	partText             partName = "text"
	partClaimLedger      partName = "claim_ledger"
	partPresentationSpec partName = "presentation_spec"
	partRubric           partName = "rubric"
	partGapPolicy        partName = "gap_policy"
)

// allParts lists the parts, the text first.
func allParts() []partName {
	return []partName{partText, partClaimLedger, partPresentationSpec, partRubric, partGapPolicy}
}

func valid(p partName) bool { return slices.Contains(allParts(), p) }

func words[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// Options are the input of one verification.
type Options struct {
	Root string // the directory that paths are in and must not leave; "": the working directory

	Source    File // the document's current text
	Status    File // its current status file
	Candidate File // the whole new text or the whole new status file
	Metadata  File // the description of the candidate by its editor, or by the intake
	Direction File // the controller's request

	ActivePart partName

	// Judgement is the finding of a person or a model: YAML (or JSON) as a string
	// or bytes, or a plain value; nil if there is none. The page
	// docs/reference/gates/edit-verifier.md lists its keys.
	Judgement any
}

// A File is the file at Path under the root. If Content is not nil, it is the
// content, and Path is only a name in the report. Content is a string or bytes;
// for metadata and direction it may also be a plain value.
type File struct {
	Path    string
	Content any
}

var idPattern = patterns.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// validID reports whether an id may name a file: 1 to 100 ASCII letters, digits,
// dots, underscores and hyphens, the first a letter or digit.
func validID(id string) bool { return idPattern().MatchString(id) }

// Verify decides on one candidate. An error is an [*InputError], without a
// report: the harness passed a missing, unreadable or malformed file. The
// report lists the problems of the candidate. The same input always returns the
// same report.
func Verify(o Options) (Report, error) {
	in, err := read(o)
	if err != nil {
		return Report{}, err
	}
	f := in.facts()
	return in.report(f, f.rule()), nil
}
