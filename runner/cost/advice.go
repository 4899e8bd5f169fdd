package cost

import (
	"math"

	"github.com/seed61713e19/capstan/runner/measure"
)

// little is what an advice may lose of the accepted outputs, and what it must save at
// least.
const little = 0.01

// advice returns the cheapest way that accepts about as many outputs, if the runs show
// that it is cheaper, and the number of runs. The first half
// of the runs chooses it. The second half must show a saving: its paired interval
// excludes 0. So a way that only looked cheap by chance is not advised, however many
// ways there are.
func (s *sample) advice(ways []way, money bool) (*Option, int) {
	if s.first == nil {
		return nil, 0
	}
	var best way
	most, found := little, false
	for _, w := range ways {
		if saving, fewer := s.first.saving(w, money); fewer <= little && saving > most {
			best, most, found = w, saving, true
		}
	}
	runs := len(starts(s.outputs))
	if !found {
		return nil, runs
	}
	saves, fewer := s.rest.paired(best, money)
	o, ok := s.option(best, money)
	if !ok || !(saves.Low > 0) || fewer.Low > little {
		return nil, runs
	}
	o.Saving, _ = s.rest.saving(best, money)
	o.Saves = &saves
	return &o, runs
}

// saving returns the share of the price that a way saves, and the share of outputs
// by which it accepts fewer. Where nothing is accepted it saves nothing.
func (s *sample) saving(w way, money bool) (saving, fewer float64) {
	now, was, _, ok := way{}.of(s, money)
	then, is, _, seen := w.of(s, money)
	if !ok || !seen || was.of(money) == 0 {
		return 0, 1
	}
	return 1 - is.of(money)/was.of(money), now.Value() - then.Value()
}

// blocks is how many parts the runs are divided into for a paired interval.
const blocks = 40

// paired returns where the saving of a way lies with 95 % confidence, and by what share
// of the outputs it accepts fewer. The same runs are counted both ways, and each block of
// them is left out once (the jackknife): what makes a run expensive in both ways cancels
// out.
func (s *sample) paired(w way, money bool) (saves, fewer measure.Interval) {
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
	saves = measure.Interval{Low: 1 - math.Exp(middle+half), High: 1 - math.Exp(middle-half)}
	half = jackknife(shares)
	return saves, measure.Interval{Low: less - half, High: less + half}
}

// jackknife returns half the width of a number's 95 % interval from its values without
// each block.
func jackknife(without []float64) float64 {
	n := float64(len(without))
	mean, spread := 0.0, 0.0
	for _, v := range without {
		mean += v / n
	}
	for _, v := range without {
		spread += (v - mean) * (v - mean)
	}
	return measure.Student(len(without), measure.Confidence) * math.Sqrt(spread*(n-1)/n)
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
