package stats_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// run adds verdicts of a gate that passes p to a chart, and returns the number of the alarm, or
// most without an alarm.
func run(rng *rand.Rand, baseline stats.Rate, alarms, most int, p float64) int {
	c := stats.NewChart(baseline, alarms)
	for n := range most {
		if c.Add(rng.Float64() < p) {
			return n + 1
		}
	}
	return most
}

// TestFalseAlarms checks that the average run length of an unchanged gate is at least falseAlarms,
// for every old rate in the interval.
func TestFalseAlarms(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const promised, runs = 300, 200
	for _, baseline := range []stats.Rate{{K: 700, N: 1000}, {K: 5, N: 10}, {K: 30, N: 30}, {K: 2, N: 400}, {K: 0, N: 50}} {
		was := baseline.Interval(stats.Confidence)
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

// TestSwappedJudge checks that a change from 60 % to 90 % is found within 120 verdicts, and the
// loss of half of the passes within 40 verdicts, in 95 % of all cases. A change from 90 % to 80 %
// takes about 700 verdicts. There is at most one false alarm in 10,000 verdicts on average.
func TestSwappedJudge(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for _, test := range []struct {
		was, is float64
		within  int
	}{{0.6, 0.9, 120}, {0.9, 0.4, 40}, {0.95, 0.05, 12}, {0.6, 1, 40}, {0.9, 0.8, 3500}} {
		delays := make([]int, 400)
		for i := range delays {
			var baseline stats.Rate
			for range 400 {
				baseline.Add(rng.Float64() < test.was)
			}
			delays[i] = run(rng, baseline, stats.FalseAlarms, 5000, test.is)
		}
		slices.Sort(delays)
		t.Logf("from %.2f to %.2f: half within %d verdicts, 95 of 100 within %d", test.was, test.is, delays[200], delays[380])
		if delays[380] > test.within {
			t.Errorf("from %.2f to %.2f: 95 of 100 within %d verdicts, want %d", test.was, test.is, delays[380], test.within)
		}
	}
}

func TestChartOfNothing(t *testing.T) {
	c := stats.NewChart(stats.Rate{}, 100)
	for range 1000 {
		if c.Add(false) {
			t.Fatal("an alarm of an unknown baseline")
		}
	}
	if c.Alarm() != 0 || c.Level() != 0 {
		t.Errorf("alarm %d, level %g", c.Alarm(), c.Level())
	}
}

// TestCourse checks that a course stays short and contains every alarm.
func TestCourse(t *testing.T) {
	for _, n := range []int{0, 1, 399, 400, 401, 799, 12345} {
		c := stats.NewChart(stats.Rate{K: 150, N: 300}, 100)
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
