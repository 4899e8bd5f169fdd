package model

import (
	"cmp"
	"time"
)

// Limits are those of the requests to an endpoint. A limit of 0 is the default.
type Limits struct {
	RequestsPerMinute int           // spread evenly; by default there is no limit
	Concurrency       int           // requests at the same time
	Timeout           time.Duration // the longest silence of the endpoint before a request ends
	Tries             int           // how often a request is sent at most
}

// Stricter returns the lower one of each limit.
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
