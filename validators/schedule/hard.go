package schedule

import (
	"fmt"
	"strconv"
)

// vaultGate reports items whose content type is not in the creator's vault or
// is AVOID. An item with both faults counts twice.
func (r *report) vaultGate(p *plan, f facts) {
	for i := range p.items {
		it := &p.items[i]
		switch {
		case it.noContent:
			r.add(vaultRule, finding{at: itemAt(it.index), message: "the item has no content type"})
		case !f.inVault[it.content]:
			r.add(vaultRule, finding{at: itemAt(it.index), message: "content type " + strconv.Quote(clip(it.content)) + " is not in the vault", got: clip(it.content)})
		}
		if f.avoided[it.content] {
			r.add(avoidRule, finding{at: itemAt(it.index), message: "content type " + strconv.Quote(clip(it.content)) + " is in the AVOID tier", got: clip(it.content)})
		}
	}
}

// pageGate reports send types that the creator's page may not use. The page
// type comes from the database.
func (r *report) pageGate(p *plan, f facts) {
	for i := range p.items {
		if kind := p.items[i].kind; kind != nil && !kind.allowed(f.pageType, r.policy) {
			r.add(pageTypeRule, finding{
				at: itemAt(p.items[i].index), message: kind.Key + " is for " + kind.Page + " pages only", expected: "a " + kind.Page + " page", got: "a " + f.pageType + " page",
			})
		}
	}
	if p.pageType != "" && p.pageType != f.pageType {
		r.add(pageTypeClaim, finding{at: "page_type", message: "the creator's page is " + f.pageType, expected: f.pageType, got: clip(p.pageType)})
	}
}

// captionNumbers reports caption ids that the database cannot store.
func (r *report) captionNumbers(p *plan, b creatorRecord) {
	if !b.numbered {
		return
	}
	for i := range p.items {
		name, ok := p.items[i].caption.(string)
		if !ok {
			continue
		}
		if _, err := strconv.ParseInt(name, 10, 64); err != nil {
			r.add(inputRule, finding{at: itemAt(p.items[i].index), message: "caption_id must be a whole number in this database, not " + show(name)})
		}
	}
}

// A usage is the number of items of each send type.
type usage struct {
	byType [64]int // by the type's index
	unique map[string]int
	types  int
}

func (p *plan) usage() usage {
	u := usage{unique: map[string]int{}}
	for i := range p.items {
		kind := p.items[i].kind
		if kind == nil {
			continue
		}
		if u.byType[kind.index]++; u.byType[kind.index] == 1 {
			u.types++
			u.unique[kind.Category]++
		}
	}
	return u
}

// diversityGate requires a minimum of different send types. hard is the rule
// for a number below the hard minimum.
func (r *report) diversityGate(u usage, hard string) {
	l := r.policy.Limits
	rule, least := diversity, l.MinTypes
	if u.types < l.MinTypesHard {
		rule, least = hard, max(l.MinTypesHard, l.MinTypes)
	}
	if u.types < least {
		r.few(rule, u.types, least, "unique send types")
	}
}

// categoryGate requires a minimum of send types of each category.
func (r *report) categoryGate(u usage, page string) {
	l := r.policy.Limits
	if n := u.unique[revenue]; n < l.MinRevenueTypes {
		r.few(revenueTypes, n, l.MinRevenueTypes, "revenue types")
	}
	if n := u.unique[engagement]; n < l.MinEngagementTypes {
		r.few(engagementTypes, n, l.MinEngagementTypes, "engagement types")
	}
	if n := u.unique[retention]; page == paidPage && n < l.MinRetentionTypes {
		r.few(retentionTypes, n, l.MinRetentionTypes, "retention types")
	}
}

func (r *report) few(rule string, n, least int, what string) {
	r.add(rule, finding{
		at: "items", message: fmt.Sprintf("%d %s, fewer than %d", n, what, least),
		expected: fmt.Sprintf("at least %d", least), got: strconv.Itoa(n),
	})
}

// strategyGate requires a minimum of different strategies in the week.
func (r *report) strategyGate(p *plan) {
	least := r.policy.Limits.MinStrategies
	switch n := len(p.strategies); {
	case !p.hasStrategies:
		r.add(strategyMissing, finding{at: "strategy_metadata", message: "there is no strategy_metadata"})
	case n < least:
		r.add(strategiesFew, finding{
			at: "strategy_metadata", message: fmt.Sprintf("%d unique strategies on days of the week, fewer than %d", n, least),
			expected: fmt.Sprintf("at least %d", least), got: strconv.Itoa(n),
		})
	}
}

// weekGate reports items outside the scheduled week.
func (r *report) weekGate(p *plan) {
	if p.week == noDay {
		return
	}
	for i := range p.items {
		it := &p.items[i]
		if it.day != noDay && !inWeek(it.day, p.week) {
			r.add(outsideWeek, finding{
				at: itemAt(it.index), message: it.date + " is not in the week of " + dateText(p.week),
				expected: dateText(p.week) + " to " + dateText(p.week+6), got: it.date,
			})
		}
	}
}

func inWeek(day, first int) bool { return day >= first && day < first+7 }

// captionGates warns of captions that were used recently or perform badly. A
// caption that was never used is fresh.
func (r *report) captionGates(p *plan) {
	fresh, good := r.policy.Limits.MinFreshness, r.policy.Limits.MinPerformance
	if p.limited {
		fresh, good = r.policy.Limits.MinFreshnessLimited, r.policy.Limits.MinPerformanceLimited
	}
	for i := range p.items {
		it := &p.items[i]
		if it.unused < fresh { // false for NaN
			r.add(freshnessRule, finding{at: itemAt(it.index), message: "used " + short(it.unused) + " days ago, less than " + short(fresh), expected: "at least " + short(fresh), got: short(it.unused)})
		}
		if it.performance < good {
			r.add(performanceRule, finding{at: itemAt(it.index), message: "performance score " + short(it.performance) + " is below " + short(good), expected: "at least " + short(good), got: short(it.performance)})
		}
	}
}

// confidenceGate reports the band of the volume confidence. A lower bound
// belongs to the band above it.
func (r *report) confidenceGate(p *plan) {
	l, c := r.policy.Limits, p.confidence
	at := func(rule, message string, least float64) {
		r.add(rule, finding{at: "confidence_score", message: message, expected: "at least " + short(least), got: short(c)})
	}
	switch {
	case !p.hasConfidence:
		r.add(confidenceUnknown, finding{at: "confidence_score", message: "there is no confidence_score"})
	case c < l.ConfidenceLow:
		at(confidenceVeryLow, "very low confidence: a person should look at the volumes", l.ConfidenceModerate)
	case c < l.ConfidenceModerate:
		at(confidenceLow, "low confidence: adjust the volumes conservatively", l.ConfidenceModerate)
	case c < l.ConfidenceHigh:
		at(confidenceModerate, "moderate confidence", l.ConfidenceHigh)
	}
}

func short(f float64) string { return strconv.FormatFloat(f, 'g', -1, 64) }
