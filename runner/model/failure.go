package model

import (
	"context"
	"fmt"
	"net/http"
	"time"
)

// Tries is the default number of times that a provider sends a request, the
// first one included.
const Tries = 4

// A Class is the reason for a failed call.
type Class string

// The classes of failure.
const (
	Unavailable Class = "unavailable" // no connection, 5xx or a stream that was cut, after all retries
	RateLimited Class = "rate_limited"
	TimedOut    Class = "timeout"
	Rejected    Class = "rejected"  // the endpoint rejects the request: 4xx, or no key is set
	Refused     Class = "refused"   // the model or a content filter refuses to answer
	Truncated   Class = "truncated" // the answer reached the token limit
	Unusable    Class = "unusable"  // the reply is not an answer: it has an unknown finish reason, or it exceeds a limit
	Empty       Class = "empty"     // the answer has no text and no calls
	Unscripted  Class = "unscripted"
	OverBudget  Class = "over_budget" // the budget of the run does not allow another request, see [Again]
)

// A Failure is the error of a call without an answer. It is never a verdict.
type Failure struct {
	Class      Class         `json:"class"`
	Status     int           `json:"status,omitempty"` // the HTTP status; 0 if there is none
	Message    string        `json:"message"`
	RetryAfter time.Duration `json:"-"` // the time that the endpoint asks to wait; 0 if it does not ask
}

// FailureOf returns the failure for an HTTP status.
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

// Again reserves another request after a failure. It returns a failure if the budget of
// the run does not allow the request, and nil otherwise.
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

// Temporary reports whether a repeated request may succeed.
func (f *Failure) Temporary() bool {
	switch f.Class {
	case Unavailable, RateLimited, TimedOut, Empty:
		return true
	}
	return false
}

// Error returns the class and the message.
func (f *Failure) Error() string {
	if f.Status != 0 {
		return fmt.Sprintf("model: %s (status %d): %s", f.Class, f.Status, f.Message)
	}
	return fmt.Sprintf("model: %s: %s", f.Class, f.Message)
}

// Wait sleeps for the duration. If ctx ends first, it returns the cause.
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
