package pages

import "time"

// maxSpans is the maximum number of spans: more points would overlap on a narrow screen.
const maxSpans = 62

// cuts returns the bounds of the spans from since to until. The spans are days, or, if there
// are too many, weeks, months or years.
func cuts(since, until time.Time) []time.Time {
	since, until = since.UTC(), until.UTC()
	if until.Before(since) {
		until = since
	}
	for _, unit := range []struct {
		first               func(time.Time) time.Time
		years, months, days int
	}{{day, 0, 0, 1}, {week, 0, 0, 7}, {month, 0, 1, 0}, {year, 1, 0, 0}} {
		list := []time.Time{unit.first(since)}
		for at := list[0]; !at.After(until) && (len(list) <= maxSpans+1 || unit.years > 0); list = append(list, at) {
			at = at.AddDate(unit.years, unit.months, unit.days)
		}
		if len(list)-1 <= maxSpans || unit.years > 0 {
			return list
		}
	}
	return nil // not reached: years are the last unit
}

func day(t time.Time) time.Time {
	return time.Date(t.Year(), t.Month(), t.Day(), 0, 0, 0, 0, time.UTC)
}

func week(t time.Time) time.Time { return day(t).AddDate(0, 0, -(int(t.Weekday())+6)%7) }

func month(t time.Time) time.Time { return time.Date(t.Year(), t.Month(), 1, 0, 0, 0, 0, time.UTC) }
func year(t time.Time) time.Time  { return time.Date(t.Year(), 1, 1, 0, 0, 0, 0, time.UTC) }

// Word returns the span as a text.
func (s span) Word() string {
	last := s.Until.AddDate(0, 0, -1)
	switch {
	case !s.Until.After(s.From.AddDate(0, 0, 1)):
		return s.From.Format("2 Jan 2006")
	case !s.Until.After(s.From.AddDate(0, 0, 7)):
		return s.From.Format("2 Jan") + " to " + last.Format("2 Jan 2006")
	case s.From.AddDate(0, 1, 0).Equal(s.Until):
		return s.From.Format("January 2006")
	default:
		return s.From.Format("2006")
	}
}

// Short returns the span as a label of an axis.
func (s span) Short() string {
	switch {
	case !s.Until.After(s.From.AddDate(0, 0, 7)):
		return s.From.Format("2 Jan")
	case s.From.AddDate(0, 1, 0).Equal(s.Until):
		return s.From.Format("Jan 06")
	default:
		return s.From.Format("2006")
	}
}
