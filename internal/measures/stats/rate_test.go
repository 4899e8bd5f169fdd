package stats_test

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

func near(a, b float64) bool { return math.Abs(a-b) < 5e-5 }

func TestIntervals(t *testing.T) {
	// The expected values come from exact binomial sums.
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{
		{0, 0, 0, 1}, {0, 10, 0, 0.30850}, {10, 10, 0.69150, 1}, {1, 10, 0.00253, 0.44502}, {37, 40, 0.79614, 0.98430},
		{5, 10, 0.18709, 0.81291}, {1, 1, 0.025, 1}, {42, 107, 0.29952, 0.49164},
	} {
		got := stats.Rate{K: test.k, N: test.n}.Interval(0.95)
		if !near(got.Low, test.low) || !near(got.High, test.high) {
			t.Errorf("%d of %d: got %v, want %v-%v", test.k, test.n, got, test.low, test.high)
		}
	}
}

// TestIntervalsInvert checks the ends of intervals with the binomial distribution.
func TestIntervalsInvert(t *testing.T) {
	for _, r := range []stats.Rate{{K: 1, N: 100_000}, {K: 3, N: 1_000_000}, {K: 99_999, N: 100_000}, {K: 500, N: 1000}, {K: 2, N: 3}, {K: 50_000, N: 100_000}} {
		i := r.Interval(0.95)
		above := 1 - distuv.Binomial{N: float64(r.N), P: i.Low}.CDF(float64(r.K-1))
		below := distuv.Binomial{N: float64(r.N), P: i.High}.CDF(float64(r.K))
		if math.Abs(above-0.025) > 1e-6 || math.Abs(below-0.025) > 1e-6 {
			t.Errorf("%v: tails %g and %g, want 0.025", r, above, below)
		}
	}
}

func TestStudent(t *testing.T) {
	for _, n := range []int{2, 3, 10, 31, 1000} {
		for _, confidence := range []float64{0.5, stats.Confidence, 0.999} {
			want := distuv.StudentsT{Sigma: 1, Nu: float64(n - 1)}.Quantile((1 + confidence) / 2)
			if got := stats.Student(n, confidence); math.Abs(got/want-1) > 1e-9 {
				t.Errorf("%d numbers, %g: %g, want %g", n, confidence, got, want)
			}
		}
	}
}

func TestNoMissesInN(t *testing.T) {
	for _, n := range []int{1, 58, 59, 298, 5000} {
		r := stats.Rate{K: 0, N: n}
		if got, want := r.Interval(0.9).High, 1-math.Pow(0.05, 1/float64(n)); math.Abs(got-want) > 1e-12 {
			t.Errorf("one-sided of 0 in %d: %g, want %g", n, got, want)
		}
		if got, want := r.Interval(0.95).High, 1-math.Pow(0.025, 1/float64(n)); math.Abs(got-want) > 1e-12 {
			t.Errorf("two-sided of 0 in %d: %g, want %g", n, got, want)
		}
		all := stats.Rate{K: n, N: n}
		if got, want := all.Interval(0.95).Low, math.Pow(0.025, 1/float64(n)); math.Abs(got-want) > 1e-9 {
			t.Errorf("two-sided of all %d: %g, want %g", n, got, want)
		}
	}
	for n, limit := range map[int]float64{59: 0.05, 299: 0.01} {
		if (stats.Rate{N: n}).Interval(0.9).High > limit || (stats.Rate{N: n - 1}).Interval(0.9).High <= limit {
			t.Errorf("%d is not the least number that shows at most %g", n, limit)
		}
	}
}

