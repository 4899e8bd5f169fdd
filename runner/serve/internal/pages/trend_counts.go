package pages

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
)

// A dayCounts is the counts of each day on which runs started: one span for each cascade,
// each phase and each gate in a phase.
type dayCounts map[time.Time]map[Scope]span

// countTrends counts a scope from f.Since to until, over the runs that the filter selects.
// If f.Since is zero, it begins with the first run.
func (s *Site) countTrends(ctx context.Context, scope Scope, f journal.Filter, until time.Time) (*TrendReport, error) {
	runs, err := s.o.Store.Runs(ctx, f)
	if err != nil {
		return nil, err
	}
	capped := f.Limit > 0 && len(runs) == f.Limit
	if len(runs) > 0 && (capped || f.Since.IsZero()) {
		f.Since = slices.MinFunc(runs, func(a, b journal.Summary) int { return a.Started.Compare(b.Started) }).Started
	}
	days, err := s.counts.get(ctx, s.o.Store, fmt.Sprintf("%q %v", f.Cascade, f.Since), 0, func() (dayCounts, error) {
		f := f
		f.Limit = 0
		return countDays(runs, s.o.Store.Attempts(ctx, f))
	})
	if err != nil {
		return nil, err
	}
	report := newReport(scope, cuts(f.Since, until), days)
	report.Capped = capped
	return report, nil
}

// countDays counts runs and their attempts. It ignores attempts of other runs.
func countDays(runs []journal.Summary, attempts iter.Seq2[journal.Attempt, error]) (dayCounts, error) {
	days, cascades := dayCounts{}, map[string]string{}
	parts := func(at time.Time) map[Scope]span {
		at = day(at.UTC())
		if days[at] == nil {
			days[at] = map[Scope]span{}
		}
		return days[at]
	}
	for _, r := range runs {
		cascades[r.RunID] = r.CascadeID
		add(parts(r.Started), Scope{Cascade: r.CascadeID}, func(s *span) { s.run(r) })
	}
	for a, err := range attempts {
		if err != nil {
			return nil, err
		}
		if cascade, found := cascades[a.RunID]; found {
			countAttempt(parts(a.Started), cascade, &a)
		}
	}
	return days, nil
}

func add(parts map[Scope]span, scope Scope, count func(*span)) {
	span := parts[scope]
	count(&span)
	parts[scope] = span
}

// run counts a run as a whole, without the time of its attempts.
func (s *span) run(r journal.Summary) {
	s.N++
	s.CostUSD += r.Usage.CostUSD
	switch r.Status {
	case "succeeded":
		s.Passed.Add(true)
	case "blocked", "exhausted", "over_budget":
		s.Passed.Add(false)
	case "failed":
		s.Errors++
	}
}

// countAttempt counts an attempt for its run, its phase and the gates that judged it.
func countAttempt(parts map[Scope]span, cascade string, a *journal.Attempt) {
	again := a.Number > 1 && !a.Edited
	add(parts, Scope{Cascade: cascade}, func(s *span) {
		s.Took += a.Took
		if again {
			s.Again++
		}
	})
	if a.Phase == "" {
		return
	}
	if a.Number > 0 && !a.Edited {
		add(parts, Scope{Cascade: cascade, Phase: a.Phase}, func(s *span) { s.try(a, again) })
	}
	for i := range a.Verdicts {
		v := &a.Verdicts[i]
		if v.Valid == nil && !v.Broke {
			continue // skipped
		}
		add(parts, Scope{Cascade: cascade, Phase: a.Phase, Gate: v.Validator, Moment: v.Moment}, func(s *span) { s.verdict(v) })
	}
}

// newReport adds up days: for the scope as a whole, and for each part of it.
func newReport(scope Scope, cuts []time.Time, days dayCounts) *TrendReport {
	trends := map[Scope]*Trend{}
	trend := func(s Scope) *Trend {
		if trends[s] == nil {
			t := &Trend{Scope: s, Spans: make([]span, len(cuts)-1), Whole: span{From: cuts[0], Until: cuts[len(cuts)-1]}}
			for i := range t.Spans {
				t.Spans[i].From, t.Spans[i].Until = cuts[i], cuts[i+1]
			}
			trends[s] = t
		}
		return trends[s]
	}
	trend(scope) // also without runs
	for _, at := range slices.SortedFunc(maps.Keys(days), time.Time.Compare) {
		i, found := slices.BinarySearchFunc(cuts, at, time.Time.Compare)
		if !found {
			i--
		}
		if i < 0 || i >= len(cuts)-1 {
			continue
		}
		for s, span := range days[at] {
			if s == scope || scope.sums(s) {
				trend(scope).Spans[i].plus(span)
			}
			if s != scope && scope.has(s) {
				trend(s).Spans[i].plus(span)
			}
		}
	}
	r := &TrendReport{}
	for s, t := range trends {
		for _, span := range t.Spans {
			t.Whole.plus(span)
		}
		if s == scope {
			r.Trend = *t
		} else {
			r.Parts = append(r.Parts, *t)
		}
	}
	slices.SortFunc(r.Parts, compare)
	if r.More = max(len(r.Parts)-maxParts, 0); r.More > 0 {
		r.Parts = r.Parts[:maxParts]
	}
	return r
}
