package journal

import (
	"context"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/clips"
	"github.com/seed61713e19/capstan/runner/model"
)

// Replay returns a model that answers from a recorded run. Each request gets
// the reply that was recorded at the same path, whatever the request says. A
// request without a recorded reply fails with a detailed message.
func (j *Journal) Replay(ctx context.Context, id string) (model.Model, error) {
	s, err := j.find(ctx, id)
	if err != nil {
		return nil, err
	}
	answers := map[string]*model.Response{}
	for e, err := range j.Effects(ctx, s.RunID) {
		if err != nil {
			return nil, err
		}
		if e.Response != nil {
			answers[string(e.Path)] = e.Response
		}
	}
	return model.Func(func(ctx context.Context, r model.Request) (model.Response, error) {
		if err := ctx.Err(); err != nil {
			return model.Response{}, err
		}
		// The key is the run's name and the path; either may contain a colon.
		for rest := r.Key; ; {
			var more bool
			if _, rest, more = strings.Cut(rest, ":"); !more {
				return model.Response{}, unrecorded(s.RunID, r)
			}
			if found, ok := answers[rest]; ok {
				resp := *found
				if resp.Failure != nil {
					failure := *resp.Failure
					resp.Failure = nil
					return resp, &failure
				}
				return resp, nil
			}
		}
	}), nil
}

// unrecorded returns the error for a request that the run never made.
func unrecorded(id string, r model.Request) *model.Failure {
	var b strings.Builder
	_, at, _ := strings.Cut(r.Key, ":")
	fmt.Fprintf(&b, "run %s has no answer recorded at %s; the request:\n  phase %s, attempt %d, turn %d", id, at, r.Phase, r.Attempt, r.Turn)
	if r.Validator != "" {
		fmt.Fprintf(&b, ", validator %s", r.Validator)
	}
	if r.Role != "" {
		fmt.Fprintf(&b, ", role %s", r.Role)
	}
	for i, m := range r.Messages {
		if hidden := len(r.Messages) - shownMessages; i > 0 && i <= hidden {
			if i == 1 {
				fmt.Fprintf(&b, "\n  … %d messages …", hidden)
			}
			continue
		}
		text := clips.Sized(m.Content, shownText)
		fmt.Fprintf(&b, "\n  %s: %s", m.Role, strings.ReplaceAll(text, "\n", "\n    "))
	}
	return &model.Failure{Class: model.Unscripted, Message: b.String()}
}

// Limits for the request in that error.
const (
	shownMessages = 6
	shownText     = 600
)
