package edit

import (
	"cmp"
	"fmt"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/textdiff"
)

// facts are the findings for a decision. A check without a judgement is
// notJudged, or nil.
type facts struct {
	part     partName
	unusable []fault // why the candidate cannot be compared with this state
	stale    []fault // wrong hashes in the status file
	frozen   frozen
	claims   []claimFact
	changes  []changeFact
	strange  []string // judged twice, or unknown

	presentation, nonGoals, gap, direction graded
	aspects                                map[string]grade // voice, register, avoid, preserve
	intent                                 grade
	constraints                            orderedTable[grade]
	primary                                goalChange
	secondary                              orderedTable[goalChange]
	adds, hides, met, followup             *bool
	conflicts                              bool
	reason                                 string // of the follow-up
}

// A claimFact is the finding about one claim of the ledger.
type claimFact struct {
	claim
	graded
	defect  string // why the status file may be wrong about it
	stated  bool   // by the judgement
	added   bool   // by the candidate ledger
	removed bool   // from the candidate ledger
}

// A changeFact is the finding about one change of the text.
type changeFact struct {
	change
	graded
	answer string // the explanation in the report
}

// facts computes the findings and adds those of the judgement.
func (in *input) facts() facts {
	f := facts{part: in.ActivePart, frozen: in.frozen(), gap: in.gaps()}
	for _, p := range in.unreadable {
		f.unusable = append(f.unusable, fault{"candidate", p.Message, p.Place()})
	}
	f.unusable = append(f.unusable, in.disagreements()...)
	stale, doubtful, notes := in.staleness()
	f.unusable, f.stale = append(f.unusable, stale...), doubtful
	f.frozen.Notes = append(f.frozen.Notes, notes...)
	j := cmp.Or(in.judgement, &judgement{})
	source := textdiff.NewFinder(in.body)
	in.judgeClaims(&f, j)
	f.judgePresentation(j, in.status)
	f.judgeGoals(j, in.status)
	f.judgeDirection(j, in.direction)
	if len(in.unreadable) == 0 {
		in.judgeChanges(&f, j, source)
	}
	judged := j.Gap.graded()
	f.gap = graded{worst(f.gap.Result, orNot(judged.Result)), append(f.gap.Notes, judged.Notes...)}
	if j.Bridge {
		f.gap = graded{worst(f.gap.Result, gradeWarn), append(f.gap.Notes, "a gap is bridged without a marker")}
	}
	f.adds, f.hides, f.met, f.followup, f.reason = j.Adds, j.Hides, j.Met, j.Followup, clean(j.Why)
	if f.part == partText {
		f.followup = cmp.Or(f.followup, new(bool))
	} else {
		f.adds, f.hides = cmp.Or(f.adds, new(bool)), cmp.Or(f.hides, new(bool)) // the text stays
	}
	return f
}

// orNot returns notJudged for a missing result.
func orNot(r grade) grade { return cmp.Or(r, notJudged) }

// judgeClaims finds the spans of the claims, which are hints, and takes over the
// judgement of each claim. A claim that the candidate ledger drops fails: claims are
// retired, not deleted.
func (in *input) judgeClaims(f *facts, j *judgement) {
	source, now := textdiff.NewFinder(in.source), textdiff.NewFinder(in.candidate)
	known := map[string]int{}
	for i, c := range in.status.Claims {
		known[c.ID] = i
		fact := claimFact{claim: c}
		if _, how := source.Find(c.Span); c.status != retired && how == textdiff.NoMatch {
			fact.defect = "its span is not in the current source"
		} else if _, how := now.Find(c.Span); c.status != retired && in.candidate != "" && len(in.unreadable) == 0 && how == textdiff.NoMatch {
			fact.Notes = []string{"its span is not in the candidate"}
		}
		f.claims = append(f.claims, fact)
	}
	times := map[string]int{}
	for _, p := range j.Claims.parts {
		g, i, ok := p.graded(), known[p.key], false
		if _, ok = known[p.key]; !ok && in.changed != nil && f.part == partClaimLedger {
			if added, found := in.changed.claim(p.key); found {
				f.claims = append(f.claims, claimFact{claim: added, graded: g, added: true})
				continue
			}
		}
		if !ok {
			f.strange = append(f.strange, "claim "+brief(p.key)+" was judged and is not in the ledger")
			continue
		}
		if times[p.key]++; times[p.key] == 2 {
			f.strange = append(f.strange, "claim "+brief(p.key)+" was judged more than once")
		}
		f.claims[i].Result = worst(f.claims[i].Result, g.Result)
		f.claims[i].Notes = append(g.Notes[:len(g.Notes):len(g.Notes)], f.claims[i].Notes...)
	}
	for _, id := range j.Defects {
		if i, ok := known[id]; ok {
			f.claims[i].stated = true
			f.claims[i].defect = cmp.Or(f.claims[i].defect, "the current source fails its test as well")
		} else {
			f.strange = append(f.strange, "claim "+brief(id)+" is called a status defect and is not in the ledger")
		}
	}
	for i, c := range f.claims {
		f.claims[i].Result = orNot(c.Result)
		if in.changed != nil && f.part == partClaimLedger {
			if _, exists := in.changed.claim(c.ID); !exists {
				f.claims[i] = claimFact{claim: c.claim, removed: true, graded: graded{gradeFail,
					[]string{"it is gone from the ledger, where a claim is retired and not deleted"}}}
			}
		}
	}
}

