// Package capy is the CAPY inter-turn validator: it judges the output of one
// stage of a valuation pipeline, a Markdown text with JSON in it, by rules
// alone. The same text under the same stage always gives the same [Report].
//
// Six checks run in order; the first that fails ends it:
//
//  1. output_structure: long enough, a heading, not cut off, an output at all
//  2. artifacts_present: what the stage's row of the policy asks for is there
//  3. json_valid: every JSON block parses
//  4. sanity_bounds: the numbers are within their bounds
//  5. no_fabrication: no value is stated that only the kernel may compute
//  6. dr_derivation: X_final is the mean of X_T1 and X_REFINE
//
// A text comes in with the JSON files that belong to it. It is read once, by
// package reading, into statements (a metric, its value, what the words around
// say of it), entries (a name and the stretch of text that it covers) and JSON
// blocks. The checks are short functions over these and a row of the policy;
// none looks at the text for itself but at the stretch of an entry. What comes
// out is the report. Nothing is called, asked or remembered on the way.
//
// Begin with [Gate.Judge] here and policy.go; the checks are structure.go,
// artifacts.go, validity.go, bounds.go, fabrication.go and derivation.go.
package capy

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/validators/capy/reading"
)

// Options say how an output is judged.
type Options struct {
	Stage string // one of [Stages]
	// Name is the output's file name, if it has one: an artifact that is a file
	// of its own is known by it too.
	Name string
	// Sidecars are JSON files that belong to the output: a string is the text of
	// one, a list is several, a map whose keys all are names of JSON files holds
	// these, any other value is what one holds.
	Sidecars any
	// Prior is what earlier stages said: the text of an output, a number, a map
	// of names to numbers, or a list of these. Check 5 lets its values be.
	Prior  any
	Policy string // 1.0.0, the default, 1.0.1, or a policy's YAML
}

// A Gate judges outputs of one stage. It is safe for concurrent use.
type Gate struct {
	policy *Policy
	stage  Stage
	names  []string // of the files: the output's, then the sidecars'
	texts  [][]byte // the sidecars
	prior  []float64
	query  query
	rooms  sync.Pool // of *reading.Scratch
}

// New prepares a gate. An unknown stage is an error that wraps [ErrStage] and
// lists those there are.
func New(o Options) (*Gate, error) {
	p, err := loadPolicy([]byte(o.Policy))
	if err != nil {
		return nil, err
	}
	g := &Gate{policy: p, names: []string{o.Name}}
	if g.stage, err = p.stage(o.Stage); err != nil {
		return nil, err
	}
	files, err := sidecars(o.Sidecars)
	if err != nil {
		return nil, err
	}
	for _, f := range files {
		g.names, g.texts = append(g.names, f.name), append(g.texts, f.text)
	}
	if g.prior, err = priorNumbers(o.Prior); err != nil {
		return nil, err
	}
	g.query = newQuery(p, g.stage)
	return g, nil
}

// A run is one text, read, on its way through the checks.
type run struct {
	*Gate
	doc   *reading.Document
	files []fileKind // of the text and its sidecars
}

// Judge judges one output of the gate's stage. The text is not changed, nor
// kept. Of one beyond 2 GiB the rest is not read.
func (g *Gate) Judge(text []byte) Report {
	room, _ := g.rooms.Get().(*reading.Scratch)
	if room == nil {
		room = new(reading.Scratch)
	}
	defer g.rooms.Put(room)
	doc := reading.Read(reading.Request{Text: text, Sidecars: g.texts, Topics: g.query.topics, Strings: g.query.strings, Item: g.query.item, Scratch: room})
	r := &run{Gate: g, doc: doc, files: fileKinds(g.policy, doc, g.names)}
	return r.report()
}

// applies says whether a bound holds for the stage.
func (r *run) applies(bound string) bool {
	b, ok := r.policy.Bounds[bound]
	return ok && (len(b.Stages) == 0 || slices.Contains(b.Stages, r.stage.Name))
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

// turn is the stage's turn as statements count them: 1 for T1, 2 for REFINE, 3
// for T2, 4 for T3, 0 for a stage without.
func (s Stage) turn() int8 {
	for i, end := range []string{"_T1", "_REFINE", "_T2", "_T3"} {
		if strings.HasSuffix(s.Name, end) {
			return int8(i + 1)
		}
	}
	return 0
}

// quotes says whether a statement is of an earlier stage, not this one's own.
func (s Stage) quotes(a reading.Statement) bool {
	switch a.State {
	case reading.Earlier:
		return true
	case reading.AnyT2:
		return s.Knows > 0 && s.turn() != 3
	}
	return a.State > 0 && int(a.State) <= s.Knows
}

// stale says whether a statement is of an earlier turn: what T1 wrote still
// stands in the text of T2. A T3 is made of what the turns before it said.
func (s Stage) stale(a reading.Statement) bool {
	return a.Turn > 0 && a.Turn < s.turn() && s.turn() < 4
}
