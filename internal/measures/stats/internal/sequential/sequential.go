// Package sequential computes bounds of a rate that hold at every look. If you look after each draw
// and stop when the bound suits you, you are wrong as rarely as after a single look.
//
// # Method
//
// The capital is a bet against the claim that the rate is at least a limit p. It
// starts at 1, is multiplied by 1 + λw(p - x) for each draw x (1 a hit, 0 none) of
// weight w, and does not grow on average while the claim is true. By Ville's
// inequality it ever reaches 1/α with probability α at most. [Upper] is the
// smallest limit that the capital has refuted.
//
// The bets are a mixture of [bets]: λ = (1-m)/(1-(1-m)p) is the best stake if the odds of a hit are
// m times those of p. Of draws with weight 1 the capital is then the likelihood ratio of the two
// rates. The mixture is chosen by simulation. The largest parts are on rates far below the limit,
// where a promotion is decided. Small parts are on rates near the limit, so that intervals keep
// shrinking.
//
// # Weights
//
// Draws that favour some texts count with a weight, the chance of a uniform draw
// over the chance of the draw that was made, divided by the largest such weight.
// The weighted bet is fair under the same claim, whatever the favour hangs on, if
// it was fixed before the draw.
//
// # Literature
//
// J. Ville, Étude critique de la notion de collectif, 1939. H. Robbins, Statistical
// methods related to the law of the iterated logarithm, Annals of Mathematical
// Statistics 41 (1970): mixtures. I. Waudby-Smith, A. Ramdas, Estimating means of
// bounded random variables by betting, JRSS B 86 (2024), arXiv 2010.09686: bets. S.
// Shekhar and others, Risk-limiting financial audits via weighted sampling without
// replacement, UAI 2023, arXiv 2305.06884: weights.
package sequential

import "math"

// A Count is the draws of one weight, K hits of N. The weight must be above 0 and
// at most 1.
type Count struct {
	Weight float64
	K, N   int
}

// bets are the odds, as a multiple of the limit's, that each part of the starting
// capital is placed on.
var bets = [...]struct{ odds, part float64 }{{0, 0.36}, {0.1, 0.22}, {0.3, 0.2}, {0.5, 0.14}, {0.75, 0.05}, {0.92, 0.03}}

// capital returns the capital of the bets against a rate of at least limit.
func capital(counts []Count, limit float64) float64 {
	sum := 0.0
	for _, b := range bets {
		stake := (1 - b.odds) / (1 - (1-b.odds)*limit)
		grown := math.Log(b.part)
		for _, c := range counts {
			if c.N > c.K {
				grown += float64(c.N-c.K) * math.Log1p(c.Weight*stake*limit)
			}
			if c.K > 0 {
				grown += float64(c.K) * math.Log(max(0, 1-c.Weight*stake*(1-limit)))
			}
		}
		sum += math.Exp(grown)
	}
	return sum
}

// Upper returns the one-sided bound: with the confidence, the rate is at most the bound at every
// look.
func Upper(counts []Count, confidence float64) float64 {
	target := 1 / (1 - confidence)
	low, high := 0.0, 1.0
	for range 48 { // the capital grows with the limit
		if middle := (low + high) / 2; capital(counts, middle) >= target {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}

// Interval returns the two-sided interval: with the confidence, it contains the rate at every look.
func Interval(counts []Count, confidence float64) (low, high float64) {
	half := 1 - (1-confidence)/2
	misses := make([]Count, len(counts))
	for i, c := range counts {
		misses[i] = Count{c.Weight, c.N - c.K, c.N}
	}
	return 1 - Upper(misses, half), Upper(counts, half)
}

// More returns the number of further draws of weight 1 without a hit after which
// [Upper] is within limit. Its maximum is most.
func More(counts []Count, limit, confidence float64, most int) int {
	enough := func(n int) bool {
		return capital(append(counts[:len(counts):len(counts)], Count{1, 0, n}), limit) >= 1/(1-confidence)
	}
	low, high := -1, most
	for high-low > 1 {
		if middle := (low + high) / 2; enough(middle) {
			high = middle
		} else {
			low = middle
		}
	}
	return high
}
