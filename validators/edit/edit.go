// Package edit is the verifier of the auditable editing protocol. The state of
// a document is five parts: its text and the four of its status file (claim
// ledger, presentation spec, rubric, gap policy). An editor, or anyone else,
// offers a candidate for one of them, the active part; everything else is
// frozen. [Verify] decides: accept, reject or needs_human_review.
//
// What can be computed is computed: files and their schemas, ids, freshness,
// frozen parts, claim spans, gap markers. What needs judgement is taken from a
// judgement, a person's or a model's. The decision is made here alone, and
// without a judgement nothing is ever accepted.
//
// Nothing of a candidate or an id is run, rendered or used as a path: files are
// read and written through an [os.Root], and the one name that is made from an
// id is made of ASCII letters, digits, dots and signs alone.
//
// What the files say becomes facts, each by a check with the file of its name
// (facts.go), and one rule over all of them makes the decision (rule.go). Begin there.
package edit

import (
	"slices"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A Part is one of the five parts of a document's state.
type Part string

// The parts.
const (
	PartText             Part = "text"
	PartClaimLedger      Part = "claim_ledger"
	PartPresentationSpec Part = "presentation_spec"
	PartRubric           Part = "rubric"
	PartGapPolicy        Part = "gap_policy"
)

// allParts lists the parts, the text first.
func allParts() []Part {
	return []Part{PartText, PartClaimLedger, PartPresentationSpec, PartRubric, PartGapPolicy}
}

func words[T ~string](list ...T) []string {
	out := make([]string, len(list))
	for i, w := range list {
		out[i] = string(w)
	}
	return out
}

// Options are what one verification is given.
type Options struct {
	Root string // the directory that paths are in and may not leave; "": the working directory

	Source    File // the document's current text
	Status    File // its current status file
	Candidate File // the whole new text or the whole new status file
	Metadata  File // what the editor, or the intake, says of the candidate
	Direction File // what the controller asked for

	ActivePart Part

	// Judgement is what a person or a model found: YAML (JSON too) as a string
	// or bytes, or a plain value; nil where nothing has been judged. See the
	// page docs/reference/gates/edit-verifier.md for its keys.
	Judgement any
}

// A File is what Path names under the root or, where Content is not nil, that
// content, and then Path is only its name in the report. Content is a string
// or bytes; of metadata and direction it may also be a plain value.
type File struct {
	Path    string
	Content any
}

var idPattern = patterns.Lazy(`^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$`)

// validID tells whether an id may name a file: 1 to 100 ASCII letters, digits,
// dots, underscores and hyphens, the first a letter or digit.
func validID(id string) bool { return idPattern().MatchString(id) }

// Verify decides on one candidate. An error is an [*InputError]: the harness
// gave something that is missing, unreadable or not what it should be, and
// there is no report. Whatever is wrong with the candidate is in the report.
// The same input always gives the same report.
func Verify(o Options) (Report, error) {
	in, err := read(o)
	if err != nil {
		return Report{}, err
	}
	f := in.facts()
	return in.report(f, f.rule()), nil
}

func valid(p Part) bool { return slices.Contains(allParts(), p) }
