package edit

import (
	"cmp"
	"fmt"

	"github.com/seed61713e19/capstan/validators/edit/markers"
	"github.com/seed61713e19/capstan/validators/reading"
)

// facts are everything that a decision rests on. What nobody has judged is
// NotJudged, or nil.
type facts struct {
	opinion
	part     Part
	unusable []fault // why the candidate cannot be held against this state at all
	stale    []fault // hashes in the status file that are not of what is here
	changes  []changeFact
	frozen   frozen
	claims   []claimFact
	intent   Result
	strange  []string // what was judged and is not there, or twice
}

// A claimFact is what became of one claim of the ledger.
type claimFact struct {
	claim
	graded
	defect string // why the status file may be wrong about it
	stated bool   // the judgement says so
	added  bool   // by the candidate ledger
	gone   bool   // from the candidate ledger
}

// facts gathers what is computed and what was judged.
func (in *input) facts() facts {
	f := facts{part: in.ActivePart, frozen: in.frozen(), claims: in.claimFacts()}
	f.gap = in.gaps()
	for _, p := range in.unreadable {
		f.unusable = append(f.unusable, fault{"candidate", p.Message, p.place()})
	}
	f.unusable = append(f.unusable, in.disagreements()...)
	stale, doubtful, notes := in.staleness()
	f.unusable, f.stale = append(f.unusable, stale...), doubtful
	f.frozen.notes = append(f.frozen.notes, notes...)
	j := cmp.Or(in.judgement, &judgement{})
	f.judge(j, in.status, in.direction)
	f.judgeClaims(j, in.changed)
	f.changes = in.changes()
	f.judgeChanges(j, in.direction)
	in.keepClaims(&f)
	return f
}

// claimFacts begins the findings on every claim of the current ledger with
// where its span stands. That is a hint to whoever judges, and no verdict.
func (in *input) claimFacts() []claimFact {
	source := &haystack{text: in.source}
	now := source
	if in.ActivePart == PartText {
		now = &haystack{text: in.candidate}
	}
	out := make([]claimFact, len(in.status.claims))
	for i, c := range in.status.claims {
		out[i] = claimFact{claim: c}
		switch {
		case c.status == retired: // its words may well be gone
		case source.find(c.span) == absent:
			out[i].defect = "its span is not in the current source"
		case len(in.unreadable) == 0 && now.find(c.span) == absent:
			out[i].notes = []string{"its span is not in the candidate"}
		}
	}
	return out
}

// keepClaims fails the claims that a candidate ledger drops: a claim is
// retired, not deleted.
func (in *input) keepClaims(f *facts) {
	if in.ActivePart != PartClaimLedger || in.changed == nil {
		return
	}
	for i, c := range f.claims {
		if _, kept := in.changed.claim(c.id); !kept {
			f.claims[i] = claimFact{claim: c.claim, gone: true, graded: graded{Fail, []string{"it is gone from the ledger, where a claim is retired and not deleted"}}}
		}
	}
}

// gaps checks the new gap markers of a candidate text.
func (in *input) gaps() graded {
	g := graded{result: Pass}
	if in.ActivePart != PartText || len(in.unreadable) > 0 {
		return g
	}
	m := markers.Parse(in.status.markFormat)
	source, now := in.source, in.candidate
	if !in.unread {
		source, now = reading.Visible(source), reading.Visible(now)
	}
	good, bad := m.New(source, now)
	for _, s := range good[:min(len(good), maxDifferences)] {
		g.notes = append(g.notes, "new gap marker: "+brief(s))
	}
	for _, s := range markers.OpenWords(source, now, maxDifferences) {
		g.result = Warn
		g.notes = append(g.notes, "it may be a gap that is left without a marker: "+brief(s))
	}
	if len(bad) == 0 {
		return g
	}
	g.result = Fail
	wrong := fmt.Sprintf("does not follow mark_format %q", brief(in.status.markFormat))
	if !m.Says() {
		g.result, wrong = Warn, "has no mark_format to follow"
	}
	for _, s := range bad[:min(len(bad), maxDifferences)] {
		g.notes = append(g.notes, fmt.Sprintf("a new gap marker %s: %s", wrong, brief(s)))
	}
	return g
}
