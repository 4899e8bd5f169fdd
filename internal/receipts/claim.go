// Package receipts makes and verifies receipts: signed statements about the
// gates that a text has passed. It only computes, and uses no files, clock or
// network.
//
//	claim, err := receipts.ClaimOf(run, "draft")
//	receipt, err := receipts.Issue(key, claim, time.Now())
//	report := receipts.Verify(receipts.Bytes(text), receipt, trust, receipts.Demand{})
//
// [ClaimOf] makes a [Claim] about one released text from a finished run. [Issue] puts
// the claim into an in-toto statement and signs it. The predicate of the statement is a
// SLSA verification summary, so that SLSA tools can read it, with the claim under
// [ClaimType]. The statement is sealed in a DSSE envelope with one Ed25519 signature.
// [Verify] takes the text, the receipt and trusted keys. Its verdict is one of
// [Passed], [Refused] and [CannotTell].
//
// Three decisions shape the format. The signed data is canonical JSON (RFC 8785) with
// exactly one spelling, so a forger cannot vary it. Texts appear as digests, so a
// receipt may be public even if its texts are not; the issuer may include the texts.
// The existence of a receipt proves nothing by itself. The verifier must state its
// demands (a cascade, gates, an age); all other fields are only information.
//
// A receipt does not prove that the text is true, that a model has the right name, or
// that an unmodified program made the receipt. The table in docs/explanation/proof.md
// lists who could lie about which field. Begin with [Claim].
package receipts

import (
	"time"

	"github.com/seed61713e19/capstan/internal/signatures"
)

// Types in a receipt's statement.
const (
	// PayloadType is the payload type of DSSE envelopes with in-toto
	// statements.
	PayloadType signatures.Purpose = "application/vnd.in-toto+json"
	// SummaryType is the type of the predicate:
	// https://slsa.dev/spec/v1.1/verification_summary.
	SummaryType = "https://slsa.dev/verification_summary/v1"
	// ClaimType is the key of the claim in the predicate, with its version.
	ClaimType = claimBase + "v1"

	claimBase = "https://github.com/seed61713e19/capstan/receipt/"
)

// A Claim is the content of a receipt about a released text. All digests are
// "sha256:" and hexadecimal digits.
type Claim struct {
	Capstan Program `json:"capstan"`

	Run     string `json:"run"`
	Cascade Policy `json:"cascade"`
	Phase   string `json:"phase"`
	Path    string `json:"path"` // of the attempt whose text was released
	Attempt int    `json:"attempt"`

	Text   string `json:"text"`             // digest of the exact bytes that the gates checked
	Output string `json:"output,omitempty"` // digest of the canonical form of a JSON output

	Gates    []Gate   `json:"gates"`    // gates of the released attempt, in the order of their verdicts
	Shadow   []Gate   `json:"shadow"`   // gates in shadow mode, which decide nothing
	Degraded []string `json:"degraded"` // checks that the released text did not pass

	Inputs   map[string]string `json:"inputs"` // digests of the inputs in canonical form
	Models   []string          `json:"models"` // models of the text and of its judges
	People   []string          `json:"people"` // people who changed or confirmed the text, by their own statement
	Released time.Time         `json:"released"`

	Texts *Texts `json:"texts,omitempty"`
}

// A Program is the capstan that made a receipt, by its own statement.
type Program struct {
	Version string `json:"version"`
	Digest  string `json:"digest,omitempty"` // of its file
}

// A Policy is the cascade with all files that it names.
type Policy struct {
	ID     string            `json:"id"`
	Digest string            `json:"digest"` // of the canonical list of its files, see [PolicyDigest]
	Files  map[string]string `json:"files"`  // digests by name
}

// A Gate is a check of the released text, or a pre-ward of its phase.
type Gate struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"`
	Digest   string    `json:"digest"` // of its definition, prompt, parameters, model and program
	Moment   string    `json:"moment"`
	Mode     string    `json:"mode"`
	Verdict  string    `json:"verdict"` // passed, refused, skipped or error
	Reason   string    `json:"reason,omitempty"`
	Strength *Strength `json:"strength,omitempty"`
}

// Verdicts of a gate.
const (
	GatePassed  = "passed"
	GateRefused = "refused"
	GateSkipped = "skipped"
	GateErred   = "error"
)

// A Strength is the measured error rates of a gate, as exact 95 % intervals.
type Strength struct {
	Evidence   string     `json:"evidence"` // digest of the evidence file
	FalsePass  [2]float64 `json:"false_pass"`
	FalseBlock [2]float64 `json:"false_block"`
	Bad        int        `json:"bad"`  // number of bad texts in the measurement
	Good       int        `json:"good"` // number of good texts
}

// Texts are the texts of a receipt that includes them.
type Texts struct {
	Text    string            `json:"text"`
	Inputs  map[string]string `json:"inputs"`  // each as JSON
	Reasons map[string]string `json:"reasons"` // by the gate's path
}

// normalized returns the claim with empty lists and maps in place of nil. A
// null would be a second spelling.
func (c Claim) normalized() Claim {
	c.Gates, c.Shadow = append([]Gate{}, c.Gates...), append([]Gate{}, c.Shadow...)
	c.Degraded, c.Models, c.People = append([]string{}, c.Degraded...), append([]string{}, c.Models...), append([]string{}, c.People...)
	c.Inputs, c.Cascade.Files = nonNil(c.Inputs), nonNil(c.Cascade.Files)
	if c.Texts != nil {
		c.Texts = &Texts{c.Texts.Text, nonNil(c.Texts.Inputs), nonNil(c.Texts.Reasons)}
	}
	return c
}

func nonNil(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// PolicyDigest returns the digest of a list of files: that of the canonical
// JSON object with the digests by name.
func PolicyDigest(files map[string]string) (string, error) {
	list := make(map[string]any, len(files))
	for name, digest := range files {
		list[name] = digest
	}
	text, err := signatures.Canonical(list)
	if err != nil {
		return "", err
	}
	return signatures.Digest(text), nil
}
