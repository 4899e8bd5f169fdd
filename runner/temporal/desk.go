package temporal

import (
	"fmt"
	"slices"
	"time"

	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/event"
)

// An Answer is what a person says to a question.
type Answer struct {
	Path  event.Path `json:"path,omitempty"` // of the question; "" where only one waits
	Value any        `json:"value"`
	By    string     `json:"by,omitempty"`
}

// An Asked is a question that waits.
type Asked struct {
	Path     event.Path      `json:"path"`
	Question engine.Question `json:"question"`
}

// A desk is where questions wait for answers, by signal or by update.
type desk struct {
	open []*waiting
}

type waiting struct {
	Asked
	until  time.Time // none: for ever
	answer *engine.Answer
}

func newDesk(ctx workflow.Context) *desk {
	d := &desk{}
	// Neither can fail but for two handlers of one name.
	_ = workflow.SetQueryHandlerWithOptions(ctx, QueryQuestions, func() ([]Asked, error) {
		list := []Asked{}
		for _, w := range d.open {
			list = append(list, w.Asked)
		}
		return list, nil
	}, workflow.QueryHandlerOptions{Description: "the questions that wait for a person"})
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

// find gives the question that an answer is to, and sees that it is one.
func (d *desk) find(a Answer) (*waiting, error) {
	var fit []*waiting
	for _, w := range d.open {
		if w.answer == nil && (a.Path == "" || a.Path == w.Path) {
			fit = append(fit, w)
		}
	}
	switch {
	case len(fit) == 0 && a.Path != "":
		return nil, temporal.NewNonRetryableApplicationError(fmt.Sprintf("no question waits at %s", a.Path), refused, nil)
	case len(fit) == 0:
		return nil, temporal.NewNonRetryableApplicationError("no question waits", refused, nil)
	case len(fit) > 1:
		return nil, temporal.NewNonRetryableApplicationError("several questions wait: say the path of one", refused, nil)
	}
	if wrong := fit[0].Question.Unfit(said(fit[0].Question, a.Value)); wrong != "" {
		return nil, temporal.NewNonRetryableApplicationError("the answer is none: "+wrong, refused, nil)
	}
	return fit[0], nil
}

// said is an answer as its question wants it: people write yes.
func said(q engine.Question, value any) any {
	if text, isText := value.(string); isText {
		return q.Said(text)
	}
	return value
}

func (d *desk) take(a Answer) error {
	w, err := d.find(a)
	if err != nil {
		return err
	}
	given := engine.Answer{Value: said(w.Question, a.Value), By: a.By}.Signed()
	w.answer = &given
	return nil
}

// Ask waits for a person, for as long as the question does.
func (h *host) Ask(at event.Path, q engine.Question) (engine.Answer, error) {
	if err := h.Stopped(); err != nil {
		return engine.Answer{}, err
	}
	d := h.run.desk
	w := &waiting{Asked: Asked{Path: at, Question: q}}
	if q.Expires > 0 {
		w.until = h.Now().Add(q.Expires)
	}
	d.open = append(d.open, w)
	h.noted(engine.Waiting, q.Phase)
	h.keepQuestion()
	inTime, err := h.await(w)
	// Not deferred: a worker that forgets a run for others unwinds it here.
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
	h.noted("running", q.Phase)
	return *w.answer, nil
}

// await waits until a question is answered, for as long as it takes answers.
func (h *host) await(w *waiting) (inTime bool, err error) {
	answered := func() bool { return w.answer != nil }
	if w.Question.Expires > 0 {
		return workflow.AwaitWithTimeout(h.ctx, w.Question.Expires, answered)
	}
	return true, workflow.Await(h.ctx, answered)
}

// keepQuestion tells the store which question waits, the first of several.
func (h *host) keepQuestion() {
	h.keep(func(k Keeper) error {
		run := h.run.start.RunID
		if open := h.run.desk.open; len(open) > 0 {
			return k.Waits(run, open[0].Path, open[0].Question, open[0].until)
		}
		return k.GoesOn(run)
	})
}
