// Package proofs shows that no text of a model gets into a call of a tool that
// writes unless a gate has judged it, or names the ways by which one may.
//
// In comes a checked cascade. [Of] follows it as the engine would run it, phase by
// phase, with every text that somebody may have written and the gates that it has
// passed (a strand), through all the places where it may stand: inputs, state,
// outputs, files, what a judge said. Where phases lead back it goes on until nothing
// new can stand anywhere. Out goes a [Proof]: the ways that end in such a call, to be
// read, drawn, reported as diagnostics, or held against what was measured of their
// gates. Nothing is run, and no file is read but for that evidence.
//
// Begin with flow.go, the walk; strand.go has what is carried along.
package proofs

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/graphs"
)

// A Proof tells whether a text of a model can get into a call of a tool that
// writes with no gate having judged it. It is reachability over the checked
// cascade, the one that the engine runs: nothing is run for it, and no model is
// asked. A gate is a blocking or retrying check that is given the text; what
// only notes, is in shadow, or may be passed over by on_exhausted: last or best,
// is none. Gated is not harmless, and a tool is taken by its declared effect.
type Proof struct {
	Ways    []Way  `json:"ways"`             // by the tools' places, the bare ones of each first
	Beyond  bool   `json:"beyond,omitempty"` // the cascade is too large to be followed: nothing is proven
	Writers int    `json:"writers"`          // tools that write, or cascades within, in reach of a run
	File    string `json:"file"`

	Programs []Program `json:"programs,omitempty"` // gates on the ways, where models may write files

	cascade *cascades.Cascade
}

// A Way is one way by which a text may get into a call.
type Way struct {
	Tool    string            `json:"tool"`
	At      cascades.Position `json:"at"` // where the phase names the tool
	Cascade string            `json:"cascade"`
	Phase   string            `json:"phase"`
	From    Source            `json:"from"`
	Through []string          `json:"through"` // where it stands on the way: outputs.draft, state.title
	Gates   []Gate            `json:"gates"`   // that have judged it, in file order
}

// A Source is where a text comes from.
type Source struct {
	What    string            `json:"what"` // see [FromText]
	Cascade string            `json:"cascade"`
	Phase   string            `json:"phase"`
	At      cascades.Position `json:"at"`
}

// What a text is at its source.
const (
	FromText  = "text"  // what the phase's model says
	FromCall  = "call"  // what it asks a tool to do
	FromWords = "words" // what a judge of the phase gives as its reason
	FromEdit  = "edit"  // what a person makes of the phase's text
)

// A Gate is a check that judges a text on its way.
type Gate struct {
	Name    string `json:"name"`
	Cascade string `json:"cascade"`
	Phase   string `json:"phase"`
	Moment  string `json:"moment"`
	Mode    string `json:"mode"`

	validator *cascades.Validator // nil of an output_schema
	phase     *cascades.Phase
	of        *cascades.Cascade
}

// Guarded tells whether a gate stands on the way.
func (w Way) Guarded() bool { return len(w.Gates) > 0 }

// Proven tells whether every way has its gate.
func (p *Proof) Proven() bool {
	return !p.Beyond && !slices.ContainsFunc(p.Ways, func(w Way) bool { return !w.Guarded() })
}

// Of follows every text of the cascade's models, and of those within it.
func Of(c *cascades.Cascade) *Proof {
	a := newProver()
	a.walk(c, newSpot())
	p := &Proof{Ways: slices.AppendSeq([]Way{}, maps.Values(a.ways)), Beyond: a.beyond(), Writers: len(a.writers), File: c.File, cascade: c}
	slices.SortStableFunc(p.Ways, func(v, w Way) int {
		return cmp.Or(cmp.Compare(v.At.File, w.At.File), cmp.Compare(v.At.Line, w.At.Line), cmp.Compare(v.At.Column, w.At.Column),
			cmp.Compare(v.Tool, w.Tool), cmp.Compare(min(len(v.Gates), 1), min(len(w.Gates), 1)), cmp.Compare(v.told(), w.told()))
	})
	p.Programs = p.programs()
	return p
}

// Diagnostics are the ways without a gate, and that there is no proof.
func (p *Proof) Diagnostics() cascades.Diagnostics {
	found := cascades.Diagnostics{}
	if p.Beyond {
		found = append(found, cascades.Diagnostic{Position: cascades.Position{File: p.File, Line: 1, Column: 1}, Code: cascades.CodeBare, Severity: cascades.Wrong, Message: "nothing is proven: the cascade is too large to be followed"})
	}
	for _, w := range p.Ways {
		if !w.Guarded() {
			found = append(found, cascades.Diagnostic{Position: w.At, Code: cascades.CodeBare, Severity: cascades.Wrong, Message: fmt.Sprintf("tool %s writes, and %s reaches its call with no gate on the way", w.Tool, w.route())})
		}
	}
	return found
}

// route is where the text comes from and where it stands on the way.
func (w Way) route() string {
	s := w.From.String()
	if len(w.Through) > 0 {
		s += " (" + strings.Join(w.Through, " → ") + ")"
	}
	return s
}

// told is the way in one line.
func (w Way) told() string { return w.route() + ": " + strings.Join(w.gated(), ", ") }

// gated names the gates on the way.
func (w Way) gated() []string {
	if !w.Guarded() {
		return []string{"no gate"}
	}
	gates := make([]string, len(w.Gates))
	for i, g := range w.Gates {
		gates[i] = g.String()
	}
	return gates
}

// String says what the source is: the text of phase draft.
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

// String names the gate and where it stands: no_secrets (draft, post, blocking).
func (g Gate) String() string {
	return fmt.Sprintf("%s (%s, %s, %s)", g.Name, g.Phase, g.Moment, g.Mode)
}

// headline is what it comes to, in one line.
func (p *Proof) headline() string {
	bare := 0
	for _, w := range p.Ways {
		if !w.Guarded() {
			bare++
		}
	}
	switch {
	case p.Beyond:
		return fmt.Sprintf("%s: not proven: too large to be followed", p.File)
	case bare > 0:
		return fmt.Sprintf("%s: not proven: %d of %d ways from a model to a tool that writes have no gate", p.File, bare, len(p.Ways))
	case len(p.Ways) == 0:
		return fmt.Sprintf("%s: proven: no text of a model reaches a tool that writes", p.File)
	}
	return fmt.Sprintf("%s: proven: every way from a model to a tool that writes (%d) has a gate", p.File, len(p.Ways))
}

// Graph is the ways for drawing: each from where its text comes from, past its
// gates, to the tool that writes.
func (p *Proof) Graph() graphs.Flow {
	f := graphs.Flow{Name: p.File, Headline: p.headline()}
	for _, w := range p.Ways {
		f.Ways = append(f.Ways, graphs.Passage{
			From: graphs.Box{Title: w.From.String(), About: w.From.At.String()}, To: graphs.Box{Title: w.Tool, About: w.At.String()},
			Through: strings.Join(w.Through, " → "), Guards: w.gated(), Bare: !w.Guarded(),
		})
	}
	return f
}

// Text is the table of the ways, ending in a newline.
func (p *Proof) Text() string {
	var b strings.Builder
	b.WriteString(p.headline() + "\n")
	at := ""
	for _, w := range p.Ways {
		if head := fmt.Sprintf("  %s, phase %s (%s)\n", w.Tool, w.Phase, w.At); head != at {
			at = head
			b.WriteString(head)
		}
		fmt.Fprintf(&b, "    %s\n", w.told())
	}
	for _, one := range p.Programs {
		fmt.Fprintf(&b, "  program: %s\n", one)
	}
	return b.String()
}
