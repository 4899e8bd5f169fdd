package measure

import "math"

// FalseAlarms is the number of verdicts that a [Chart] sees on average, at the
// least, between two alarms about a gate that is as it was, unless it is told
// another.
const FalseAlarms = 10_000

// shifts are what a chart looks for: the odds of a pass so many times what they
// were, or so many times less. A small one is found by many verdicts, a large
// one by few.
var shifts = [...]float64{1.5, 3, 9}

// A Chart follows a gate's verdicts and tells when the rate of its passes has left
// what it was. It is a CUSUM for each of the shifts that it looks for: the sum of
// the verdicts' log likelihood ratios between the shifted rate and the old one,
// from the lowest point so far, and an alarm where that passes a limit.
//
// The limit is log(m·a) of m such sums and an average run length of a: then the
// average number of verdicts to an alarm about a gate that has not changed is at
// least a, by Lorden's inequality (Annals of Mathematical Statistics 42, 1971),
// which the exponential of a CUSUM, being at most the Shiryaev-Roberts sum, keeps
// over several of them too. What the old rate was is itself only measured: each
// sum is made against the end of its exact interval that is nearer to the
// shifted rate, so that the promise holds for every old rate in the interval.
//
// The zero Chart never alarms.
type Chart struct {
	limit float64
	sums  []sum
	seen  int
	alarm int
	went  Course
}

// A sum is one CUSUM; pass and no are what one verdict adds to it.
type sum struct {
	pass, no float64
	now      float64
}

// NewChart makes a chart for a gate of which the baseline was measured, that
// alarms falsely once in that many verdicts on average at the most. Of an unknown
// baseline it never alarms.
func NewChart(baseline Rate, falseAlarms int) *Chart {
	c := &Chart{limit: math.Log(float64(2 * len(shifts) * max(falseAlarms, 1)))}
	if !baseline.Known() {
		return c
	}
	was := baseline.Interval(Confidence)
	for _, times := range shifts {
		c.watch(was.High, times)
		c.watch(was.Low, 1/times)
	}
	return c
}

// watch adds the sum for odds that are so many times those of the old rate. There
// is none for a rate that cannot move that way.
func (c *Chart) watch(old, times float64) {
	if old <= 0 || old >= 1 {
		return
	}
	odds := times * old / (1 - old)
	shifted := odds / (1 + odds)
	c.sums = append(c.sums, sum{pass: math.Log(shifted / old), no: math.Log((1 - shifted) / (1 - old))})
}

// Add follows one verdict and tells whether it is the first that raises the
// alarm.
func (c *Chart) Add(passed bool) bool {
	c.seen++
	for i := range c.sums {
		s := &c.sums[i]
		step := s.no
		if passed {
			step = s.pass
		}
		s.now = max(0, s.now+step)
		if s.now > c.limit && c.alarm == 0 {
			c.alarm = c.seen
		}
	}
	c.went.add(c.Level())
	return c.alarm == c.seen
}

// Alarm is the number of the verdict, from 1, that raised the alarm; 0 is none.
func (c *Chart) Alarm() int { return c.alarm }

// Level is how near the chart is to its alarm: from 0 to 1, and above 1 beyond it.
func (c *Chart) Level() float64 {
	level := 0.0
	for _, s := range c.sums {
		level = max(level, s.now/c.limit)
	}
	return level
}

// Course is how near the chart came to its alarm on its way.
func (c *Chart) Course() Course { return c.went }

// A Course is how near a [Chart] came to its alarm, verdict by verdict; of long ones
// the highest level of so many verdicts stands for them, so that no alarm is lost.
type Course struct {
	Every  int // verdicts of one level
	Levels []float64
	rest   int // verdicts that the last level lacks
}

// maxCourse is how many levels a course has at most.
const maxCourse = 400

func (c *Course) add(level float64) {
	if c.rest > 0 {
		c.rest--
		last := &c.Levels[len(c.Levels)-1]
		*last = max(*last, level)
		return
	}
	if len(c.Levels) == maxCourse {
		for i := range maxCourse / 2 {
			c.Levels[i] = max(c.Levels[2*i], c.Levels[2*i+1])
		}
		c.Levels, c.Every = c.Levels[:maxCourse/2], 2*c.Every
	}
	c.Every = max(c.Every, 1)
	c.Levels, c.rest = append(c.Levels, level), c.Every-1
}
