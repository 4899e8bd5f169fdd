// Package proofs checks that no text of a model reaches a call of a writing
// tool unless a gate has checked it. If that is not so, it lists the unchecked
// paths. It is a taint analysis of the cascade:
//
//	p := proofs.Of(cascade)
//	if !p.Proven() {
//		fmt.Print(p.Text())
//	}
//
// The input is a checked cascade. [Of] follows it phase by phase as the engine
// would run it. It tracks every text that a model may have written, with the
// gates that it has passed (a taint), through inputs, state, outputs, files and
// reasons of judges. Loops are followed until no new taints appear. The output
// is a [Proof]: the paths that end in a writing call, for tables, graphs and
// diagnostics. It can also be compared with the measured strength of the gates.
// The package runs nothing and reads no files, except that evidence.
//
// Begin with flow.go, the walk. taint.go defines the data that it propagates.
package proofs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/graphs"
)

// A Proof describes whether a text of a model can reach a call of a writing
// tool without a gate. It is a reachability analysis of the cascade that the
// engine runs. It runs nothing and asks no model.
//
// A gate is a blocking or retrying check that sees the text. An advisory check and one
// in shadow mode do not count. A check before on_exhausted: last or best does not count
// either. A text that has passed a gate may still be harmful, and the analysis trusts
// the declared effects of tools.
type Proof struct {
	Paths    []Path `json:"ways"`             // by the position of the tools; paths without a gate come first
	TooLarge bool   `json:"beyond,omitempty"` // the cascade is too large to be analyzed, so nothing is proven
	Writers  int    `json:"writers"`          // number of reachable writing tools, including those of cascades within
	File     string `json:"file"`

	Programs []Program `json:"programs,omitempty"` // gates on the paths, if models may write files

	cascade *cascades.Cascade
}

// A Path is one way from a text to a call.
type Path struct {
	Tool    string          `json:"tool"`
	At      syntax.Position `json:"at"` // where the phase names the tool
	Cascade string          `json:"cascade"`
	Phase   string          `json:"phase"`
	From    Source          `json:"from"`
	Through []string        `json:"through"` // the variables on the path, such as outputs.draft or state.title
	Gates   []Gate          `json:"gates"`   // gates that have checked it, in file order
}

// A Source is the origin of a text.
type Source struct {
	What    string          `json:"what"` // see [FromText]
	Cascade string          `json:"cascade"`
	Phase   string          `json:"phase"`
	At      syntax.Position `json:"at"`
}

// Kinds of sources.
const (
	FromText  = "text"  // the reply of the phase's model
	FromCall  = "call"  // a tool call of the phase's model
	FromWords = "words" // the reason of a judge of the phase
	FromEdit  = "edit"  // a person's edit of the phase's text
)

// A Gate is a check of a text on its path.
type Gate struct {
	Name    string `json:"name"`
	Cascade string `json:"cascade"`
	Phase   string `json:"phase"`
	Moment  string `json:"moment"`
	Mode    string `json:"mode"`

	validator *cascades.Validator // nil for an output_schema
	phase     *cascades.Phase
	of        *cascades.Cascade
}

// HasGate reports whether the path has a gate.
func (w Path) HasGate() bool { return len(w.Gates) > 0 }

// Proven reports whether every path has a gate.
func (p *Proof) Proven() bool {
	return !p.TooLarge && !slices.ContainsFunc(p.Paths, func(w Path) bool { return !w.HasGate() })
}

// The function Of analyzes a cascade and the cascades within it.
func Of(c *cascades.Cascade) *Proof {
	a := newAnalyzer()
	a.walk(c, newFacts())
	p := &Proof{Paths: slices.AppendSeq([]Path{}, maps.Values(a.ways)), TooLarge: a.exceeded(), Writers: len(a.writers), File: c.File, cascade: c}
	slices.SortStableFunc(p.Paths, func(v, w Path) int {
		return cmp.Or(cmp.Compare(v.At.File, w.At.File), cmp.Compare(v.At.Line, w.At.Line), cmp.Compare(v.At.Column, w.At.Column),
			cmp.Compare(v.Tool, w.Tool), cmp.Compare(min(len(v.Gates), 1), min(len(w.Gates), 1)), cmp.Compare(v.line(), w.line()))
	})
	p.Programs = p.programs()
	return p
}

