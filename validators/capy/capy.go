// Package capy is the CAPY inter-turn validator: it judges the output of one stage of a
// valuation pipeline, a Markdown text with JSON in it. It computes on structure: JSON,
// table cells, headings, items and lines of the form "label: value". The same text under
// the same stage always gives the same [Report].
//
// Six checks run in order; the first that fails ends the run:
//
//  1. output_structure: long enough, a heading, not cut off
//  2. artifacts_present: the text has what the stage's row of the policy asks for
//  3. json_valid: every JSON block parses
//  4. sanity_bounds: the numbers are in their ranges
//  5. no_fabrication: the text states no value that only the kernel may compute
//  6. dr_derivation: X_final is the mean of X_T1 and X_REFINE
//
// A policy (policies/*.yaml) has the rows, the values and their ranges. The tables
// (tables/*.tsv) have the labels of values and all words that the checks know. If a
// check needs understanding, it warns with a place. The judge [Claims] or a person
// decides then.
//
// Begin with [Gate.Judge]. Package internal/reading reads the text, facts.go finds the
// labels and their values, and each check has a file.
package capy

import (
	"context"
	"fmt"
	"slices"
)

// Options say how an output is judged.
type Options struct {
	Stage string // a row of the policy: BASE_T1, …, RQ_GEN
	// Name is the file name of the output. It may name an artifact.
	Name string
	// Sidecars are JSON files that belong to the output. A string is the text of one file, a
	// list has several files, and a map whose keys end in .json has files by their names.
	// Another map is the content of one file.
	Sidecars any
	// Prior has the values of earlier stages: the text of an output, a number, a map of
	// names to numbers, or a list of these. An output may state them.
	Prior  any
	Policy string // the name of a shipped policy, by default 1.0.0, or a policy as YAML
	// Schemas are the JSON Schemas that the policy names, by file name.
	Schemas map[string]any
}

// A Gate judges outputs of one stage. It is safe for concurrent use.
type Gate struct {
	policy   *policy
	stage    stage
	name     string
	sidecars []*document
	prior    []float64
}

// New returns a gate. The error for an unknown stage wraps [ErrStage] and lists the
// stages.
func New(o Options) (*Gate, error) {
	p, err := loadPolicy(o.Policy, o.Schemas)
	if err != nil {
		return nil, err
	}
	g := &Gate{policy: p, name: o.Name}
	if g.stage, err = p.stage(o.Stage); err != nil {
		return nil, err
	}
	files, err := sidecars("", o.Sidecars)
	if err != nil {
		return nil, fmt.Errorf("sidecars: %w", err)
	}
	for i, f := range files {
		d, err := p.vocabulary.read(context.Background(), f.text)
		if err != nil {
			return nil, fmt.Errorf("sidecars[%d]: %w", i, err)
		}
		d.file, d.name = f.name, f.name
		if f.name == "" {
			d.name = fmt.Sprintf("sidecar %d", i+1)
		}
		g.sidecars = append(g.sidecars, d)
	}
	if g.prior, err = p.priorNumbers(o.Prior); err != nil {
		return nil, fmt.Errorf("prior: %w", err)
	}
	return g, nil
}

// A run is one output on its way through the checks.
type run struct {
	*Gate
	*vocabulary
	text  *document
	docs  []*document // the text and its sidecars
	facts []fact
	by    map[string][]*fact // facts by their value
	found map[string]*artifactPlace

	limits map[string]map[object]*fact // by value, the first one of each object, see [run.limit]
}

// Judge judges one output of the gate's stage.
func (g *Gate) Judge(text string) Report { return g.judge(context.Background(), text) }

func (g *Gate) judge(ctx context.Context, text string) Report {
	report := Report{Stage: g.stage.Name, Status: Pass, Proceed: true, Issues: []Finding{}, Warnings: []Finding{}}
	doc, err := g.policy.vocabulary.read(ctx, text)
	r := &run{Gate: g, vocabulary: g.policy.vocabulary}
	if err == nil {
		doc.file = g.name
		r.text, r.docs = doc, append([]*document{doc}, g.sidecars...)
		for _, d := range r.docs {
			r.facts = append(r.facts, r.vocabulary.facts(d)...)
		}
		r.by, r.limits = map[string][]*fact{}, map[string]map[object]*fact{}
		for i := range r.facts {
			r.by[r.facts[i].value] = append(r.by[r.facts[i].value], &r.facts[i])
		}
	}
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
		f := &findings{check: checkNames[i]}
		if err != nil {
			f.issues.add(Finding{f.check, Fail, "The text is not read: " + err.Error(), "line 1", 1})
		} else {
			checks[i](f)
		}
		*out = f.outcome()
		report.Issues = append(report.Issues, f.issues.all()...)
		report.Warnings = append(report.Warnings, f.warnings.all()...)
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

// earlier reports whether a fact is of a state that the stage may quote, or of an earlier
// turn.
func (r *run) earlier(f *fact) bool {
	own := false
	for _, s := range f.states {
		n := int(s[0] - '0')
		switch {
		case n == 0:
			return true
		case n == 5: // any T2
			if r.stage.State > 0 && len(r.stage.Forbids) > 0 {
				return true
			}
		case n <= r.stage.State:
			own = true
		default:
			return false
		}
	}
	return own
}

// of returns the facts of a value in the text and its sidecars.
func (r *run) of(value string) []*fact { return r.by[value] }

// applies reports whether a value is in range in the stage's output.
func (r *run) applies(v value) bool {
	return len(v.Only) == 0 || slices.Contains(v.Only, r.stage.Name)
}
