package cost

import (
	"math"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// margin is the maximum share of accepted outputs that an advice may lose, and the minimum that it
// must save.
const margin = 0.01

// advice returns the cheapest way with about the same number of accepted outputs, and the number of
// runs. The first half of the runs selects the way. The second half must show a saving: its paired
// interval excludes 0. Otherwise the cheapest of many ways would look cheap by chance.
func (s *sample) advice(ways []way, money bool) (*Option, int) {
	if s.first == nil {
		return nil, 0
	}
	var best way
	most, found := margin, false
	for _, w := range ways {
		if saving, fewer := s.first.saving(w, money); fewer <= margin && saving > most {
			best, most, found = w, saving, true
		}
	}
	runs := len(starts(s.outputs))
	if !found {
		return nil, runs
	}
	saves, fewer := s.rest.paired(best, money)
	o, ok := s.option(best, money)
	if !ok || !(saves.Low > 0) || fewer.Low > margin {
		return nil, runs
	}
	o.Saving, _ = s.rest.saving(best, money)
	o.Saves = &saves
	return &o, runs
}

// saving returns the share of the price that a way saves, and the share of outputs that it loses.
func (s *sample) saving(w way, money bool) (saving, fewer float64) {
	now, was, _, ok := way{}.of(s, money)
	then, is, _, seen := w.of(s, money)
	if !ok || !seen || was.of(money) == 0 {
		return 0, 1
	}
	return 1 - is.of(money)/was.of(money), now.Value() - then.Value()
}

// blocks is the number of parts of the runs for a paired interval.
const blocks = 40

// paired returns the 95 % intervals of the saving of a way, and of the share of outputs that it
// loses. The same runs are counted both ways, without one block of runs at a time (the jackknife).
func (s *sample) paired(w way, money bool) (saves, fewer stats.Interval) {
	runs := starts(s.outputs)
	n := min(blocks, len(runs))
	var ratios, shares []float64
	for i := range n {
		from, to := runs[i*len(runs)/n], len(s.outputs)
		if next := (i + 1) * len(runs) / n; next < len(runs) {
			to = runs[next]
		}
		left := append(s.outputs[:from:from], s.outputs[to:]...)
		saving, less := (&sample{outputs: left, hazards: seen(left)}).saving(w, money)
		ratios, shares = append(ratios, math.Log(1-saving)), append(shares, less)
	}
	saving, less := s.saving(w, money)
	middle, half := math.Log(1-saving), jackknife(ratios)
	saves = stats.Interval{Low: 1 - math.Exp(middle+half), High: 1 - math.Exp(middle-half)}
	half = jackknife(shares)
	return saves, stats.Interval{Low: less - half, High: less + half}
}

// jackknife returns half the width of a number's 95 % interval from its values without each block.
func jackknife(without []float64) float64 {
	n := float64(len(without))
	mean, spread := 0.0, 0.0
	for _, v := range without {
		mean += v / n
	}
	for _, v := range without {
		spread += (v - mean) * (v - mean)
	}
	return stats.Student(len(without), stats.Confidence) * math.Sqrt(spread*(n-1)/n)
}

// starts returns where the outputs of each run begin.
func starts(outputs []*output) (runs []int) {
	for i, o := range outputs {
		if i == 0 || o.run != outputs[i-1].run {
			runs = append(runs, i)
		}
	}
	return runs
}
