package model

import (
	"cmp"
	"time"
)

// Limits are limits for the requests to an endpoint. The zero value of a limit
// means its default.
type Limits struct {
	RequestsPerMinute int           // evenly distributed over the minute. Default: no limit
	Concurrency       int           // the maximum number of parallel requests
	Timeout           time.Duration // the maximum time without data from the endpoint
	Tries             int           // the maximum number of requests for one call
}

// Stricter returns the lower value of each limit.
func (l Limits) Stricter(m Limits) Limits {
	return Limits{
		lower(l.RequestsPerMinute, m.RequestsPerMinute), lower(l.Concurrency, m.Concurrency),
		lower(l.Timeout, m.Timeout), lower(l.Tries, m.Tries),
	}
}

func lower[T cmp.Ordered](a, b T) T {
	var none T
	if a == none || b == none {
		return max(a, b)
	}
	return min(a, b)
}