// Diagnostics returns a diagnostic for each path without a gate. A cascade that is too
// large has one too.
func (p *Proof) Diagnostics() syntax.Diagnostics {
	found := syntax.Diagnostics{}
	if p.TooLarge {
		found = append(found, syntax.Diagnostic{Position: syntax.Position{File: p.File, Line: 1, Column: 1},
			Code: codes.UngatedWrite, Severity: syntax.Wrong, Message: "nothing is proven: the cascade is too large to be followed"})
	}
	for _, w := range p.Paths {
		if !w.HasGate() {
			found = append(found, syntax.Diagnostic{Position: w.At, Code: codes.UngatedWrite, Severity: syntax.Wrong,
				Message: fmt.Sprintf("tool %s writes, and %s reaches its call with no gate on the way", w.Tool, w.route())})
		}
	}
	return found
}

// route describes the source and the variables of the path.
func (w Path) route() string {
	s := w.From.String()
	if len(w.Through) > 0 {
		s += " (" + strings.Join(w.Through, " → ") + ")"
	}
	return s
}

// line describes the path in one line.
func (w Path) line() string { return w.route() + ": " + strings.Join(w.gateNames(), ", ") }

// gateNames describes the gates of the path.
func (w Path) gateNames() []string {
	if !w.HasGate() {
		return []string{"no gate"}
	}
	gates := make([]string, len(w.Gates))
	for i, g := range w.Gates {
		gates[i] = g.String()
	}
	return gates
}

// String describes the source, as "the text of phase draft".
func (s Source) String() string {
	switch s.What {
	case FromCall:
		return "a call by the model of phase " + s.Phase
	case FromWords:
		return "what a judge of phase " + s.Phase + " says"
	case FromEdit:
		return "what a person makes of the text of phase " + s.Phase
	}
	return "the text of phase " + s.Phase
}

// String describes the gate and its place, as "no_secrets (draft, post,
// blocking)".
func (g Gate) String() string {
	return fmt.Sprintf("%s (%s, %s, %s)", g.Name, g.Phase, g.Moment, g.Mode)
}

// headline returns the result in one line.
func (p *Proof) headline() string {
	bare := 0
	for _, w := range p.Paths {
		if !w.HasGate() {
			bare++
		}
	}
	switch {
	case p.TooLarge:
		return fmt.Sprintf("%s: not proven: too large to be followed", p.File)
	case bare > 0:
		return fmt.Sprintf("%s: not proven: %d of %d ways from a model to a tool that writes have no gate", p.File, bare, len(p.Paths))
	case len(p.Paths) == 0:
		return fmt.Sprintf("%s: proven: no text of a model reaches a tool that writes", p.File)
	}
	return fmt.Sprintf("%s: proven: every way from a model to a tool that writes (%d) has a gate", p.File, len(p.Paths))
}

// Graph returns the paths as a graph: from each source past its gates to the
// tool.
func (p *Proof) Graph() graphs.Flow {
	f := graphs.Flow{Name: p.File, Headline: p.headline()}
	for _, w := range p.Paths {
		f.Ways = append(f.Ways, graphs.Passage{
			From: graphs.Box{Title: w.From.String(), About: w.From.At.String()}, To: graphs.Box{Title: w.Tool, About: w.At.String()},
			Through: strings.Join(w.Through, " → "), Guards: w.gateNames(), Bare: !w.HasGate(),
		})
	}
	return f
}

// Text returns the table of the paths. It ends with a newline.
func (p *Proof) Text() string {
	var b strings.Builder
	b.WriteString(p.headline() + "\n")
	at := ""
	for _, w := range p.Paths {
		if head := fmt.Sprintf("  %s, phase %s (%s)\n", w.Tool, w.Phase, w.At); head != at {
			at = head
			b.WriteString(head)
		}
		fmt.Fprintf(&b, "    %s\n", w.line())
	}
	for _, one := range p.Programs {
		fmt.Fprintf(&b, "  program: %s\n", one)
	}
	return b.String()
}
