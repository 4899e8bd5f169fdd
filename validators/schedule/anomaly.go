package schedule

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/seed61713e19/capstan/validators"
)

// creatorRecord is the data about a schedule's creator, with its usual values.
type creatorRecord struct {
	facts   facts
	types   map[string]bool // all existing content types
	history history

	database string // id of the database
	numbered bool   // captions have numbers as ids, not texts
}

// creatorRecord reads the record in one snapshot of the database. It reads the data for the
// anomaly gate only if the policy has that gate.
func (db *DB) creatorRecord(ctx context.Context, p *plan, now time.Time, policy *gatePolicy) (b creatorRecord, err error) {
	if p.creator == "" {
		return b, nil
	}
	err = db.reading(ctx, func(t tx) error {
		s, err := t.settings()
		if err == nil {
			b, err = t.creatorRecord(p, now, policy)
		}
		b.database = s.ID
		return err
	})
	return b, err
}

func (t tx) creatorRecord(p *plan, now time.Time, policy *gatePolicy) (b creatorRecord, err error) {
	b.numbered = t.db.postgres
	if b.facts, err = t.facts(p.creator); err != nil || !b.facts.known() || !policy.hasGate(anomalyGate) {
		return b, err
	}
	if b.types, err = t.contentTypes(); err != nil {
		return b, err
	}
	b.history, err = t.history(b.facts.id, p.week, now, policy)
	return b, err
}

// anomaly is the gate of phase 9.5. It compares statistics of the schedule with
// the usual values.
func (r *report) anomaly(plan *plan, b creatorRecord) validators.Verdict {
	if r.checkCreator(plan, b.facts) {
		r.prices(plan, b.history)
		r.unknownContent(plan, b.types)
	}
	week := plan.byDay()
	r.volume(plan, week)
	r.clustering(week)
	r.concentration(week)
	r.averageFreshness(plan)
	opportunities := []any{}
	if b.facts.known() {
		opportunities = append(r.underused(plan, b.facts), r.peaks(plan, b.history)...)
	}
	status, word := statusApproved, "PASS"
	switch {
	case r.rejected():
		status, word = statusRejected, "BLOCK"
	case r.status == statusWarning:
		status, word = statusWarning, "WARN"
	}
	return r.verdict(status, "no anomalies", map[string]any{
		"anomaly_status": word, "errors": issueObjects(r.issues, "ERROR"), "warnings": issueObjects(r.notableWarnings(), "WARNING"),
		"opportunities": opportunities, "not_testable": r.untested(),
	})
}

// issueObjects converts findings to the objects of the specified report.
func issueObjects(issues []validators.Issue, severity string) []any {
	list := make([]any, len(issues))
	for i, issue := range issues {
		list[i] = map[string]any{"type": issue.Check, "message": issue.Message, "severity": severity, "location": issue.Location}
	}
	return list
}

// notableWarnings returns the warnings that are more than information.
func (r *report) notableWarnings() []validators.Issue {
	return slices.DeleteFunc(slices.Clone(r.warnings), func(i validators.Issue) bool { return i.Severity == "NONE" })
}

func (r *report) untested() []any {
	code, words := r.policy.Rules[untestedRule].Code, []any{}
	for _, w := range r.warnings {
		if w.Check == code {
			words = append(words, w.Location+": "+w.Message)
		}
	}
	return words
}

// prices compares the price of each PPV slot with recent prices, in both
// directions. If recent prices were all equal, any other price is an outlier.
func (r *report) prices(p *plan, h history) {
	l := r.policy.Limits
	if h.prices.n < l.PriceSamples {
		r.add(untestedRule, finding{at: "prices", message: fmt.Sprintf("%d PPV prices in %d days, fewer than %d", h.prices.n, l.PriceDays, l.PriceSamples)})
		return
	}
	mean, sigma := h.prices.average(), h.prices.deviation()
	usual := around(mean, l.PriceSigmas*sigma)
	for i := range p.items {
		it := &p.items[i]
		if it.kind == nil || !it.kind.PPV || math.IsNaN(it.price) {
			continue
		}
		far := math.Abs(it.price - mean)
		if far <= l.PriceSigmas*sigma*(1+tolerance) {
			continue
		}
		r.add(priceRule, finding{
			at: itemAt(it.index), message: fmt.Sprintf("price %s is %s σ from the mean %.2f (σ %.2f): usual is %s", short(it.price), sigmas(far, sigma), mean, sigma, usual),
			expected: usual, got: short(it.price),
		})
	}
}