// aspects are the parts of the presentation, by two names.
var aspects = []struct{ name, long string }{
	{"voice", "voice"}, {"register", "register"}, {"avoid", "avoid_items"}, {"preserve", "preserve_items"},
}

// judgePresentation takes over the judgement of the presentation. An empty part of the
// spec passes.
func (f *facts) judgePresentation(j *judgement, s *status) {
	spec, whole := s.Presentation, grade(j.Presentation.word)
	idle := map[string]bool{"voice": spec.Voice == "", "register": spec.Register == "", "avoid": len(spec.Avoid) == 0,
		"preserve": len(spec.Preserve) == 0}
	f.presentation, f.aspects = graded{whole, j.Presentation.notes}, map[string]grade{}
	for _, a := range aspects {
		of := j.Presentation.get(a.name, a.long).graded()
		r := cmp.Or(of.Result, whole)
		if r == "" && idle[a.name] {
			r = gradePass
		}
		f.aspects[a.name] = orNot(r)
		f.presentation.Result = worst(f.presentation.Result, f.aspects[a.name])
		f.presentation.remark(a.name, of)
	}
	f.nonGoals = j.NonGoals.graded()
	if f.nonGoals.Result == "" && len(s.Rubric.NonGoals) == 0 {
		f.nonGoals.Result = gradePass
	}
	f.nonGoals.Result = orNot(f.nonGoals.Result)
}

func (f *facts) judgeGoals(j *judgement, s *status) {
	f.primary = goalChange(cmp.Or(j.Primary.word, map[bool]string{true: notJudged, false: string(goalUnchanged)}[f.part == partText]))
	for _, goal := range s.Rubric.Secondary {
		if of := j.Secondary.get(goal.key); of.word != "" {
			f.secondary = append(f.secondary, tableRow[goalChange]{goal.key, goalChange(of.word)})
		}
	}
	f.unknown("secondary goal", "the rubric", j.Secondary, s.Rubric.Secondary)
}

// unknown records judged items that do not exist.
func (f *facts) unknown(what, where string, o opinion, list labels) {
	for _, p := range o.parts {
		if !slices.ContainsFunc(list, func(l label) bool { return l.key == p.key }) {
			f.strange = append(f.strange, what+" "+brief(p.key)+" was judged and is not in "+where)
		}
	}
}

// judgeDirection adds the judgement of the intent and the constraints.
func (f *facts) judgeDirection(j *judgement, d *direction) {
	whole := grade(j.Direction.word)
	intent, constraints := j.Direction.get("intent").graded(), j.Direction.get("constraints")
	f.conflicts, f.intent = j.Conflicts, orNot(cmp.Or(intent.Result, whole))
	f.direction = graded{worst(whole, f.intent), j.Direction.notes}
	f.direction.remark("intent", graded{f.intent, intent.Notes})
	for i, k := range d.Constraints {
		of := constraints.get(k.key)
		if of.node == nil {
			of = constraints.get(fmt.Sprint(i + 1)) // a list without ids
		}
		g := of.graded()
		g.Result = orNot(cmp.Or(g.Result, grade(constraints.word), whole))
		f.constraints = append(f.constraints, tableRow[grade]{clean(k.key), g.Result})
		f.direction.Result = worst(f.direction.Result, g.Result)
		f.direction.remark(k.key, g)
	}
	if constraints.node == nil || constraints.node.Kind != yaml.SequenceNode {
		f.unknown("constraint", "the direction", constraints, d.Constraints)
	}
}

// judgeChanges takes over the answer to each change of the text. It does not suffice
// without quotations, or if a number or the like has changed.
func (in *input) judgeChanges(f *facts, j *judgement, source *textdiff.Finder) {
	known := map[string]bool{}
	for _, c := range in.changes {
		known[c.key] = true
		o := j.Changes.get(c.key)
		fact := changeFact{change: c, graded: graded{notJudged, o.notes}, answer: "nobody has judged it"}
		switch word := answer(o.word); {
		case c.hidden():
			fact.Result, fact.answer = gradeWarn, "only a person can allow it"
		case word == "":
		case word == altered && in.requested(c, source):
			fact.Result, fact.answer = gradePass, "the direction asks for it"
		case word == altered && in.protected(c, source) != "":
			fact.Result, fact.answer = gradeFail, "the meaning has changed in "+in.protected(c, source)
		case word == altered:
			fact.Result, fact.answer = gradeWarn, "the meaning has changed"
		case len(c.labels) > 0 && !c.quoted(o.quotes):
			fact.answer = "the judge does not quote both sides"
		case c.sharp():
			fact.Result, fact.answer = gradeWarn, "judged "+o.word+", and the direction does not name it"
		default:
			fact.Result, fact.answer = gradePass, "judged "+o.word
		}
		f.changes = append(f.changes, fact)
	}
	for _, p := range j.Changes.parts {
		if !known[p.key] {
			f.strange = append(f.strange, "change "+brief(p.key)+" was judged and is not in the candidate")
		}
	}
}

// protected names the asserted claim or the preserve item whose text has the change.
func (in *input) protected(c change, source *textdiff.Finder) string {
	touches := func(quotation string) bool {
		s, _ := source.Find(quotation)
		return c.place.Start < s.End && s.Start < c.place.End
	}
	for _, k := range in.status.Claims {
		if k.status == asserted && touches(k.Span) {
			return "claim " + k.ID
		}
	}
	for _, p := range in.status.Presentation.Preserve {
		if touches(p.text) {
			return "the preserve item " + p.key
		}
	}
	return ""
}
