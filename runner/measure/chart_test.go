package measure_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/runner/measure"
)

// run feeds a chart of the baseline with verdicts of a gate that passes p, and
// tells at which the alarm is; most where there was none by then.
func run(rng *rand.Rand, baseline measure.Rate, alarms, most int, p float64) int {
	c := measure.NewChart(baseline, alarms)
	for n := range most {
		if c.Add(rng.Float64() < p) {
			return n + 1
		}
	}
	return most
}

// TestFalseAlarms: about a gate that is as it was the average run length is at
// least what is promised, wherever in its interval the old rate is.
func TestFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const promised, runs = 300, 200
	for _, baseline := range []measure.Rate{{K: 700, N: 1000}, {K: 5, N: 10}, {K: 30, N: 30}, {K: 2, N: 400}, {K: 0, N: 50}} {
		was := baseline.Interval(measure.Confidence)
		for _, p := range []float64{was.Low, baseline.Value(), was.High} {
			total := 0
			for range runs {
				total += run(rng, baseline, promised, 20*promised, p)
			}
			if total < runs*promised {
				t.Errorf("baseline %v, true rate %.3f: a false alarm in %d verdicts on average, promised %d", baseline, p, total/runs, promised)
			}
		}
	}
}

// TestSwappedJudge: a judge that passed 6 of 10 and now passes 9 is found within
// 120 verdicts, and one that refuses half of what it passed within 40, in 95
// cases of 100, at one false alarm in 10,000 verdicts on average at most. A small shift,
// from 9 of 10 to 8, takes some 700 verdicts, and often more.
func TestSwappedJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, test := range []struct {
		was, is float64
		within  int
	}{{0.6, 0.9, 120}, {0.9, 0.4, 40}, {0.95, 0.05, 12}, {0.6, 1, 40}, {0.9, 0.8, 3500}} {
		delays := make([]int, 400)
		for i := range delays {
			var baseline measure.Rate
			for range 400 {
				baseline.Add(rng.Float64() < test.was)
			}
			delays[i] = run(rng, baseline, measure.FalseAlarms, 5000, test.is)
		}
		slices.Sort(delays)
		t.Logf("from %.2f to %.2f: half within %d verdicts, 95 of 100 within %d", test.was, test.is, delays[200], delays[380])
		if delays[380] > test.within {
			t.Errorf("from %.2f to %.2f: 95 of 100 within %d verdicts, want %d", test.was, test.is, delays[380], test.within)
		}
	}
}

func TestChartOfNothing(t *testing.T) {
	c := measure.NewChart(measure.Rate{}, 100)
	for range 1000 {
		if c.Add(false) {
			t.Fatal("an alarm of an unknown baseline")
		}
	}
	if c.Alarm() != 0 || c.Level() != 0 {
		t.Errorf("alarm %d, level %g", c.Alarm(), c.Level())
	}
}

// TestCourse holds that a course is short, however many verdicts there were, and
// that its highest level is the chart's.
func TestCourse(t *testing.T) {
	for _, n := range []int{0, 1, 399, 400, 401, 799, 12345} {
		c := measure.NewChart(measure.Rate{K: 150, N: 300}, 100)
		highest := 0.0
		for i := range n {
			c.Add(i%7 < 3)
			highest = max(highest, c.Level())
		}
		course := c.Course()
		if got := append(course.Levels, 0); len(got) > 401 || slices.Max(got) != highest {
			t.Errorf("%d verdicts: %d levels up to %g, not %g", n, len(course.Levels), slices.Max(got), highest)
		}
		if levels := (n + max(course.Every, 1) - 1) / max(course.Every, 1); len(course.Levels) != levels {
			t.Errorf("%d verdicts: %d levels of %d each", n, len(course.Levels), course.Every)
		}
	}
}
