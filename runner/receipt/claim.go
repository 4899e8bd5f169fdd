// Package receipt makes and verifies receipts: statements, signed, of which
// gates a text passed. It computes: bytes come in, bytes and verdicts go out.
// No file, clock or network is touched here.
//
// [Of] folds a run that has ended into a [Claim], what is to be said of one
// released text. [Issue] puts the claim into an in-toto statement whose
// predicate is a SLSA verification summary, so that what reads those can read
// it, with the claim beside the summary under [ClaimType], and seals that in a
// DSSE envelope with one Ed25519 signature. [Verify] takes the two files, text
// and receipt, and keys that come from elsewhere, and says one of three words:
// passed, refused, cannot tell.
//
// Three decisions shaped it. What is signed is canonical JSON (RFC 8785) and
// has one spelling to the byte, so there is nothing a forger could vary. Texts
// stand in it as digests, so a receipt may go where the texts may not, unless
// who makes it asks for more. And a receipt that is there is no pass: the
// verifier says what it wants (a cascade, gates, an age), and what is not
// wanted is only told.
//
// What a receipt never proves: that the text is true, that a model was the one
// it calls itself, that the program that made it was ours. docs/explanation/proof.md has
// the table of who can lie about what. Begin reading at [Claim].
package receipt

import (
	"time"

	"github.com/seed61713e19/capstan/runner/signatures"
)

// The types that a receipt's statement names.
const (
	// PayloadType is what DSSE envelopes of in-toto statements are sealed as.
	PayloadType signatures.Purpose = "application/vnd.in-toto+json"
	// SummaryType is the predicate: https://slsa.dev/spec/v1.1/verification_summary.
	SummaryType = "https://slsa.dev/verification_summary/v1"
	// ClaimType names the claim within the predicate, with its version.
	ClaimType = claimBase + "v1"

	claimBase = "https://github.com/seed61713e19/capstan/receipt/"
)

// A Claim is what a receipt says of a released text, beside the summary. All
// digests are "sha256:" and hexadecimal.
type Claim struct {
	Capstan Program `json:"capstan"`

	Run     string `json:"run"`
	Cascade Policy `json:"cascade"`
	Phase   string `json:"phase"`
	Path    string `json:"path"` // of the attempt whose text was released
	Attempt int    `json:"attempt"`

	Text   string `json:"text"`             // digest of the exact bytes that the gates judged
	Output string `json:"output,omitempty"` // digest of the canonical form of a JSON output

	Gates    []Gate   `json:"gates"`    // those of the released attempt, in the order of their verdicts
	Shadow   []Gate   `json:"shadow"`   // those in shadow, which decide nothing
	Degraded []string `json:"degraded"` // checks that the text was released without

	Inputs   map[string]string `json:"inputs"` // digest of each input's canonical form
	Models   []string          `json:"models"` // that were asked for the text or by its judges
	People   []string          `json:"people"` // who changed or confirmed it, as they say
	Released time.Time         `json:"released"`

	Texts *Texts `json:"texts,omitempty"`
}

// A Program is the capstan that made a receipt, as it says itself.
type Program struct {
	Version string `json:"version"`
	Digest  string `json:"digest,omitempty"` // of its file
}

// A Policy is the cascade and every file that it names.
type Policy struct {
	ID     string            `json:"id"`
	Digest string            `json:"digest"` // of the canonical list of its files, see [PolicyDigest]
	Files  map[string]string `json:"files"`  // name to digest
}

// A Gate is one check that judged the released text, or a pre-ward of its phase.
type Gate struct {
	Name     string    `json:"name"`
	Path     string    `json:"path"`
	Digest   string    `json:"digest"` // of what it is: definition, prompt, parameters, model, program
	Moment   string    `json:"moment"`
	Mode     string    `json:"mode"`
	Verdict  string    `json:"verdict"` // passed, refused, skipped or error
	Reason   string    `json:"reason,omitempty"`
	Strength *Strength `json:"strength,omitempty"`
}

// The words of a gate's verdict.
const (
	GatePassed  = "passed"
	GateRefused = "refused"
	GateSkipped = "skipped"
	GateErred   = "error"
)

// A Strength is how often a gate errs, where that was measured. Each interval
// is exact and of 95 %.
type Strength struct {
	Evidence   string     `json:"evidence"` // digest of the evidence file
	FalsePass  [2]float64 `json:"false_pass"`
	FalseBlock [2]float64 `json:"false_block"`
	Bad        int        `json:"bad"`  // texts known to be bad that it was measured on
	Good       int        `json:"good"` // and good ones
}

// Texts are the words themselves, of a receipt that carries them.
type Texts struct {
	Text    string            `json:"text"`
	Inputs  map[string]string `json:"inputs"`  // each as JSON
	Reasons map[string]string `json:"reasons"` // by the gate's path
}

// whole is the claim with each list and map there, empty where it was not: null
// would be a second spelling of it.
func (c Claim) whole() Claim {
	c.Gates, c.Shadow = append([]Gate{}, c.Gates...), append([]Gate{}, c.Shadow...)
	c.Degraded, c.Models, c.People = append([]string{}, c.Degraded...), append([]string{}, c.Models...), append([]string{}, c.People...)
	c.Inputs, c.Cascade.Files = mapped(c.Inputs), mapped(c.Cascade.Files)
	if c.Texts != nil {
		c.Texts = &Texts{c.Texts.Text, mapped(c.Texts.Inputs), mapped(c.Texts.Reasons)}
	}
	return c
}

func mapped(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

// PolicyDigest is the digest of a list of files: of the canonical form of the
// object that has each file's digest under its name.
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