func TestRatesInWords(t *testing.T) {
	for want, r := range map[string]stats.Rate{
		"37 of 40, 92.5 % (79.6-98.4)":               {K: 37, N: 40},
		"unknown (0 of 0)":                           {},
		"0 of 5, 0.0 % (0.0-52.2)":                   {N: 5},
		"5 of 5, 100.0 % (47.8-100.0)":               {K: 5, N: 5},
		"1 of 100000, 0.001 % (0.00003-0.01)":        {K: 1, N: 100_000},
		"99999 of 100000, 99.999 % (99.99-99.99997)": {K: 99_999, N: 100_000},
	} {
		if got := r.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestRatesAsJSON(t *testing.T) {
	for want, r := range map[string]stats.Rate{
		`{"k":37,"n":40,"rate":0.925,"low":0.796135,"high":0.984258}`: {K: 37, N: 40},
		`{"k":0,"n":0,"rate":null,"low":null,"high":null}`:            {},
	} {
		got, err := json.Marshal(r)
		if err != nil || string(got) != want {
			t.Errorf("got %s, %v, want %s", got, err, want)
		}
		var back stats.Rate
		if err := json.Unmarshal(got, &back); err != nil || back != r {
			t.Errorf("%s reads back as %v, %v", got, back, err)
		}
	}
}

// TestCoverage checks that the interval contains the true rate of at least 94 % of 1,000 generated
// gates.
func TestCoverage(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	covered, above := 0, 0
	for range 1000 {
		f, n := rng.Float64()*rng.Float64(), 1+rng.IntN(300)
		var r stats.Rate
		for range n {
			r.Add(rng.Float64() < f)
		}
		if r.Interval(0.95).Holds(f) {
			covered++
		}
		if f <= r.Interval(0.9).High {
			above++
		}
	}
	t.Logf("covered %d, below the upper bound %d of 1000", covered, above)
	if covered < 940 || above < 940 {
		t.Errorf("covered %d, below the upper bound %d, want 940 of 1000", covered, above)
	}
}

func TestKappa(t *testing.T) {
	for _, test := range []struct {
		c    stats.Confusion
		want float64
	}{
		{stats.Confusion{GoodPassed: 20, GoodRefused: 5, BadPassed: 10, BadRefused: 15}, 0.4}, // the example of encyclopaedias
		{stats.Confusion{GoodPassed: 10, BadRefused: 3}, 1},
		{stats.Confusion{GoodPassed: 25, GoodRefused: 25, BadPassed: 25, BadRefused: 25}, 0},
		{stats.Confusion{GoodPassed: 90, BadPassed: 10}, 0}, // a gate that passes everything agrees in 90 %
		{stats.Confusion{GoodRefused: 5, BadPassed: 5}, -1},
		{stats.Confusion{GoodPassed: 9}, math.NaN()},
		{stats.Confusion{}, math.NaN()},
	} {
		got := test.c.Kappa()
		if math.IsNaN(got) != math.IsNaN(test.want) || math.Abs(got-test.want) > 1e-12 {
			t.Errorf("%+v: kappa %g, want %g", test.c, got, test.want)
		}
	}
	c := stats.Confusion{}
	for _, pair := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, true}, {false, false}} {
		c.Add(pair[0], pair[1])
	}
	if c.FalsePass() != (stats.Rate{K: 2, N: 3}) || c.FalseBlock() != (stats.Rate{K: 1, N: 2}) || c.Base() != (stats.Rate{K: 2, N: 5}) || c.Agreement() != (stats.Rate{K: 2, N: 5}) {
		t.Errorf("%+v counts %v, %v, %v, %v", c, c.FalsePass(), c.FalseBlock(), c.Base(), c.Agreement())
	}
}

func TestPaired(t *testing.T) {
	for _, test := range []struct {
		gained, lost int
		want         bool
	}{{0, 0, false}, {5, 0, false}, {6, 0, true}, {0, 6, true}, {10, 9, false}, {15, 4, true}} {
		p := stats.Paired{Both: 50, Gained: test.gained, Lost: test.lost}
		if p.Differs(0.95) != test.want {
			t.Errorf("%v: differs %v, want %v", p, !test.want, test.want)
		}
	}
	var p stats.Paired
	for _, row := range [][2]bool{{true, true}, {true, false}, {false, true}, {false, false}, {false, true}} {
		p.Add(row[0], row[1])
	}
	if p.Before() != (stats.Rate{K: 2, N: 5}) || p.After() != (stats.Rate{K: 3, N: 5}) {
		t.Errorf("%+v: from %v to %v", p, p.Before(), p.After())
	}
	if got, want := p.String(), "40.0 % to 60.0 %: 2 rows gained, 1 lost, no difference beyond chance"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestRatio(t *testing.T) {
	rng := rand.New(rand.NewPCG(9, 10))
	covered := 0
	for range 500 {
		var r stats.Ratio
		for range 200 {
			r.Add(1+rng.Float64(), rng.Float64() < 0.6)
		}
		if r.Interval(0.95).Holds(1.5 / 0.6) {
			covered++
		}
	}
	if covered < 460 {
		t.Errorf("covered %d of 500", covered)
	}
	var none stats.Ratio
	none.Add(1, false)
	if i := none.Interval(0.95); !math.IsNaN(none.Value()) || i.Low != 0 || i.High < 1e300 {
		t.Errorf("of nothing: %g, %v", none.Value(), i)
	}
}
