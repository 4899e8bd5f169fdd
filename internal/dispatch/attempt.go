package dispatch

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/validators/request"
)

// An Outcome is the response that settled an attempt.
type Outcome struct {
	Attempt   int               `json:"attempt"`
	Response  *request.Response `json:"response"`
	Judgement request.Judgement `json:"judgement"`
	Synthetic bool              `json:"synthetic"` // no validator answered
}

// An Entry records an event of a task.
type Entry struct {
	Time      time.Time
	Attempt   int
	Event     Event
	By        string             // the validator_id of a response
	Note      string             // the reason
	Judgement *request.Judgement // of a response
	Response  *request.Response  // the accepted one
	Text      string             // the first 4 KiB of any other answer
}

// An Event is the kind of an entry.
type Event string

// The events.
const (
	Opened    Event = "opened"
	Asked     Event = "asked"     // a fresh validator was asked
	Repair    Event = "repair"    // a validator was asked to correct its answer
	TimedOut  Event = "timed_out" // a validator did not answer in time
	Crashed   Event = "crashed"
	Refused   Event = "refused"  // an answer was no response to the request
	Accepted  Event = "accepted" // a response settled the attempt
	GivenUp   Event = "given_up" // the attempt ended without a response
	Cancelled Event = "cancelled"
	Duplicate Event = "duplicate" // a response came after the accepted one
	Late      Event = "late"      // a response came after its time
)

// Limits for attempts and records.
const (
	maxTries   = 2 // validators of an attempt
	maxEntries = 100
	maxText    = 4 << 10
	maxNote    = 600
)

// An attempt waits for the response to one request. The dispatcher's mutex guards the
// fields after done.
type attempt struct {
	d       *Dispatcher
	task    *task
	number  int
	request *request.Request
	opened  time.Time
	done    chan struct{} // closed when the attempt is settled

	outcome  *Outcome // nil while the attempt is open
	tries    int
	repaired bool // a validator was asked to correct its answer, which happens once
	stop     func()
}

// log adds an entry. A full record drops the oldest entry after the first.
func (a *attempt) log(e Entry) {
	t := a.task
	if len(t.record) == maxEntries {
		copy(t.record[1:], t.record[2:])
		t.record = t.record[:maxEntries-1]
		t.dropped++
	}
	e.Time, e.Attempt = time.Now().UTC(), a.number
	e.By, e.Note = reports.Fit(e.By, maxNote), reports.Fit(e.Note, maxNote)
	e.Text = strings.ToValidUTF8(e.Text[:min(len(e.Text), maxText)], "\ufffd")
	t.record = append(t.record, e)
}

func (a *attempt) wait(ctx context.Context) (Outcome, error) {
	select {
	case <-a.done:
		return *a.outcome, nil
	case <-ctx.Done():
		return Outcome{}, fmt.Errorf("task %s: %w", a.request.TaskID, context.Cause(ctx))
	}
}

// options returns the options for judging a response.
func (a *attempt) options() (o request.Options) {
	if a.d.config.Judging != nil {
		o = a.d.config.Judging(a.request)
	}
	if o.Asked.IsZero() {
		o.Asked = a.opened
	}
	return o
}

// start begins a try: a fresh validator, if there is one, and a timer.
func (a *attempt) start() {
	a.tries++
	try := a.tries
	ctx, cancel := context.WithCancel(a.d.ctx)
	timer := time.AfterFunc(a.request.Timeout(), func() {
		a.d.mu.Lock()
		defer a.d.mu.Unlock()
		if a.outcome == nil && a.tries == try {
			a.fail(TimedOut, fmt.Sprintf("no validator answered within %s", a.request.Timeout()))
		}
	})
	a.stop = func() { timer.Stop(); cancel() }
	if a.d.config.Fresh != nil {
		a.log(Entry{Event: Asked})
		a.d.running.Go(func() { a.try(ctx, try) })
	}
}

// try calls a validator until it needs no repair.
func (a *attempt) try(ctx context.Context, number int) {
	var validate Validate
	var repair *request.ProtocolError
	for {
		text, err := func() (text []byte, err error) {
			defer func() {
				if broken := recover(); broken != nil {
					err = fmt.Errorf("panic: %v", broken)
				}
			}()
			if validate == nil {
				validate = a.d.config.Fresh()
			}
			return validate(ctx, a.request, repair)
		}()
		if repair = a.apply(number, text, err); repair == nil {
			return
		}
	}
}

