package engine

import (
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/trace"
	"github.com/seed61713e19/capstan/runner/event"
)

// errExpired is the error of a question that nobody answered in time.
var errExpired = errors.New("nobody has answered in time")

// A history records the events of a run with questions to a person. It is safe
// for concurrent use.
type history struct {
	mu     sync.Mutex
	folder *trace.Folder
}

// newHistory returns nil for a cascade without such a question.
func newHistory(c *cascades.Cascade) *history {
	if !slices.ContainsFunc(c.EveryPhase(), func(p *cascades.Phase) bool { return p.Human != nil }) {
		return nil
	}
	return &history{folder: trace.NewFolder()}
}

// add adds an event, unless it is one of a call.
func (h *history) add(e event.Event) {
	if h == nil || e.Request != nil || e.Response != nil || e.Call != nil || e.Result != nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.folder.Add(e)
}

func (h *history) subject(question event.Path) *trace.Subject {
	if h == nil {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.folder.Run().Subject(question)
}

// put asks a person about the text of an attempt, "" for none. If no person can
// answer now, the run waits.
func (v *visit) put(at event.Path, q Question, about event.Path) (Answer, error) {
	q.Path = at
	if q.Notice != nil {
		q.Notice.Run, q.Notice.Path, q.Notice.Key = v.s.RunID, at, v.key(at)
	}
	v.emit(event.Event{Kind: event.Waiting, Path: at, Phase: v.p.Name, Message: q.Prompt, Released: about})
	q.Subject = v.history.subject(at)
	answer, err := v.h.Ask(at, q)
	switch {
	case errors.Is(err, ErrSuspended):
		return answer, &Error{Code: Waiting, Path: at, Message: q.Prompt, Err: err}
	case err != nil:
		return answer, err
	}
	if wrong := q.Problem(answer.Value); wrong != "" && !answer.Expired {
		return answer, failed(at, "the answer is none: %s", wrong)
	}
	answered := event.Event{Kind: event.Answered, Path: at, Phase: v.p.Name, Output: answer.Value, By: answer.By}
	if answer.Expired {
		answered.Output, answered.By, answered.Status = nil, "", event.Expired
	}
	v.emit(answered)
	given := event.Answer{Path: at, Phase: v.p.Name, Question: q.Prompt, Value: answered.Output, By: answered.By, Expired: answer.Expired}
	v.s.Answers = append(v.s.Answers, given.WithoutEdit())
	if answer.Expired {
		return answer, &Error{Code: Failed, Path: at, Check: "human_input", keyPath: []string{"human_input"}, Message: fmt.Sprintf("human_input: nobody has answered within %s", q.Expires), Err: errExpired}
	}
	return answer, nil
}
