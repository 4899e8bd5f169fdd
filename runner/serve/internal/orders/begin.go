package orders

import (
	"sync"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/serve/internal/metrics"
)

// A beginning is the journal of one run. It reports whether the journal has stored the
// run.
type beginning struct {
	runner.Journal
	metrics *metrics.Metrics
	first   chan error // receives the result of the first call
	onStore func()     // called after the journal has stored the run
	mu      sync.Mutex
	done    bool
}

// Begin implements [runner.Journal].
func (b *beginning) Begin(s runner.Start) (runner.Recording, error) {
	done := b.metrics.Store("begin")
	r, err := b.Journal.Begin(s)
	done()
	b.report(err)
	return r, err
}

// Reopen implements [runner.Journal].
func (b *beginning) Reopen(id string) (runner.Recording, error) {
	done := b.metrics.Store("reopen")
	r, err := b.Journal.Reopen(id)
	done()
	b.report(err)
	return r, err
}

func (b *beginning) report(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err == nil {
		b.done = true
		b.onStore()
	}
	select {
	case b.first <- err:
	default:
	}
}

// stored reports whether the journal has stored the run.
func (b *beginning) stored() bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.done
}