// apply takes the answer of a try. It returns the problems that the validator must correct.
func (a *attempt) apply(try int, text []byte, crash error) *request.ProtocolError {
	var given *request.Response
	var j request.Judgement
	var broken *request.ProtocolError
	if crash == nil {
		given, j, broken = a.read(text)
	}
	a.d.mu.Lock()
	defer a.d.mu.Unlock()
	switch over := a.outcome != nil || try != a.tries; {
	case over && crash == nil && broken == nil:
		a.miss(text, given, j)
	case over:
	case crash != nil:
		a.fail(Crashed, "the validator crashed: "+crash.Error())
	case broken == nil:
		a.settle(Entry{Event: Accepted}, given, j)
	case a.repaired:
		a.log(Entry{Event: Refused, Note: broken.Error(), Text: string(text)})
		a.giveUp(GivenUp, "the validator did not answer with a response: "+broken.Error())
	default:
		a.repaired = true
		a.log(Entry{Event: Refused, Note: broken.Error(), Text: string(text)})
		a.log(Entry{Event: Repair})
		return broken
	}
	return nil
}

// read returns a response and its judgement, or the problems of a text that is not a response to
// the request.
func (a *attempt) read(text []byte) (*request.Response, request.Judgement, *request.ProtocolError) {
	a.d.reading <- struct{}{}
	defer func() { <-a.d.reading }()
	given, err := parse(text)
	if err != nil {
		return nil, request.Judgement{}, err.(*request.ProtocolError)
	}
	j := request.Judge(a.request, given, a.options())
	if j.Effective == "" { // a response to another task
		problem := request.Problem{Field: j.Issues[0].Location, Message: j.Issues[0].Message}
		return given, j, &request.ProtocolError{Of: "validation response", Problems: []request.Problem{problem}}
	}
	return given, j, nil
}

// fail ends a try and starts the next one, or gives up.
func (a *attempt) fail(e Event, reason string) {
	a.log(Entry{Event: e, Note: reason})
	a.stop()
	if a.d.config.Fresh == nil || a.tries == maxTries {
		a.giveUp(GivenUp, reason)
		return
	}
	a.start()
}

// giveUp settles an open attempt as BLOCKED, with a response of the dispatcher itself.
func (a *attempt) giveUp(e Event, reason string) {
	if a.outcome != nil {
		return
	}
	reason = reports.Fit(reason, maxNote)
	s := &request.Response{
		TaskID: a.request.TaskID, Verdict: request.Blocked, Reasoning: reason,
		Timestamp: time.Now().UTC(), ValidatorID: "capstan", Results: []request.Result{},
	}
	for _, c := range a.request.Criteria {
		s.Results = append(s.Results, request.Result{CriterionID: c.ID, Status: request.Blocked, Evidence: "not validated: " + reason})
	}
	a.settle(Entry{Event: e, Note: reason}, s, request.Judge(a.request, s, request.Options{}))
}

// settle ends an open attempt.
func (a *attempt) settle(e Entry, given *request.Response, j request.Judgement) {
	a.stop()
	e.By, e.Response, e.Judgement = given.ValidatorID, given, &j
	a.log(e)
	a.outcome = &Outcome{Attempt: a.number, Response: given, Judgement: j, Synthetic: e.Event != Accepted}
	a.d.retire(a.task)
	close(a.done)
}

// earlier reports whether a response answers an earlier attempt: its timestamp, which may be
// in whole seconds, lies between the first attempt and this one.
func (a *attempt) earlier(given *request.Response) bool {
	first := a.task.record[0].Time // the first entry is never dropped
	return given.Timestamp.After(first) && given.Timestamp.Before(a.opened.Truncate(time.Second))
}

// miss records a response that is not applied.
func (a *attempt) miss(text []byte, given *request.Response, j request.Judgement) (Event, request.Judgement) {
	e := Late
	if a.outcome != nil && !a.outcome.Synthetic {
		e = Duplicate
		j.Valid, j.Reason = false, "not applied, another response settled the task: "+j.Reason
	} else {
		j = j.Late()
	}
	a.log(Entry{Event: e, By: given.ValidatorID, Judgement: &j, Text: string(text)})
	return e, j
}
