// Package capy is the CAPY inter-turn validator: it judges the output of one
// stage of a valuation pipeline, a Markdown text with JSON in it, by rules
// alone. The same text under the same stage always gives the same [Report].
//
// Six checks run in order; the first that fails ends it:
//
//  1. output_structure: long enough, a heading, not cut off
//  2. artifacts_present: what the stage's row of the policy asks for is there
//  3. json_valid: every JSON block parses
//  4. sanity_bounds: the numbers are within their bounds
//  5. no_fabrication: no value is stated that only the kernel may compute
//  6. dr_derivation: X_final is the mean of X_T1 and X_REFINE
//
// A text is read once, line by line, and shown to readers, each of which looks
// for one thing; the checks then ask the readers. Time is linear in the text,
// and memory stays in proportion to it.
package capy

import (
	"bytes"
	"fmt"
	"math"
	"strings"
)

// Options say how an output is judged.
type Options struct {
	Stage string // one of [Stages]
	// Sidecars are JSON files that belong to the output: a string is the text of
	// one, a list is several, any other value is what one holds.
	Sidecars any
	// Prior is what earlier stages said: the text of an output, a number, a map
	// of names to numbers, or a list of these. Check 5 lets its values be.
	Prior  any
	Policy string // 1.0.0, the default, 1.0.1, or a policy's YAML
}

// A Gate judges outputs of one stage. It is safe for concurrent use.
type Gate struct {
	policy   *Policy
	stage    Stage
	sidecars [][]byte
	prior    []float64
}

// New prepares a gate. An unknown stage is an error that wraps [ErrStage] and
// lists those there are.
func New(o Options) (*Gate, error) {
	p, err := LoadPolicy([]byte(o.Policy))
	if err != nil {
		return nil, err
	}
	g := &Gate{policy: p}
	if g.stage, err = p.stage(o.Stage); err != nil {
		return nil, err
	}
	if g.sidecars, err = sidecars(o.Sidecars); err != nil {
		return nil, err
	}
	if g.prior, err = priorNumbers(o.Prior); err != nil {
		return nil, err
	}
	return g, nil
}

// Judge judges one output. An error is a mistake in the options; whatever the
// text is, there is a report.
func Judge(o Options, text []byte) (Report, error) {
	g, err := New(o)
	if err != nil {
		return Report{}, err
	}
	return g.Judge(text), nil
}

// A run is one text on its way through the checks.
type run struct {
	policy  *Policy
	stage   Stage
	turnTwo bool // the stage makes a state itself
	prior   []float64
	doc     *document
	ledger  *ledger
	gallery *gallery
	ending  *ending
	chances *chances
	flags   *flags
	finders []finder
}

// maxText is how much of an output is read: positions are 32 bits.
const maxText = math.MaxInt32 - 1

// Judge judges one output of the gate's stage. The text is not changed, nor
// kept. Of one beyond 2 GiB the rest is not read.
func (g *Gate) Judge(text []byte) Report {
	text = bytes.TrimPrefix(text, []byte("\uFEFF"))
	text = text[:min(len(text), maxText)]
	r := &run{
		policy: g.policy, stage: g.stage, turnTwo: strings.HasSuffix(g.stage.Name, "_T2"), prior: g.prior,
		ledger: newLedger(append([][]byte{text}, g.sidecars...)...), gallery: newGallery(g.policy),
		ending: &ending{}, chances: newChances(), flags: &flags{}, finders: finders(g.policy, g.stage),
	}
	r.doc = read(text, g.sidecars, r.readers()...)
	return r.report()
}

// readers are those that the stage's row has work for.
func (r *run) readers() []reader {
	list := []reader{r.ledger, r.gallery, r.ending}
	for _, b := range []string{"probability", "probability_sum"} {
		if r.applies(b) {
			list = append(list, r.chances)
			break
		}
	}
	if r.stage.Derivation {
		list = append(list, r.flags)
	}
	for _, f := range r.finders {
		if _, idle := f.(valueNeed); !idle {
			list = append(list, f)
		}
	}
	return list
}

// applies says whether a bound holds for the stage.
func (r *run) applies(bound string) bool {
	b, ok := r.policy.Bounds[bound]
	if !ok {
		return false
	}
	for _, s := range b.Stages {
		if s == r.stage.Name {
			return true
		}
	}
	return len(b.Stages) == 0
}

// report runs the checks in order, up to the first that fails.
func (r *run) report() Report {
	report := Report{Stage: r.stage.Name, Status: Pass, Proceed: true, Issues: []Finding{}, Warnings: []Finding{}}
	checks := []func(*findings){
		outputStructure: r.structureCheck, artifactsPresent: r.artifactsCheck, jsonValid: r.validityCheck,
		sanityBounds: r.boundsCheck, noFabrication: r.fabricationCheck, drDerivation: r.derivationCheck,
	}
	for i, out := range report.Checks.list() {
		switch {
		case i == noFabrication && len(r.stage.Forbids) == 0, i == drDerivation && !r.stage.Derivation:
			*out = outcome(nil, fmt.Sprintf("N/A for %s", r.stage.Name))
			continue
		case !report.Proceed:
			*out = outcome(nil, "Skipped due to prior failure")
			continue
		}
		f := &findings{check: checkNames[i], doc: r.doc}
		checks[i](f)
		*out = f.outcome()
		report.Issues = append(report.Issues, f.all(Fail)...)
		report.Warnings = append(report.Warnings, f.all(Warn)...)
		report.Proceed = len(report.Issues) == 0
	}
	switch {
	case !report.Proceed:
		report.Status = Fail
	case len(report.Warnings) > 0:
		report.Status = Warn
	}
	return report
}

func (f *findings) outcome() Check {
	pass := len(f.fails) == 0
	note := f.note
	switch {
	case note != "":
	case !pass:
		note = summary(f.fails)
	case len(f.warns) > 0:
		note = summary(f.warns)
	}
	return outcome(&pass, note)
}

func outcome(pass *bool, note string) Check {
	c := Check{Pass: pass}
	if note != "" {
		c.Notes = &note
	}
	return c
}
