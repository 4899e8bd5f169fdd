package stats_test

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/seed61713e19/capstan/internal/measures/stats"
)

// estimate returns the estimate of k passed texts among n bad ones, drawn at random.
func estimate(k, n int) stats.Estimate {
	return stats.Tally{{Weight: 1, Texts: stats.Confusion{BadPassed: k, BadRefused: n - k}}}.FalsePass()
}

// boundary returns the maximum of false passes of a promoted gate after each number of bad texts,
// or -1.
func boundary(limit float64, looks int) []int {
	most, list := -1, make([]int, looks)
	for i := range list {
		for most < i && estimate(most+1, i+1).Upper(0.95) <= limit {
			most++
		}
		list[i] = most
	}
	return list
}

// promoted returns the exact chance that a gate with this rate is promoted until each look. There
// is a look after each bad text.
func promoted(rate float64, boundary []int) []float64 {
	chance := make([]float64, len(boundary))
	waiting := make([]float64, len(boundary)+1) // by false passes so far
	waiting[0] = 1
	sum := 0.0
	for i, most := range boundary {
		for k := min(i+1, 1000); k > 0; k-- { // more have no chance to count
			waiting[k] = waiting[k]*(1-rate) + waiting[k-1]*rate
		}
		waiting[0] *= 1 - rate
		for k := 0; k <= most; k++ {
			sum += waiting[k]
			waiting[k] = 0
		}
		chance[i] = sum
	}
	return chance
}

func after(chance []float64, share float64) int {
	for i, c := range chance {
		if c >= share {
			return i + 1
		}
	}
	return len(chance) + 1
}

// TestPromotionAtEveryLook: a gate whose false passes are at the limit of 5 % is promoted in at
// most 5 % of cases, with a look after each of 10,000 bad texts. Better gates are promoted soon.
// The chances are exact, not simulated.
func TestPromotionAtEveryLook(t *testing.T) {
	const looks = 10_000
	most := boundary(0.05, looks)
	wrong := promoted(0.05, most)[looks-1]
	perfect := after(promoted(0, most), 1)
	one, two := promoted(0.01, most), promoted(0.02, most)
	t.Logf("at the limit: promoted in %.2f %% of cases; labels to promotion: perfect %d; 1 %%: median %d, 90 %% %d; 2 %%: median %d, 90 %% %d",
		100*wrong, perfect, after(one, 0.5), after(one, 0.9), after(two, 0.5), after(two, 0.9))
	if wrong > 0.05 {
		t.Errorf("promoted at the limit in %.2f %% of cases", 100*wrong)
	}
	if perfect > 75 || after(one, 0.5) > 120 || after(one, 0.9) > 260 || after(two, 0.5) > 300 {
		t.Error("promotion takes too many labels")
	}
}

// cover returns the number of generated gates whose interval contains the true rate at every look,
// and the same number for the one-sided bound.
func cover(rng *rand.Rand, gates, looks int) (both, above int) {
	for range gates {
		rate, k := rng.Float64()*rng.Float64(), 0
		inside, below := true, true
		for n := 1; n <= looks && (inside || below); n++ {
			if rng.Float64() < rate {
				k++
			}
			e := estimate(k, n)
			inside = inside && e.Interval(0.95).Holds(rate)
			below = below && rate <= e.Upper(0.95)
		}
		if inside {
			both++
		}
		if below {
			above++
		}
	}
	return both, above
}

// TestCoverageAtEveryLook checks that the interval contains the true rate at every look.
func TestCoverageAtEveryLook(t *testing.T) {
	gates, looks := 60, 150
	if os.Getenv("CAPSTAN_SLOW") != "" {
		gates, looks = 1000, 1000
	}
	both, above := cover(rand.New(rand.NewPCG(1, 3)), gates, looks)
	t.Logf("of %d gates the interval holds at each of %d looks for %d, the bound for %d", gates, looks, both, above)
	if both < gates*95/100 || above < gates*95/100 {
		t.Error("covered too seldom")
	}
}

// TestWeightedCoverage checks the interval of weighted draws, half of which come from a small
// group.
func TestWeightedCoverage(t *testing.T) {
	gates, looks := 60, 150
	if os.Getenv("CAPSTAN_SLOW") != "" {
		gates, looks = 1000, 300
	}
	rng := rand.New(rand.NewPCG(2, 3))
	covered, mean := 0, 0.0
	for range gates {
		share := 0.1 + 0.2*rng.Float64()
		within, without := 0.5*rng.Float64(), 0.1*rng.Float64() // false passes in the group, and else
		rate := share*within + (1-share)*without
		var tally stats.Tally
		inside := true
		for range looks {
			d := stats.Draw{Order: stats.Disagreement, Probability: 0.5, Share: share}
			passes := within
			if rng.IntN(2) == 0 {
				d.Share, passes = 1-share, without
			}
			tally.Add(d.Weight(), false, rng.Float64() < passes)
			inside = inside && tally.FalsePass().Interval(0.95).Holds(rate)
		}
		mean += (tally.FalsePass().Value() - rate) / float64(gates)
		if inside {
			covered++
		}
	}
	t.Logf("of %d gates the interval holds at each look for %d; the estimate is off by %+.4f on average", gates, covered, mean)
	if covered < gates*95/100 || math.Abs(mean) > 0.02 {
		t.Error("weighted draws mislead")
	}
}

func TestEstimateInWords(t *testing.T) {
	weighted := stats.Tally{{Weight: 1, Texts: stats.Confusion{BadPassed: 1, BadRefused: 9}}, {Weight: 0.1, Texts: stats.Confusion{BadPassed: 10}}}
	for want, e := range map[string]stats.Estimate{
		"unknown":                              {},
		"70 of 262, 26.7 % (17.9-37.2)":        estimate(70, 262),
		"0 of 59, 0.0 % (0.0-6.9)":             estimate(0, 59),
		"11 of 20, 18.2 % weighted (3.0-61.0)": weighted.FalsePass(),
	} {
		if got := e.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for _, row := range []struct {
		e     stats.Estimate
		limit float64
		want  int
	}{{estimate(0, 68), 0.05, 0}, {estimate(0, 67), 0.05, 1}, {stats.Estimate{}, 0.05, 68}, {stats.Estimate{}, 0.02, 173}, {estimate(90, 100), 0.05, 2430}} {
		more := row.e.More(row.limit, 0.95)
		if more != row.want {
			t.Errorf("%s: %d more labels, want %d", row.e, more, row.want)
		}
		if more == 0 {
			continue
		}
		if estimate(row.e.K, row.e.N+more).Upper(0.95) > row.limit || estimate(row.e.K, row.e.N+more-1).Upper(0.95) <= row.limit {
			t.Errorf("%s: %d more labels are not what it takes", row.e, more)
		}
	}
}

// TestDraws checks the weights of draws.
func TestDraws(t *testing.T) {
	d := func(order string, probability, share float64) stats.Draw {
		return stats.Draw{Order: order, Probability: probability, Share: share}
	}
	for _, row := range []struct {
		draw stats.Draw
		want float64
	}{
		{d("random", 0, 0), 1}, {d("chosen", 0, 0), 0}, {stats.Draw{}, 0}, {d("disagreement", 1, 1), 1}, {d("disagreement", 1, 0.2), 0},
		{d("disagreement", 0.5, 0.2), 0.25}, {d("disagreement", 0.5, 0.8), 1}, {d("disagreement", 0.8, 0.2), 0.0625},
	} {
		if got := row.draw.Weight(); math.Abs(got-row.want) > 1e-6 {
			t.Errorf("%+v counts %g, want %g", row.draw, got, row.want)
		}
	}
}
