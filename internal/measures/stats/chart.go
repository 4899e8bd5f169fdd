package stats

import "math"

// FalseAlarms is the default of the minimum average number of verdicts between two false alarms of
// a [Chart].
const FalseAlarms = 10_000

// shifts are the changes that a chart finds: the odds of a pass are multiplied or divided by these
// numbers. A small shift takes many verdicts, a large shift few.
var shifts = [...]float64{1.5, 3, 9}

// A Chart follows the verdicts of a gate and raises an alarm when the rate of passes has changed.
// It is a CUSUM for each shift: the sum of the log likelihood ratios of the shifted rate and the
// old rate, from its lowest point. An alarm is a sum above the limit.
//
// The limit is log(m·a) for m sums and an average run length a. Then the average number of verdicts
// before a false alarm is at least a, by Lorden's inequality (Annals of Mathematical Statistics 42,
// 1971). It holds for several sums, because the exponential of a CUSUM is at most the
// Shiryaev-Roberts sum. The old rate is only measured. Therefore each sum uses the end of its exact
// interval that is nearer to the shifted rate.
//
// The zero Chart never raises an alarm.
type Chart struct {
	limit  float64
	sums   []sum
	seen   int
	alarm  int
	course Course
}

// A sum is one CUSUM, with its steps for a pass and a rejection.
type sum struct {
	pass, fail float64
	now        float64
}

// NewChart returns a chart for a gate with a baseline. falseAlarms is the minimum average number of
// verdicts between false alarms. With an unknown baseline, there is no alarm.
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

// watch adds the sum for odds that are this many times those of the old rate. It adds nothing if
// the old rate is 0 or 1.
func (c *Chart) watch(old, times float64) {
	if old <= 0 || old >= 1 {
		return
	}
	odds := times * old / (1 - old)
	shifted := odds / (1 + odds)
	c.sums = append(c.sums, sum{pass: math.Log(shifted / old), fail: math.Log((1 - shifted) / (1 - old))})
}

// Add adds a verdict and reports whether it raises the alarm.
func (c *Chart) Add(passed bool) bool {
	c.seen++
	for i := range c.sums {
		s := &c.sums[i]
		step := s.fail
		if passed {
			step = s.pass
		}
		s.now = max(0, s.now+step)
		if s.now > c.limit && c.alarm == 0 {
			c.alarm = c.seen
		}
	}
	c.course.add(c.Level())
	return c.alarm == c.seen
}

// Alarm returns the number of the verdict that raised the alarm, from 1, or 0.
func (c *Chart) Alarm() int { return c.alarm }

// Level returns the largest sum as a share of the limit. It is above 1 after the alarm.
func (c *Chart) Level() float64 {
	level := 0.0
	for _, s := range c.sums {
		level = max(level, s.now/c.limit)
	}
	return level
}

// Course returns the levels after each verdict.
func (c *Chart) Course() Course { return c.course }

// A Course contains the levels of a [Chart]. In a long course, the highest level of several
// verdicts stands for them, so that no alarm is lost.
type Course struct {
	Every  int // verdicts per level
	Levels []float64
	rest   int // missing verdicts of the last level
}

// maxCourse is the maximum number of levels.
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