// around describes the range of prices around a mean, in whole cents within it.
func around(mean, far float64) string {
	from, to := max(0, math.Ceil(100*(mean-far)-tolerance)/100), math.Floor(100*(mean+far)+tolerance)/100
	if from >= to {
		return short(mean)
	}
	return fmt.Sprintf("%.2f to %.2f", from, to)
}

func sigmas(far, sigma float64) string {
	if sigma == 0 {
		return "infinitely many"
	}
	return fmt.Sprintf("%.1f", far/sigma)
}

func (r *report) unknownContent(p *plan, types map[string]bool) {
	for i := range p.items {
		switch it := &p.items[i]; {
		case it.noContent:
			r.add(contentUnknown, finding{at: itemAt(it.index), message: "the item has no content type"})
		case !types[it.content]:
			r.add(contentUnknown, finding{at: itemAt(it.index), message: "there is no content type " + strconv.Quote(clip(it.content)), got: clip(it.content)})
		}
	}
}

// averageFreshness checks the average over the captions that were used before.
func (r *report) averageFreshness(p *plan) {
	sum, n := 0.0, 0
	for i := range p.items {
		if days := p.items[i].unused; !math.IsNaN(days) {
			sum += days
			n++
		}
	}
	least := r.policy.Limits.MinAverageFreshness
	if mean := sum / float64(n); n > 0 && mean < least-tolerance {
		r.add(freshnessAverage, finding{
			at: "items", message: fmt.Sprintf("captions were used %.1f days ago on average, less than %s", mean, short(least)),
			expected: "at least " + short(least), got: short(mean),
		})
	}
}

// underused finds the best content types with too few slots. The lift is the
// type's share of all ranked earnings, minus its share of the slots.
func (r *report) underused(p *plan, f facts) []any {
	taken, all, total := map[string]int{}, 0, 0.0
	for i := range p.items {
		if it := &p.items[i]; it.kind != nil && it.kind.PPV {
			taken[it.content]++
			all++
		}
	}
	for _, row := range f.rankings {
		total += earned(row)
	}
	list := []any{}
	for _, row := range f.rankings {
		n := taken[row.ContentType]
		if row.Tier != "TOP" || !f.inVault[row.ContentType] || f.avoided[row.ContentType] || n > r.policy.Limits.FewSlots {
			continue
		}
		message := fmt.Sprintf("%s content performs well but only %s", row.ContentType, slots(n))
		a := r.opportunity(underusedRule, message)
		if lift := earned(row)/max(total, 1) - float64(n)/float64(max(all, 1)); lift > 0 {
			a["potential_lift"] = fmt.Sprintf("+%.0f%%", 100*lift)
		}
		list = append(list, a)
	}
	return list
}

func (r *report) opportunity(rule, message string) map[string]any {
	r.add(rule, finding{at: "items", message: message})
	return map[string]any{"type": r.policy.Rules[rule].Code, "message": message}
}

func slots(n int) string {
	if n == 1 {
		return "1 slot"
	}
	return fmt.Sprintf("%d slots", n)
}

// peaks finds the hours with the highest recent earnings that have no item.
func (r *report) peaks(p *plan, h history) []any {
	list := []any{}
	if !h.earned {
		return list
	}
	var used [24]bool
	for i := range p.items {
		if it := &p.items[i]; it.timed {
			used[time.Unix(it.at, 0).UTC().Hour()] = true
		}
	}
	hours := make([]int, 24)
	for i := range hours {
		hours[i] = i
	}
	slices.SortStableFunc(hours, func(a, b int) int { return cmp.Compare(h.hours[b], h.hours[a]) })
	for _, hour := range hours[:min(r.policy.Limits.PeakHours, 24)] {
		if used[hour] || h.hours[hour] <= 0 {
			continue
		}
		message := fmt.Sprintf("nothing is sent in the peak hour %02d:00 UTC", hour)
		list = append(list, r.opportunity(peakUnused, message))
	}
	return list
}
