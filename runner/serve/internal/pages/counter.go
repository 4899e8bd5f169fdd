package pages

import (
	"context"
	"fmt"
	"hash/fnv"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner/journal"
)

// A trendSource lists stored runs, the newest first, and their attempts.
type trendSource interface {
	Runs(ctx context.Context, f journal.Filter) ([]journal.Summary, error)
	Attempts(ctx context.Context, f journal.Filter) iter.Seq2[journal.Attempt, error]
}

// A TrendCounter counts the runs of a source and stores the counts of each day. It may be
// used by several goroutines.
type TrendCounter struct {
	source trendSource
	mu     sync.Mutex
	days   map[dayKey]counts
}

// NewTrendCounter returns a counter of the source's runs.
func NewTrendCounter(source trendSource) *TrendCounter {
	return &TrendCounter{source: source, days: map[dayKey]counts{}}
}

// A dayKey is a day of all runs, or of those of one cascade.
type dayKey struct {
	cascade string
	day     time.Time
}

// Counts are what the runs of a day came to: one span for each cascade, each phase
// and each gate in a phase.
type counts struct {
	runs  uint64 // the hash of the runs as they were
	parts map[Scope]span
}

// Ask counts the scope from f.Since until until, over the runs that the filter
// selects. If f.Since is zero, it begins with the first run.
func (c *TrendCounter) Ask(ctx context.Context, scope Scope, f journal.Filter, until time.Time) (*TrendReport, error) {
	runs, err := c.source.Runs(ctx, f)
	if err != nil {
		return nil, err
	}
	capped := f.Limit > 0 && len(runs) == f.Limit
	if len(runs) > 0 && (capped || f.Since.IsZero()) {
		f.Since = slices.MinFunc(runs, func(a, b journal.Summary) int { return a.Started.Compare(b.Started) }).Started
	}
	days, err := c.counted(ctx, f, runs)
	if err != nil {
		return nil, err
	}
	report := newReport(scope, cuts(f.Since, until), days)
	report.Capped = capped
	return report, nil
}

// counted returns the counts of each day on which one of the runs started. It reads
// the attempts of those days on which a run changed.
func (c *TrendCounter) counted(ctx context.Context, f journal.Filter, runs []journal.Summary) (map[time.Time]counts, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	byDay := map[time.Time][]journal.Summary{}
	for _, r := range runs {
		at := day(r.Started.UTC())
		byDay[at] = append(byDay[at], r)
	}
	days := map[time.Time]counts{}
	var changed []time.Time
	for at, list := range byDay {
		stored, ok := c.days[dayKey{f.Cascade, at}]
		if hash := hashOf(list); !ok || stored.runs != hash {
			stored = counts{hash, countRuns(list)}
			changed = append(changed, at)
		}
		days[at] = stored
	}
	slices.SortFunc(changed, time.Time.Compare)
	for len(changed) > 0 {
		n := 1
		for n < len(changed) && changed[n].Equal(changed[n-1].AddDate(0, 0, 1)) {
			n++
		}
		if err := c.read(ctx, f, changed[:n], byDay, days); err != nil {
			return nil, err
		}
		changed = changed[n:]
	}
	return days, nil
}

// read adds the attempts of consecutive days to their counts and stores these.
func (c *TrendCounter) read(
	ctx context.Context, f journal.Filter, consecutive []time.Time, runs map[time.Time][]journal.Summary, days map[time.Time]counts,
) error {
	cascades := map[string]string{}
	for _, at := range consecutive {
		for _, r := range runs[at] {
			cascades[r.RunID] = r.CascadeID
		}
	}
	f.Limit, f.Until = 0, consecutive[len(consecutive)-1].AddDate(0, 0, 1)
	if consecutive[0].After(f.Since) {
		f.Since = consecutive[0]
	}
	for a, err := range c.source.Attempts(ctx, f) {
		if err != nil {
			return err
		}
		if cascade, known := cascades[a.RunID]; known {
			countAttempt(days[day(a.Started.UTC())].parts, cascade, &a)
		}
	}
	for _, at := range consecutive {
		c.days[dayKey{f.Cascade, at}] = days[at]
	}
	return nil
}

// hashOf differs where the runs or what is stored of them differ.
func hashOf(runs []journal.Summary) uint64 {
	h := fnv.New64a()
	for _, r := range runs {
		fmt.Fprintf(h, "%q %s %d\n", r.RunID, r.Status, r.Events)
	}
	return h.Sum64()
}

func countRuns(runs []journal.Summary) map[Scope]span {
	parts := map[Scope]span{}
	for _, r := range runs {
		add(parts, Scope{Cascade: r.CascadeID}, func(s *span) { s.run(r) })
	}
	return parts
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
func newReport(scope Scope, cuts []time.Time, days map[time.Time]counts) *TrendReport {
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
		for s, span := range days[at].parts {
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
