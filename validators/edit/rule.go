package edit

import (
	"fmt"
	"strings"
)

// A Decision is what becomes of a candidate.
type Decision string

// The decisions.
const (
	Accept           Decision = "accept"
	Reject           Decision = "reject"
	NeedsHumanReview Decision = "needs_human_review"
)

// A ruling is a decision, the rule that made it, and all that was found:
// faults are what speaks against the candidate, by any rule that rejects;
// doubts what a person should answer.
type ruling struct {
	decision Decision
	rule     int
	because  []fault // of the rule
	faults   []fault
	doubts   []doubt
}

// A doubt is a fault that only a person can decide on, with the question.
type doubt struct {
	fault
	question string
}

// rule decides. The rules are tried in order, and the first that finds
// something decides:
//
//  1. the candidate cannot be held against this state: reject
//  2. it breaks what may not be broken: reject
//  3. it does not do what the direction asks for: reject
//  4. it improves nothing: reject
//  5. there is doubt: a person
//  6. accept
//
// A claim that fails while the status file may be wrong about it, and a
// direction that fails while it conflicts with the status file, are no cases of
// 2 and 3 but doubts.
func (f facts) rule() ruling {
	r := ruling{decision: Accept, rule: 6}
	for i, faults := range [][]fault{f.unusable, f.broken(), f.undirected(), f.useless()} {
		if len(faults) > 0 && r.rule == 6 {
			r.decision, r.rule, r.because = Reject, i+1, faults
		}
		r.faults = append(r.faults, faults...)
		if i == 0 && len(faults) > 0 {
			break // what else was found is about something else
		}
	}
	if r.doubts = f.doubts(); len(r.doubts) > 0 && r.rule == 6 {
		r.decision, r.rule = NeedsHumanReview, 5
		for _, d := range r.doubts {
			r.because = append(r.because, d.fault)
		}
	}
	return r
}

// broken finds the cases of rule 2.
func (f facts) broken() []fault {
	var out []fault
	add := func(check, location, format string, args ...any) {
		out = append(out, fault{check, fmt.Sprintf(format, args...), location})
	}
	for _, at := range f.frozen.changed {
		add("frozen_parts", at, "%s is frozen and has changed", at)
	}
	if is(f.adds) {
		add("requirement", "", "the candidate adds a requirement")
	}
	if is(f.hides) {
		add("derivation", "", "the candidate hides how a requirement follows from the theory")
	}
	for _, c := range f.claims {
		if c.result == Fail && c.defect == "" && c.binding() {
			add("claim_checks", c.id, "claim %s (%s) fails%s", c.id, c.status, because(c.notes))
		}
	}
	for _, s := range []struct {
		check string
		graded
		what string
	}{
		{"non_goals", f.nonGoals, "a non-goal is violated"},
		{"presentation_spec", f.presentation, "the presentation spec is not kept"},
		{"gap_policy", f.gap, "the gap policy is not kept"},
	} {
		if s.result == Fail {
			add(s.check, "", "%s%s", s.what, because(s.notes))
		}
	}
	return out
}

// because gives notes as the end of a sentence.
func because(notes []string) string {
	if len(notes) == 0 {
		return ""
	}
	trimmed := make([]string, len(notes))
	for i, n := range notes {
		trimmed[i] = strings.TrimRight(n, ".")
	}
	return ": " + strings.Join(trimmed, "; ")
}

// undirected finds the cases of rule 3.
func (f facts) undirected() []fault {
	if f.direction.result != Fail || f.conflicts {
		return nil
	}
	return []fault{{"direction", "the direction is not followed" + because(f.direction.notes), ""}}
}

// useless finds the cases of rule 4. A goal that nobody has judged is a doubt,
// no case of it.
func (f facts) useless() []fault {
	switch {
	case f.frozen.noop && f.part == PartText:
		return []fault{{"rubric", "the candidate is the same text as the source, or differs in what no reader sees", ""}}
	case f.frozen.noop:
		return []fault{{"rubric", fmt.Sprintf("the candidate leaves %s as it is", f.part), string(f.part)}}
	case f.part != PartText && f.met != nil && !*f.met:
		return []fault{{"rubric", fmt.Sprintf("what was to be mended in %s is not", f.part), string(f.part)}}
	case f.part == PartText && f.primary != NotJudged && !f.improved():
		return []fault{{"rubric", fmt.Sprintf("no goal improves (the primary goal: %s)", f.primary), ""}}
	}
	return nil
}

func (f facts) improved() bool {
	improved := f.primary == Improved
	for _, g := range f.secondary {
		improved = improved || g.change == Improved
	}
	return improved
}
