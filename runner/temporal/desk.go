package temporal

import (
	"fmt"
	"slices"
	"strings"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// An Answer is a person's answer to a question.
type Answer struct {
	Question event.Path `json:"question,omitempty"` // the key of the question; "" if only one is open
	Value    any        `json:"value"`
	By       string     `json:"by,omitempty"`
}

// A desk delivers answers to waiting questions, from signals and updates.
type desk struct {
	open []*waiting
}

type waiting struct {
	engine.Asked
	answer *engine.Answer
}

func newDesk(ctx workflow.Context) *desk {
	d := &desk{}
	// Both fail only for a duplicate handler.
	_ = workflow.SetQueryHandlerWithOptions(ctx, QueryQuestions, func() ([]engine.Asked, error) { return d.asked(), nil },
		workflow.QueryHandlerOptions{Description: "the questions that wait for a person"})
	_ = workflow.SetUpdateHandlerWithOptions(ctx, SignalAnswer, func(_ workflow.Context, a Answer) error {
		return d.take(a)
	}, workflow.UpdateHandlerOptions{Description: "answers a question", Validator: func(a Answer) error {
		_, err := d.find(a)
		return err
	}})
	workflow.Go(ctx, func(ctx workflow.Context) {
		answers := workflow.GetSignalChannel(ctx, SignalAnswer)
		for {
			var a Answer
			if !answers.Receive(ctx, &a) || ctx.Err() != nil {
				return
			}
			if err := d.take(a); err != nil {
				workflow.GetLogger(ctx).Warn("an answer was not taken", "error", err)
			}
		}
	})
	return d
}

// asked returns the open questions in the order of their keys.
func (d *desk) asked() []engine.Asked {
	list := []engine.Asked{}
	for _, w := range d.open {
		if w.answer == nil {
			list = append(list, w.Asked)
		}
	}
	slices.SortFunc(list, func(a, b engine.Asked) int { return a.Path.Compare(b.Path) })
	return list
}

// find returns the question of an answer, or an error if the answer is invalid.
func (d *desk) find(a Answer) (*waiting, error) {
	var fit []*waiting
	for _, w := range d.open {
		if w.answer == nil && (a.Question == "" || a.Question == w.Path) {
			fit = append(fit, w)
		}
	}
	switch {
	case len(fit) == 0 && a.Question != "":
		return nil, temporal.NewNonRetryableApplicationError(fmt.Sprintf("no open question has the key %s", a.Question), refused, nil)
	case len(fit) == 0:
		return nil, temporal.NewNonRetryableApplicationError("no question is open", refused, nil)
	case len(fit) > 1:
		var keys []string
		for _, q := range d.asked() {
			keys = append(keys, string(q.Path))
		}
		return nil, temporal.NewNonRetryableApplicationError(runner.ErrSeveral.Error()+": "+strings.Join(keys, ", "), refused, nil)
	}
	if wrong := fit[0].Question.Problem(said(fit[0].Question, a.Value)); wrong != "" {
		return nil, temporal.NewNonRetryableApplicationError("the answer is none: "+wrong, refused, nil)
	}
	return fit[0], nil
}

// said returns an answer in the type of its question: "yes" becomes true.
func said(q engine.Question, value any) any {
	if text, isText := value.(string); isText {
		return q.ParseAnswer(text)
	}
	return value
}

func (d *desk) take(a Answer) error {
	w, err := d.find(a)
	if err != nil {
		return err
	}
	given := engine.Answer{Value: said(w.Question, a.Value), By: a.By}.WithCleanName()
	w.answer = &given
	return nil
}

// Ask waits for a person until the question expires.
func (h *host) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	if err := h.Stopped(); err != nil {
		return engine.Answer{}, err
	}
	d := h.run.desk
	w := &waiting{Asked: engine.Asked{Path: at, Question: q}}
	if q.Expires > 0 {
		w.Until = h.Now().Add(q.Expires)
	}
	d.open = append(d.open, w)
	h.setAttributes(engine.Waiting, q.Phase)
	h.keepQuestion()
	inTime, err := h.await(w)
	// Not deferred: a worker that evicts the workflow from its cache would run
	// the deferred call.
	d.open = slices.DeleteFunc(d.open, func(o *waiting) bool { return o == w })
	h.keepQuestion()
	switch stopped := h.Stopped(); {
	case err != nil && stopped != nil:
		return engine.Answer{}, stopped
	case err != nil:
		return engine.Answer{}, err
	case !inTime:
		return engine.Answer{Expired: true}, nil
	}
	h.setAttributes("running", q.Phase)
	return *w.answer, nil
}

// await waits until the question is answered or expires.
func (h *host) await(w *waiting) (inTime bool, err error) {
	answered := func() bool { return w.answer != nil }
	if w.Question.Expires > 0 {
		return workflow.AwaitWithTimeout(h.ctx, w.Question.Expires, answered)
	}
	return true, workflow.Await(h.ctx, answered)
}

// keepQuestion stores the open questions.
func (h *host) keepQuestion() {
	h.withKeeper(func(k Keeper) error {
		return k.SetWaiting(h.run.start.RunID, h.run.desk.asked())
	})
}
