package batch_test

import (
	"encoding/json"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/batch"
)

// Student's interval of equal numbers has no width. Shares of 0 and 1 have the exact interval. For
// other numbers, fewer than six equal ones have no interval.
func TestMean(t *testing.T) {
	all := func(v float64, n int) []float64 {
		list := make([]float64, n)
		for i := range list {
			list[i] = v
		}
		return list
	}
	for name, row := range map[string]struct {
		numbers []float64
		share   bool
		want    string
		differs bool
	}{
		"none":                  {nil, true, `null,"low":null,"high":null,"n":0`, false},
		"one":                   {all(0.5, 1), true, `0.5,"low":null,"high":null,"n":1`, false},
		"all of three":          {all(1, 3), true, `1,"low":0.292402,"high":1,"n":3`, true},
		"none of three":         {all(0, 3), true, `0,"low":0,"high":0.707598,"n":3`, false},
		"some of four":          {[]float64{1, 0, 0, 0}, true, `0.25,"low":0.006309,"high":0.80588,"n":4`, true},
		"half of each":          {all(0.5, 3), true, `0.5,"low":null,"high":null,"n":3`, false},
		"shares that differ":    {[]float64{1, 0.5, 1, 0.5}, true, `0.75,"low":0.290653,"high":1.209347,"n":4`, true},
		"five changes alike":    {all(1, 5), false, `1,"low":null,"high":null,"n":5`, false},
		"six changes alike":     {all(1, 6), false, `1,"low":1,"high":1,"n":6`, true},
		"six times no change":   {all(0, 6), false, `0,"low":0,"high":0,"n":6`, false},
		"changes that differ":   {[]float64{1, 2, 3}, false, `2,"low":-0.484138,"high":4.484138,"n":3`, false},
		"as seldom as it seems": {[]float64{-1, -1, 0, -1, -1, -1, -1, -1}, false, `-0.875,"low":-1.170578,"high":-0.579422,"n":8`, true},
	} {
		var m batch.Mean
		for _, v := range row.numbers {
			m.Add(v)
		}
		e := m.Estimate(row.share)
		got, err := json.Marshal(e)
		if want := `{"value":` + row.want + `}`; err != nil || string(got) != want || e.Differs() != row.differs {
			t.Errorf("%s: got %s, differs %v, want %s, %v", name, got, e.Differs(), want, row.differs)
		}
	}
}
