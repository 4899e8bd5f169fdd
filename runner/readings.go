package runner

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/runner/event"
)

// A readings value has a cache of documents for each running attempt, so that the checks of an
// attempt read a text once.
type readings struct {
	mu     sync.Mutex
	recent []*attemptReadings // the most recently used one last
}

type attemptReadings struct {
	attempt event.Path
	reading.Cache
}

// maxReadings is the maximum number of attempts with a cache, for runs with more branches.
const maxReadings = 4

// in returns a context with the cache of the attempt that an effect belongs to.
func (r *readings) in(ctx context.Context, at event.Path) context.Context {
	attempt, found := attemptOf(at)
	if !found {
		return ctx
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	i := slices.IndexFunc(r.recent, func(a *attemptReadings) bool { return a.attempt == attempt })
	if i < 0 {
		if len(r.recent) == maxReadings {
			r.recent = slices.Delete(r.recent, 0, 1)
		}
		i = len(r.recent)
		r.recent = append(r.recent, &attemptReadings{attempt: attempt})
	}
	used := r.recent[i]
	copy(r.recent[i:], r.recent[i+1:])
	r.recent[len(r.recent)-1] = used
	return used.In(ctx)
}

// finished drops the cache of an attempt.
func (r *readings) finished(attempt event.Path) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = slices.DeleteFunc(r.recent, func(a *attemptReadings) bool { return a.attempt == attempt })
}

// attemptOf returns the path up to its last attempt.
func attemptOf(at event.Path) (attempt event.Path, found bool) {
	start := strings.LastIndex("/"+string(at), "/attempt[")
	if start < 0 {
		return "", false
	}
	end := strings.IndexByte(string(at[start:]), '/')
	if end < 0 {
		return at, true
	}
	return at[:start+end], true
}
