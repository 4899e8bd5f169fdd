package stats

// A Clustered is a rate of trials in clusters. The runs of one row of a dataset are a cluster. They
// are alike, so ten of them show less than one run of ten rows.
type Clustered struct {
	Rate
	open   map[int]Rate
	closed clusters
}

// clusters are the sums over clusters that the interval needs.
type clusters struct{ n, kk, kn, nn float64 }

func (c clusters) with(r Rate) clusters {
	k, n := float64(r.K), float64(r.N)
	return clusters{c.n + 1, c.kk + k*k, c.kn + k*n, c.nn + n*n}
}

// Add adds a trial of a cluster. A hit adds 1 to K.
func (c *Clustered) Add(cluster int, hit bool) {
	c.Rate.Add(hit)
	if c.open == nil {
		c.open = map[int]Rate{}
	}
	r := c.open[cluster]
	r.Add(hit)
	c.open[cluster] = r
}

// Close ends a cluster and keeps its sums.
func (c *Clustered) Close(cluster int) {
	if r, there := c.open[cluster]; there {
		c.closed = c.closed.with(r)
		delete(c.open, cluster)
	}
}

// Interval returns the interval of Korn and Graubard ("Confidence Intervals for Proportions with
// Small Expected Number of Positive Counts Estimated from Survey Data", Survey Methodology 24,
// 1998): the interval of Clopper and Pearson for the number of independent trials with the same
// variance. It is exact for clusters of one trial. If all trials are hits, or all are misses, a
// cluster counts as one trial. If the trials show less than one independent trial, the interval is
// 0 to 1.
func (c Clustered) Interval(confidence float64) Interval {
	all := c.closed
	for _, r := range c.open {
		all = all.with(r)
	}
	n, p := float64(c.N), c.Value()
	switch {
	case c.N == 0 || all.nn == n:
		return c.Rate.Interval(confidence)
	case all.n < 2:
		return Interval{0, 1}
	}
	independent := all.n
	if c.K > 0 && c.K < c.N {
		independent = n
		spread := max(all.kk-2*p*all.kn+p*p*all.nn, 0)
		if variance := all.n / (all.n - 1) * spread / n / n; variance > 0 {
			few := Student(c.N, confidence) / Student(int(all.n), confidence)
			independent = min(n, p*(1-p)/variance*few*few)
		}
	}
	if independent < 1 {
		return Interval{0, 1}
	}
	return proportion(p*independent, independent, (1-confidence)/2)
}

// String returns the rate with the interval of the clusters.
func (c Clustered) String() string {
	if !c.Known() {
		return c.Rate.String()
	}
	return c.with(c.Interval(Confidence))
}

// MarshalJSON writes the rate with the interval of the clusters.
func (c Clustered) MarshalJSON() ([]byte, error) {
	return marshal(c.Rate, c.Value(), c.Interval(Confidence))
}
