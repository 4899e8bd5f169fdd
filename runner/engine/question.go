package engine

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/questions"
)

// A Question is put to a person, an Answer is that person's, and a Notice tells
// somebody of the question: a host gives it and does not wait for what comes of it. An
// Asked is an open question, with its key.
type (
	Question = questions.Question
	Answer   = questions.Answer
	Notice   = questions.Notice
	Asked    = questions.Asked
)

// errExpired is why a phase is left whose question nobody has answered in time.
var errExpired = errors.New("nobody has answered in time")

// put asks a person; without one the run waits.
func (v *visit) put(at event.Path, q Question) (Answer, error) {
	q.Path = at
	if q.Notice != nil {
		q.Notice.Run, q.Notice.Path, q.Notice.Key = v.s.RunID, at, v.key(at)
	}
	v.emit(event.Event{Kind: event.Waiting, Path: at, Phase: v.p.Name, Message: q.Prompt})
	answer, err := v.h.Ask(at, q)
	switch {
	case errors.Is(err, ErrSuspended):
		return answer, &Error{Code: Waiting, Path: at, Message: q.Prompt, Err: err}
	case err != nil:
		return answer, err
	}
	if wrong := q.Unfit(answer.Value); wrong != "" && !answer.Expired {
		return answer, failed(at, "the answer is none: %s", wrong)
	}
	told := event.Event{Kind: event.Answered, Path: at, Phase: v.p.Name, Output: answer.Value, By: answer.By}
	if answer.Expired {
		told.Output, told.By, told.Status = nil, "", event.Expired
	}
	v.emit(told)
	given := event.Answer{Path: at, Phase: v.p.Name, Question: q.Prompt, Value: told.Output, By: told.By, Expired: answer.Expired}
	v.s.Answers = append(v.s.Answers, given.Told())
	if answer.Expired {
		return answer, &Error{Code: Failed, Path: at, Check: "human_input", way: []string{"human_input"}, Message: fmt.Sprintf("human_input: nobody has answered within %s", q.Expires), Err: errExpired}
	}
	return answer, nil
}
