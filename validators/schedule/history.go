package schedule

import (
	"database/sql"
	"fmt"
	"math"
	"time"
)

// history is the statistics of a creator's recent messages.
type history struct {
	prices sample
	hours  [24]float64 // earnings by the UTC hour of sending
	earned bool        // there were any earnings
}

// A sample is the running statistics of numbers, by Welford's method.
type sample struct {
	n                 int
	mean, squares     float64
	smallest, largest float64
}

func (s *sample) add(x float64) {
	if s.n++; s.n == 1 {
		s.smallest, s.largest = x, x
	}
	s.smallest, s.largest = min(s.smallest, x), max(s.largest, x)
	d := x - s.mean
	s.mean += d / float64(s.n)
	s.squares += d * (x - s.mean)
}

// deviation returns the sample standard deviation. It is exactly 0 for equal
// numbers.
func (s *sample) deviation() float64 {
	if s.n < 2 || s.smallest == s.largest {
		return 0
	}
	return math.Sqrt(s.squares / float64(s.n-1))
}

// average returns the mean. For equal numbers it is exactly that number.
func (s *sample) average() float64 {
	if s.smallest == s.largest {
		return s.smallest
	}
	return s.mean
}

const selectMessages = "SELECT message_type, price, earnings, sent_at FROM mass_messages WHERE creator_id = $1 AND sent_at >= $2 AND sent_at < $3"

// history reads the messages of the days before a week, and those of the week
// that are already sent. For a future week, the days before now count. A
// message at the exact limit of days counts.
func (t tx) history(creator string, week int, now time.Time, p *gatePolicy) (history, error) {
	from, to := now, now
	if week != noDay {
		start := time.Unix(int64(week)*86400, 0)
		if start.Before(now) {
			from = start
		}
		if end := start.AddDate(0, 0, 7); end.Before(now) {
			to = end
		}
	}
	from = from.AddDate(0, 0, -p.Limits.PriceDays).UTC()
	to = to.UTC()
	var h history
	// Times are stored as texts, so the query compares days and the code the
	// exact limits.
	err := t.each("messages of "+creator, selectMessages,
		[]any{creator, from.AddDate(0, 0, -1).Format(time.DateOnly), to.AddDate(0, 0, 2).Format(time.DateOnly)},
		func(scan func(...any) error) error {
			var kind, sent sql.NullString
			var price, earnings sql.NullFloat64
			if err := scan(&kind, &price, &earnings, &sent); err != nil {
				return err
			}
			at, ok := instant(sent.String)
			if !ok {
				return fmt.Errorf("sent_at %q is not a time", clip(sent.String))
			}
			if at.Before(from) || at.After(to) {
				return nil
			}
			if price.Valid && price.Float64 > 0 && p.ppvMessage(kind.String) {
				h.prices.add(price.Float64)
			}
			h.hours[at.Hour()] += earnings.Float64
			h.earned = h.earned || earnings.Float64 > 0
			return nil
		})
	return h, err
}
