package request

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// An Outcome is what settled an attempt.
type Outcome struct {
	Attempt   int       `json:"attempt"`
	Response  *Response `json:"response"`
	Judgement Judgement `json:"judgement"`
	Synthetic bool      `json:"synthetic"` // no validator has answered
}

// maxValidators is how many validators an attempt sends: a second one where the
// first timed out or crashed.
const maxValidators = 2

// An attempt is one try to get a response to a request. All but its request and
// number is guarded by the dispatcher's mutex.
type attempt struct {
	d       *Dispatcher
	task    *task
	number  int
	request *Request
	opened  time.Time
	done    chan struct{} // closed when it is settled
	outcome *Outcome      // nil while it is open

	validators int                // how many were sent
	calls      int                // how often they were asked; an answer to an earlier call is late
	repaired   bool               // one was asked to mend its answer, which is done once
	stop       context.CancelFunc // stops the validator; nil without one
	timer      *time.Timer
}

// settled is true of the attempt before the first.
func (a *attempt) settled() bool { return a.outcome != nil || a.number == 0 }

func (a *attempt) log(e Entry) {
	e.Attempt = a.number
	a.task.record.add(e)
}

func (a *attempt) wait(ctx context.Context) (Outcome, error) {
	select {
	case <-a.done:
		return *a.outcome, nil
	case <-ctx.Done():
		return Outcome{}, fmt.Errorf("task %s: %w", a.request.TaskID, context.Cause(ctx))
	}
}

// fresh sends a validator, and waits for it as long as the request says.
func (a *attempt) fresh() {
	a.validators++
	number := a.validators
	a.timer = time.AfterFunc(a.request.Timeout(), func() { a.expire(number) })
	if a.d.config.Fresh == nil {
		return
	}
	ctx, stop := context.WithCancel(a.d.ctx)
	a.stop = stop
	a.log(Entry{Event: Asked})
	a.ask(ctx, &seat{fresh: a.d.config.Fresh}, nil)
}

// ask calls a validator and hears what it says.
func (a *attempt) ask(ctx context.Context, s *seat, repair *ProtocolError) {
	a.calls++
	call := a.calls
	a.d.running.Go(func() {
		text, err := s.call(ctx, a.request, repair)
		if broken := a.hear(call, text, err); broken != nil {
			a.again(ctx, s, call, broken)
		}
	})
}

// hear takes the answer to a call. Where it is no response to the request, and
// the call is still the one that counts, it says what is wrong.
func (a *attempt) hear(call int, text []byte, crash error) *ProtocolError {
	given, j, broken := a.read(text, crash)
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	switch {
	case a.settled() || call != a.calls:
		if crash == nil && broken == nil {
			a.missed(text, given, j)
		}
	case crash != nil:
		a.fail(Crashed, "the validator crashed: "+crash.Error())
	case broken != nil:
		a.log(Entry{Event: Refused, Note: broken.Error(), Text: kept(text)})
		return broken
	default:
		a.settle(Entry{Event: Accepted}, given, j)
	}
	return nil
}

// read gives a response and its judgement, or what is wrong with it.
func (a *attempt) read(text []byte, crash error) (*Response, Judgement, *ProtocolError) {
	if crash != nil {
		return nil, Judgement{}, nil
	}
	a.d.reading <- struct{}{}
	defer func() { <-a.d.reading }()
	given, err := parseBounded(text)
	if err != nil {
		return nil, Judgement{}, err.(*ProtocolError)
	}
	j := Judge(a.request, given, a.options())
	if !j.Counts() {
		issue := j.Issues[0]
		return given, j, &ProtocolError{Of: "validation response", Problems: []Problem{{issue.Location, issue.Message}}}
	}
	return given, j, nil
}

// again asks a validator once to mend its answer.
func (a *attempt) again(ctx context.Context, s *seat, call int, broken *ProtocolError) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	switch {
	case a.settled() || call != a.calls:
	case a.repaired || a.d.closed:
		a.giveUp(GivenUp, "the validator did not answer with a response: "+broken.Error())
	default:
		a.repaired = true
		a.log(Entry{Event: Repair})
		a.ask(ctx, s, broken)
	}
}

// expire ends the wait for a validator.
func (a *attempt) expire(number int) {
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	if !a.settled() && a.validators == number {
		a.fail(TimedOut, fmt.Sprintf("no validator answered within %s", a.request.Timeout()))
	}
}

// fail sends another validator where there is one left.
func (a *attempt) fail(e Event, why string) {
	a.log(Entry{Event: e, Note: why})
	a.end()
	if a.d.config.Fresh == nil || a.validators == maxValidators || a.d.closed {
		a.giveUp(GivenUp, why)
		return
	}
	a.fresh()
}

// end stops the validator. What it may still say is late: the attempt is
// settled then, or another call counts.
func (a *attempt) end() {
	a.timer.Stop()
	if a.stop != nil {
		a.stop()
	}
}

// giveUp settles an open attempt with a synthetic response.
func (a *attempt) giveUp(e Event, why string) {
	if a.settled() {
		return
	}
	s := Synthetic(a.request, why, time.Now())
	a.settle(Entry{Event: e, Note: why}, s, Judge(a.request, s, Options{}))
}

// settle ends an open attempt.
func (a *attempt) settle(e Entry, given *Response, j Judgement) {
	a.end()
	e.By, e.Response, e.Judgement = given.ValidatorID, given, &j
	a.log(e)
	a.outcome = &Outcome{Attempt: a.number, Response: given, Judgement: j, Synthetic: e.Event != Accepted}
	a.d.retire(a.task)
	close(a.done)
}

// earlier tells whether a response answers an attempt before this one: by its
// timestamp, which may be of whole seconds, it was finished since the task is
// known and before this attempt was opened. An older one tells of a clock, not
// of an attempt.
func (a *attempt) earlier(given *Response) bool {
	first := a.task.record.Entries[0].Time // the first entry is never dropped
	return given.Timestamp.After(first) && given.Timestamp.Before(a.opened.Truncate(time.Second))
}

// missed records a response that is not applied.
func (a *attempt) missed(text []byte, given *Response, j Judgement) (Event, Judgement) {
	e := TooLate
	if a.settled() && !a.outcome.Synthetic {
		e = Duplicate
		j.Valid, j.Reason = false, "not applied, for another response has settled the task: "+j.Reason
	} else {
		j = j.late()
	}
	a.log(Entry{Event: e, By: given.ValidatorID, Judgement: &j, Text: kept(text)})
	return e, j
}

// A Standing is where a task stands.
type Standing struct {
	TaskID  string    `json:"task_id"`
	Attempt int       `json:"attempt"` // the newest
	Open    bool      `json:"open"`
	Opened  time.Time `json:"opened"`
	Outcome *Outcome  `json:"outcome,omitempty"` // of a settled attempt; must not be changed
}

// Status tells where a task stands; one that is not known is [ErrUnknown].
func (d *Dispatcher) Status(taskID string) (Standing, error) {
	a, err := d.attempt(taskID)
	if err != nil {
		return Standing{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	return Standing{a.request.TaskID, a.number, !a.settled(), a.opened, a.outcome}, nil
}

// Record gives what happened to a task, a copy; one that is not known is
// [ErrUnknown].
func (d *Dispatcher) Record(taskID string) (Record, error) {
	a, err := d.attempt(taskID)
	if err != nil {
		return Record{}, err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	r := a.task.record
	r.Entries = slices.Clone(r.Entries)
	return r, nil
}
