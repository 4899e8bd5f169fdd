package edit

import (
	"cmp"
	"slices"
)

// judge takes over what was judged of everything but the claims. Where the
// status file has nothing to hold a candidate against, there is nothing to
// judge, and it passes.
func (f *facts) judge(j *judgement, s *status, d *direction) {
	f.judgePresentation(j, s)
	f.gap.result = worst(f.gap.result, orNot(j.gap.result))
	f.gap.notes = append(f.gap.notes, j.gap.notes...)
	if j.bridge {
		f.gap.result = worst(f.gap.result, Warn)
		f.gap.notes = append(f.gap.notes, "a gap is bridged without a marker")
	}
	f.nonGoals = j.nonGoals
	if f.nonGoals.result = orNot(j.nonGoals.result); len(s.rubric.nonGoals) == 0 && j.nonGoals.result == "" {
		f.nonGoals.result = Pass
	}
	f.judgeGoals(j, s)
	f.judgeDirection(j, d)
	f.adds, f.hides, f.met, f.followup, f.why = j.adds, j.hides, j.met, j.followup, j.why
	if f.part != PartText {
		// The text stays as it is, and asks for what it asked for.
		f.adds, f.hides = orFalse(j.adds), orFalse(j.hides)
	} else {
		f.followup = orFalse(j.followup)
	}
}

func orFalse(b *bool) *bool {
	if b == nil {
		b = new(bool)
	}
	return b
}

// orNot says of nothing that it was not judged.
func orNot(r Result) Result { return cmp.Or(r, NotJudged) }

func (f *facts) judgePresentation(j *judgement, s *status) {
	spec := s.presentation
	idle := map[string]bool{
		"voice": spec.voice == "", "register": spec.register == "", "avoid": len(spec.avoid) == 0, "preserve": len(spec.preserve) == 0,
	}
	f.presentation = graded{j.presentation.result, j.presentation.notes}
	f.aspects = map[string]Result{}
	for _, a := range aspects {
		r := cmp.Or(j.aspects[a.name], j.presentation.result)
		if r == "" && idle[a.name] {
			r = Pass
		}
		f.aspects[a.name] = orNot(r)
		f.presentation.result = worst(f.presentation.result, f.aspects[a.name])
	}
}

func (f *facts) judgeGoals(j *judgement, s *status) {
	f.primary = j.primary
	switch {
	case f.primary == "" && f.part == PartText:
		f.primary = NotJudged
	case f.primary == "":
		f.primary = Unchanged
	}
	for _, goal := range s.rubric.secondary {
		if i := slices.IndexFunc(j.secondary, func(c changed) bool { return c.key == goal.key }); i >= 0 {
			f.secondary = append(f.secondary, j.secondary[i])
		}
	}
	for _, c := range j.secondary {
		if !has(s.rubric.secondary, c.key) {
			f.strange = append(f.strange, "secondary goal "+brief(c.key)+" was judged and is not in the rubric")
		}
	}
}

func has(list []label, key string) bool {
	return slices.ContainsFunc(list, func(l label) bool { return l.key == key })
}

func (f *facts) judgeDirection(j *judgement, d *direction) {
	f.conflicts = j.conflicts
	f.intent = orNot(cmp.Or(j.intent.result, j.direction.result))
	f.direction = graded{worst(j.direction.result, f.intent), j.direction.notes}
	f.direction.remark("intent", graded{f.intent, j.intent.notes})
	for _, k := range d.constraints {
		c := judged{key: k.key, graded: graded{result: j.direction.result}}
		if i := slices.IndexFunc(j.constraints, func(c judged) bool { return c.key == k.key || c.key == every }); i >= 0 {
			c.graded = j.constraints[i].graded
		}
		c.result = orNot(c.result)
		f.constraints = append(f.constraints, c)
		f.direction.result = worst(f.direction.result, c.result)
		f.direction.remark(k.key, c.graded)
	}
	for _, c := range j.constraints {
		if c.key != every && !has(d.constraints, c.key) {
			f.strange = append(f.strange, "constraint "+brief(c.key)+" was judged and is not in the direction")
		}
	}
}

// remark notes what is wrong with one thing of several; that the others pass
// needs no words.
func (g *graded) remark(key string, of graded) {
	switch {
	case of.result != Warn && of.result != Fail:
	case len(of.notes) == 0:
		g.notes = append(g.notes, key+": "+string(of.result))
	default:
		for _, note := range of.notes {
			g.notes = append(g.notes, key+": "+note)
		}
	}
}

// judgeClaims takes over what was judged of the claims, each of which must
// have been judged once. Claims that a candidate ledger adds may be judged.
func (f *facts) judgeClaims(j *judgement, candidate *status) {
	times := map[string]int{}
	for _, c := range j.claims {
		times[c.key]++
		i := slices.IndexFunc(f.claims, func(known claimFact) bool { return known.id == c.key })
		if i < 0 {
			f.judgeAdded(c, candidate)
			continue
		}
		f.claims[i].result = worst(f.claims[i].result, c.result)
		f.claims[i].notes = append(c.notes[:len(c.notes):len(c.notes)], f.claims[i].notes...)
		if times[c.key] == 2 {
			f.strange = append(f.strange, "claim "+brief(c.key)+" was judged more than once")
		}
	}
	for i, c := range f.claims {
		f.claims[i].result = orNot(c.result)
	}
	for _, id := range j.defects {
		i := slices.IndexFunc(f.claims, func(known claimFact) bool { return known.id == id })
		if i < 0 {
			f.strange = append(f.strange, "claim "+brief(id)+" is called a status defect and is not in the ledger")
			continue
		}
		f.claims[i].stated = true
		f.claims[i].defect = cmp.Or(f.claims[i].defect, "the current source fails its test as well")
	}
}

func (f *facts) judgeAdded(c judged, candidate *status) {
	if candidate != nil && f.part == PartClaimLedger {
		if added, ok := candidate.claim(c.key); ok {
			f.claims = append(f.claims, claimFact{claim: added, graded: c.graded, added: true})
			return
		}
	}
	f.strange = append(f.strange, "claim "+brief(c.key)+" was judged and is not in the ledger")
}
