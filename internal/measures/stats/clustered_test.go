package stats_test

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// Runs of one row are alike. The interval must cover the rate of the population of rows
// in 94 of 100 datasets. The interval of the runs does not.
func TestClusteredCoverage(t *testing.T) {
	const datasets, rows = 1000, 40
	for _, c := range []struct {
		name  string
		times int
		rate  func(rng *rand.Rand) float64 // of one row
		truth float64
	}{
		{"one run of a row", 1, func(*rand.Rand) float64 { return 0.7 }, 0.7},
		{"equal rows", 5, func(*rand.Rand) float64 { return 0.7 }, 0.7},
		{"easy and hard rows", 5, func(rng *rand.Rand) float64 { return []float64{0.95, 0.2}[rng.IntN(2)] }, 0.575},
		{"rows of all or nothing", 10, func(rng *rand.Rand) float64 { return float64(rng.IntN(2)) }, 0.5},
		{"seldom", 5, func(rng *rand.Rand) float64 { return []float64{0, 0, 0, 0, 0.5}[rng.IntN(5)] }, 0.1},
	} {
		rng := rand.New(rand.NewPCG(1, uint64(c.times)))
		byRow, byRun := stats.Rate{}, stats.Rate{}
		for range datasets {
			var r stats.Clustered
			for row := range rows {
				p := c.rate(rng)
				for range c.times {
					r.Add(row, rng.Float64() < p)
				}
				if row%2 == 0 {
					r.Close(row)
				}
			}
			byRow.Add(r.Interval(0.95).Holds(c.truth))
			byRun.Add(r.Rate.Interval(0.95).Holds(c.truth))
		}
		t.Logf("%s: the interval by row covers in %s, that by run in %s", c.name, stats.Percent(byRow.Value()), stats.Percent(byRun.Value()))
		if byRow.Value() < 0.94 {
			t.Errorf("%s: covers in %v", c.name, byRow)
		}
		if c.times == 10 && byRun.Value() > 0.8 {
			t.Errorf("%s: the interval by run covers in %v: the test shows nothing", c.name, byRun)
		}
	}
}

func TestClusteredInterval(t *testing.T) {
	for name, c := range map[string]struct {
		rows []stats.Rate
		want string
	}{
		"none":                 {nil, `{"k":0,"n":0,"rate":null,"low":null,"high":null}`},
		"one run of each":      {[]stats.Rate{{K: 1, N: 1}, {K: 0, N: 1}}, `{"k":1,"n":2,"rate":0.5,"low":0.012579,"high":0.987421}`},
		"one row":              {[]stats.Rate{{K: 4, N: 5}}, `{"k":4,"n":5,"rate":0.8,"low":0,"high":1}`},
		"two rows":             {[]stats.Rate{{K: 1, N: 1}, {K: 1, N: 2}}, `{"k":2,"n":3,"rate":0.666667,"low":0,"high":1}`},
		"all of three rows":    {[]stats.Rate{{K: 9, N: 9}, {K: 9, N: 9}, {K: 9, N: 9}}, `{"k":27,"n":27,"rate":1,"low":0.292402,"high":1}`},
		"none of three rows":   {[]stats.Rate{{K: 0, N: 9}, {K: 0, N: 9}, {K: 0, N: 9}}, `{"k":0,"n":27,"rate":0,"low":0,"high":0.707598}`},
		"the same in each row": {[]stats.Rate{{K: 1, N: 2}, {K: 1, N: 2}, {K: 1, N: 2}}, `{"k":3,"n":6,"rate":0.5,"low":0.118117,"high":0.881883}`},
	} {
		var r stats.Clustered
		for row, one := range c.rows {
			for i := range one.N {
				r.Add(row, i < one.K)
			}
		}
		if got, err := json.Marshal(r); err != nil || string(got) != c.want {
			t.Errorf("%s: got %s, %v, want %s", name, got, err, c.want)
		}
	}
}
