package journal

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner"
)

// owed is what runs have come to that could not be written. As long as it is not in the
// store a run has this living process for its owner, and nobody could go on with it: so
// it is tried again now and then, and when somebody goes on with the run here.
type owed struct {
	paying sync.Mutex // held while something is tried again
	mu     sync.Mutex
	of     map[string]func() error // what writes it, by the run's name
	next   *time.Timer
}

// owe gives what write does, which is tried again later where it could not be done.
func (j *Journal) owe(run string, write func() error) error {
	err := write()
	if err == nil || errors.Is(err, runner.ErrRunTaken) {
		return err
	}
	o := &j.owed
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.of == nil {
		o.of = map[string]func() error{}
	}
	o.of[run] = write
	if o.next == nil && !j.closed.Load() {
		o.next = time.AfterFunc(j.options.patience/2, j.payAll)
	}
	return err
}

func (o *owed) find(run string) func() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.of[run]
}

// pay writes what is owed of a run, where something is.
func (j *Journal) pay(run string) error {
	o := &j.owed
	if o.find(run) == nil {
		return nil
	}
	o.paying.Lock()
	defer o.paying.Unlock()
	write := o.find(run)
	if write == nil {
		return nil
	}
	if err := write(); err != nil && !errors.Is(err, runner.ErrRunTaken) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.of, run)
	return nil
}

// payAll writes what is owed, as far as the store takes it.
func (j *Journal) payAll() {
	o := &j.owed
	o.mu.Lock()
	runs := slices.Collect(maps.Keys(o.of))
	o.mu.Unlock()
	for _, run := range runs {
		if errors.Is(j.pay(run), runner.ErrAway) {
			break // nor does it take the others
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next = nil; len(o.of) > 0 && !j.closed.Load() {
		o.next = time.AfterFunc(j.options.patience/2, j.payAll)
	}
}

// forget lets go of what is owed: of a journal that is closed nobody waits for it.
func (o *owed) forget() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.of)
	if o.next != nil {
		o.next.Stop()
		o.next = nil
	}
}
