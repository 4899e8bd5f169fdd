package stats

import "math"

// betaQuantile returns the x for which [regularizedBeta] is p. It halves the interval
// until no number lies between its ends. The parameters a and b must be above 0.
func betaQuantile(a, b, p float64) float64 {
	low, high := 0.0, 1.0
	for {
		middle := (low + high) / 2
		switch {
		case middle == low || middle == high:
			return middle
		case regularizedBeta(a, b, middle) < p:
			low = middle
		default:
			high = middle
		}
	}
}

// regularizedBeta returns the regularized incomplete beta function I_x(a, b) for an x
// between 0 and 1: the continued fraction of DLMF 8.17.22, evaluated by the modified
// method of Lentz. It converges fast on the left of the mean. On the right, the
// function uses the symmetry I_x(a, b) = 1 - I_{1-x}(b, a).
func regularizedBeta(a, b, x float64) float64 {
	if x > (a+1)/(a+b+2) {
		return 1 - regularizedBeta(b, a, 1-x)
	}
	const tiny, precision = 1e-300, 1e-15
	c, d, f := 1.0, 0.0, 1.0
	for i := 0; i < 100_000; i++ {
		m := float64(i / 2)
		term := -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1)) // of odd number 2m+1
		switch {
		case i == 0:
			term = 1
		case i%2 == 0:
			term = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		}
		d = 1 / apart(1+term*d, tiny)
		c = apart(1+term/c, tiny)
		f *= c * d
		if math.Abs(c*d-1) < precision {
			break
		}
	}
	return math.Exp(logBeta(a, b)+a*math.Log(x)+b*math.Log1p(-x)) / a * (f - 1)
}

// apart returns v, or tiny if v is closer to 0.
func apart(v, tiny float64) float64 {
	if math.Abs(v) < tiny {
		return tiny
	}
	return v
}

// logBeta returns the logarithm of 1/B(a, b).
func logBeta(a, b float64) float64 {
	both, _ := math.Lgamma(a + b)
	left, _ := math.Lgamma(a)
	right, _ := math.Lgamma(b)
	return both - left - right
}
