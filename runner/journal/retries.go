package journal

import (
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/seed61713e19/capstan/runner"
)

// retries are the ends of runs that could not be written. Until the end is stored, the
// run belongs to this living process, so other processes cannot resume it. So the write
// is retried from time to time, and when this process resumes the run.
type retries struct {
	retrying sync.Mutex // held during a retry
	mu       sync.Mutex
	writes   map[string]func() error // by the name of the run
	next     *time.Timer
}

// writeOrRetry returns the error of write, and retries it later if it failed.
func (j *Journal) writeOrRetry(run string, write func() error) error {
	err := write()
	if err == nil || errors.Is(err, runner.ErrRunTaken) {
		return err
	}
	o := &j.retries
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.writes == nil {
		o.writes = map[string]func() error{}
	}
	o.writes[run] = write
	if o.next == nil && !j.db.Closed.Load() {
		o.next = time.AfterFunc(j.db.Options.Patience/2, j.retryAll)
	}
	return err
}

func (o *retries) find(run string) func() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.writes[run]
}

// retry repeats the failed write of a run, if there is one.
func (j *Journal) retry(run string) error {
	o := &j.retries
	if o.find(run) == nil {
		return nil
	}
	o.retrying.Lock()
	defer o.retrying.Unlock()
	write := o.find(run)
	if write == nil {
		return nil
	}
	if err := write(); err != nil && !errors.Is(err, runner.ErrRunTaken) {
		return err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.writes, run)
	return nil
}

// retryAll repeats all failed writes, until the store is unavailable.
func (j *Journal) retryAll() {
	o := &j.retries
	o.mu.Lock()
	runs := slices.Collect(maps.Keys(o.writes))
	o.mu.Unlock()
	for _, run := range runs {
		if errors.Is(j.retry(run), runner.ErrAway) {
			break // the others would fail too
		}
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.next = nil; len(o.writes) > 0 && !j.db.Closed.Load() {
		o.next = time.AfterFunc(j.db.Options.Patience/2, j.retryAll)
	}
}

// stop drops the failed writes of a closed journal.
func (o *retries) stop() {
	o.mu.Lock()
	defer o.mu.Unlock()
	clear(o.writes)
	if o.next != nil {
		o.next.Stop()
		o.next = nil
	}
}
