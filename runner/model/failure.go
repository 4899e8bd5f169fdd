package model

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Tries is how often a provider asks in all, the first time included, before
// a failure that may pass is final.
const Tries = 4

// A Class says why there is no answer.
type Class string

// The classes of failure.
const (
	Unavailable Class = "unavailable" // not reachable, 5xx, a cut stream: after all retries
	RateLimited Class = "rate_limited"
	TimedOut    Class = "timeout"
	Rejected    Class = "rejected"  // the endpoint refuses the request: 4xx, no key
	Refused     Class = "refused"   // the model or a content filter refuses to answer
	Truncated   Class = "truncated" // the answer hit the token limit
	Unusable    Class = "unusable"  // something was said that is no answer: it did not end by itself, or is beyond all bounds
	Empty       Class = "empty"     // nothing was said
	Unscripted  Class = "unscripted"
	OverBudget  Class = "over_budget" // the budget of the run forbids to ask again: see [Again]
)

// A Failure is an answer that did not come. It is infrastructure, never a
// verdict.
type Failure struct {
	Class      Class         `json:"class"`
	Status     int           `json:"status,omitempty"` // the HTTP status, where there was one
	Message    string        `json:"message"`
	RetryAfter time.Duration `json:"-"` // how long the endpoint asks to be left alone, where it says so
}

// FailureOf is the failure that an HTTP status means.
func FailureOf(status int, message string) *Failure {
	f := &Failure{Class: Rejected, Status: status, Message: message}
	switch {
	case status == http.StatusTooManyRequests:
		f.Class = RateLimited
	case status == http.StatusRequestTimeout:
		f.Class = TimedOut
	case status == http.StatusConflict, status == http.StatusTooEarly, status >= 500:
		f.Class = Unavailable
	}
	return f
}

// Again reserves the call that sends a request again after a failure. If the budget of
// the run forbids the call, Again returns a failure that says so, and why the last try
// failed; otherwise nil.
func Again(r Request, last *Failure) *Failure {
	if r.More == nil {
		return nil
	}
	bound := r.More()
	if bound == "" {
		return nil
	}
	message := bound + " is spent: the request was not sent again after: " + last.Message
	return &Failure{Class: OverBudget, Status: last.Status, Message: message}
}

// Temporary says whether the same request may be answered if it is sent again.
func (f *Failure) Temporary() bool {
	switch f.Class {
	case Unavailable, RateLimited, TimedOut, Empty:
		return true
	}
	return false
}

// Error gives the class and the message.
func (f *Failure) Error() string {
	if f.Status != 0 {
		return fmt.Sprintf("model: %s (status %d): %s", f.Class, f.Status, f.Message)
	}
	return fmt.Sprintf("model: %s: %s", f.Class, f.Message)
}

// Wait waits, as before a call that is made again. An error is why ctx has ended.
func Wait(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
