package request

import (
	"context"
	"fmt"
	"time"
)

// A Runner validates one request. It is made afresh for each try, and asked a
// second time only to mend its answer.
type Runner interface {
	// Validate gives the text of a response. An error, or a panic, is a crash
	// of the validator. When ctx is done nobody waits for it any more, and it
	// has to come back soon. With repair its last answer was no response to the
	// request, in the places named. It must not change r.
	Validate(ctx context.Context, r *Request, repair *ProtocolError) ([]byte, error)
}

// A RunnerFunc is a function as a [Runner].
type RunnerFunc func(ctx context.Context, r *Request, repair *ProtocolError) ([]byte, error)

// Validate calls f.
func (f RunnerFunc) Validate(ctx context.Context, r *Request, repair *ProtocolError) ([]byte, error) {
	return f(ctx, r, repair)
}

// A seat is where the runner of one try sits: made at its first call, and there
// for its second.
type seat struct {
	fresh  func() Runner
	runner Runner
}

func (s *seat) call(ctx context.Context, r *Request, repair *ProtocolError) (text []byte, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			text, err = nil, fmt.Errorf("panic: %v", broken)
		}
	}()
	if s.runner == nil {
		s.runner = s.fresh()
	}
	return s.runner.Validate(ctx, r, repair)
}

// selfID is the validator_id of responses that no validator gave.
const selfID = "capstan"

// Synthetic is the response to a request that no validator has answered:
// BLOCKED, for a reason, at a time. Its validator_id is "capstan".
func Synthetic(r *Request, reason string, at time.Time) *Response {
	reason = clean(reason, maxText)
	s := &Response{TaskID: r.TaskID, Verdict: Blocked, Reasoning: reason, Timestamp: at.UTC(), ValidatorID: selfID, Results: []Result{}}
	for _, c := range r.Criteria {
		s.Results = append(s.Results, Result{CriterionID: c.ID, Status: Unreachable, Evidence: "not validated: " + reason})
	}
	return s
}
