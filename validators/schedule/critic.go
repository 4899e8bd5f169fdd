package schedule

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/seed61713e19/capstan/validators"
)

// A review is a critic's opinion of a schedule. Minimum score: 0. Maximum: 100.
type review struct {
	Strategic       *float64
	Aggressiveness  *float64
	Health          *float64
	Brand           *float64
	major           int
	concerns        []any
	recommendations []any
}

// critic is the gate of phase 8.5. It computes a decision from the scores in a
// subject and in the parameters. The effective decision is the worse of the
// computed decision and the claimed ones. The second result is the review.
func (p *gatePolicy) critic(subject, scores map[string]any) (validators.Verdict, map[string]any) {
	r := newReport(p)
	in := &scheduleReader{report: r, rule: reviewRule}
	m := in.findReview(subject, scores)
	review := in.review(m)
	claimed := in.claimed(subject, m)
	if claimed == decisionBlock {
		r.add(criticBlock, finding{at: decisionField, message: "the critic decided BLOCK", expected: decisionApprove, got: claimed})
	}
	l := p.Limits
	if v := review.Aggressiveness; v != nil && *v > l.MaxAggressiveness {
		r.scored(aggressiveness, "revenue_aggressiveness", *v, "at most ", l.MaxAggressiveness)
	}
	if v := review.Health; v != nil && *v < l.MinHealth {
		r.scored(healthRule, "subscriber_health", *v, "at least ", l.MinHealth)
	}
	if v := review.Brand; v != nil && *v < l.MinBrand {
		r.scored(brandRule, "brand_consistency", *v, "at least ", l.MinBrand)
	}
	if review.major >= l.MajorConcerns {
		r.add(concernsRule, finding{
			at: "concerns", message: fmt.Sprintf("%d major concerns", review.major),
			expected: fmt.Sprintf("fewer than %d", l.MajorConcerns), got: strconv.Itoa(review.major),
		})
	}
	if v := review.Strategic; v != nil && *v < l.MinStrategic && !r.rejected() {
		r.scored(strategicRule, "strategic_score", *v, "at least ", l.MinStrategic)
	}
	if claimed == decisionRevise && !r.rejected() {
		r.add(criticRevise, finding{at: decisionField, message: "the critic decided REVISE", expected: decisionApprove, got: claimed})
	}
	decision, status := decisionApprove, statusApproved
	switch {
	case r.has(strategicRule, criticRevise):
		decision, status = decisionRevise, statusRevise
	case r.rejected():
		decision, status = decisionBlock, statusRejected
	}
	return r.verdict(status, "the critic approves", map[string]any{
		decisionField: decision, "strategic_score": plainScore(review.Strategic), "revenue_aggressiveness": plainScore(review.Aggressiveness),
		"subscriber_health": plainScore(review.Health), "brand_consistency": plainScore(review.Brand),
		"concerns": review.concerns, "recommendations": review.recommendations, "major_concerns": review.major,
	}), m
}

// Decisions of a critic, from best to worst.
const (
	decisionApprove = "APPROVE"
	decisionRevise  = "REVISE"
	decisionBlock   = "BLOCK"
)

const decisionField = "critic_decision"

// claimed returns the worst decision that a subject and its review state, or
// "".
func (in *scheduleReader) claimed(stated ...map[string]any) string {
	order, worst := []string{decisionApprove, decisionRevise, decisionBlock}, -1
	for _, m := range stated {
		v := m[decisionField]
		if v == nil {
			continue
		}
		text, _ := v.(string)
		rank := slices.Index(order, strings.ToUpper(strings.TrimSpace(text)))
		if rank < 0 {
			in.wrong(decisionField, "must be APPROVE, REVISE or BLOCK, not "+show(v))
		}
		worst = max(worst, rank)
	}
	if worst < 0 {
		return ""
	}
	return order[worst]
}

func plainScore(v *float64) any {
	if v == nil {
		return nil
	}
	return *v
}

func (r *report) scored(rule, field string, v float64, bound string, limit float64) {
	word := "above "
	if bound == "at least " {
		word = "below "
	}
	r.add(rule, finding{at: field, message: strings.ReplaceAll(field, "_", " ") + " " + short(v) + " is " + word + short(limit), expected: bound + short(limit), got: short(v)})
}

// review parses a critic's object. The three scores that can block are
// required.
func (in *scheduleReader) review(m map[string]any) review {
	w := review{concerns: in.listed(m, "concerns"), recommendations: in.listed(m, "recommendations")}
	w.Aggressiveness = in.requiredScore(m, "revenue_aggressiveness")
	w.Health = in.requiredScore(m, "subscriber_health")
	w.Brand = in.requiredScore(m, "brand_consistency")
	w.Strategic = in.score(m, "strategic_score")
	w.major = in.major(m, w.concerns)
	return w
}

// requiredScore parses a required score under one of its two names.
func (in *scheduleReader) requiredScore(m map[string]any, name string) *float64 {
	switch short, long := m[name] != nil, m[name+scoreSuffix] != nil; {
	case short && long:
		first, _ := number(m[name])
		if second, ok := number(m[name+scoreSuffix]); !ok || first != second {
			in.wrong(name+scoreSuffix, "says of "+name+" something else")
		}
	case long:
		name += scoreSuffix
	case !short:
		in.wrong(name, "is missing")
	}
	return in.score(m, name)
}

// score parses a score; nil means that there is none.
func (in *scheduleReader) score(m map[string]any, name string) *float64 {
	v := m[name]
	if v == nil {
		return nil
	}
	f, ok := number(v)
	if !ok || f < 0 || f > 100 {
		in.wrong(name, "must be a number from 0 to 100, not "+show(v))
		return nil
	}
	return &f
}

func (in *scheduleReader) listed(m map[string]any, name string) []any {
	list, ok := m[name].([]any)
	if !ok && m[name] != nil {
		in.wrong(name, "must be a list, not "+show(m[name]))
	}
	if list == nil {
		list = []any{}
	}
	return list
}

// major returns the number of major concerns: the value of major_concerns, a
// number or a list, but at least the number of concerns with a major severity.
// Without major_concerns, concerns without a severity count too.
func (in *scheduleReader) major(m map[string]any, concerns []any) int {
	called, silent := 0, 0
	for _, c := range concerns {
		object, _ := c.(map[string]any)
		severity, _ := object["severity"].(string)
		switch words := strings.FieldsFunc(strings.ToLower(severity), isNoLetter); {
		case len(words) == 0:
			silent++
		case slices.ContainsFunc(words, func(w string) bool { return !strings.Contains(lesser, " "+w+" ") }):
			called++
		}
	}
	switch v := m["major_concerns"].(type) {
	case nil:
		return called + silent
	case []any:
		return max(len(v), called)
	default:
		f, ok := number(v)
		if !ok || f < 0 || f > 1e6 {
			in.wrong("major_concerns", "must be a number or a list, not "+show(v))
		}
		return max(int(f), called)
	}
}

func isNoLetter(r rune) bool { return !unicode.IsLetter(r) }

// lesser are the words of severities below major. A severity of several words is below major only
// if the list contains every word.
const lesser = " minor low lower lowest lesser least moderate medium mild slight small light weak " +
	"info information informational informative note notice hint tip nit nitpick remark comment suggestion advice advisory optional " +
	"trivial negligible marginal cosmetic style none warning warn very or to "
