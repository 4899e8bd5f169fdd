package engine

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/wards"
)

// ask puts the phase's question to a person. A no to a confirmation blocks; of
// an edit the text is all, and has been asked for.
func (v *visit) ask(r release) error {
	h := v.p.Human
	switch {
	case h == nil:
		return nil
	case h.Type == cascades.Edit:
		v.s.Set(h.StoreAs, r.text)
		return nil
	}
	at := v.at.Join("human_input")
	q, err := v.question(at, r.candidate)
	if err != nil {
		return err
	}
	answer, err := v.put(at, q)
	if err != nil {
		return err
	}
	if h.Type == cascades.Confirmation && answer.Value != true {
		return &Error{Code: Blocked, Path: at, Check: "human_input", way: []string{"human_input"}, told: "human_input: the person answered no", Message: "human_input: the person answered no to: " + q.Prompt}
	}
	v.s.Set(h.StoreAs, answer.Value)
	return nil
}

// askHuman puts a question of the model's, or of a phase without one, to a
// person. The answer is the tool's result, and in the state as long as the
// attempt's is.
func (v *visit) askHuman(at event.Path, t *cascades.Tool, call tool.Call) (tool.Result, error) {
	if wrong := t.Unfit(call.Arguments); wrong != "" {
		return tool.Fail(fmt.Errorf("arguments: %s", wrong)), nil
	}
	asked, _ := call.Arguments["question"].(string)
	q := Question{Phase: v.p.Name, Prompt: asked, Type: cascades.Text}
	if options, ok := call.Arguments["options"].([]any); ok {
		q.Type = cascades.Choice
		for _, one := range options {
			q.Options = append(q.Options, one.(string))
		}
	}
	answer, err := v.put(at.Join("question"), q)
	if err != nil {
		return tool.Result{}, err
	}
	v.s.Set(v.p.Name, answer.Value)
	return tool.Result{Value: answer.Value}, nil
}

// question is what the phase asks of a text.
func (v *visit) question(at event.Path, c candidate) (Question, error) {
	h := v.p.Human
	vars := v.vars(h.Prompt)
	vars["content"], vars["output"] = c.text, c.value
	prompt, err := h.Prompt.Render(vars)
	if err != nil {
		return Question{}, unread(at, "human_input", err)
	}
	q := Question{Phase: v.p.Name, Prompt: prompt, Type: h.Type, Options: h.Options, Expires: h.Expires}
	if h.Notify != nil {
		q.Notice = &Notice{To: h.Notify, Text: c.text}
	}
	return q, nil
}

// unanswered goes where on_expired says, where nobody has answered in time.
func (v *visit) unanswered(r release, err error) (release, error) {
	if errors.Is(err, errExpired) && v.p.Human.OnExpired != "" {
		return release{route: v.p.Human.OnExpired, left: fault(err).Message, broke: true}, nil
	}
	return r, err
}

// An edit is what a person makes of a text that was let out: an attempt like
// the model's, judged by the same checks.
type edit struct {
	of   candidate // the text that has passed
	text string    // what the person is shown: that, or the person's own last one
	noes string    // what checks said of that
}

// newEdit is the try in which a person changes the text of a release. The wards'
// budgets are the person's own.
func (v *visit) newEdit(r release) *try {
	t := v.newTry(v.at.Join("human_input"))
	if v.p.Compose != nil {
		t.budget = new(wards.Budget) // the person does not say the same again
	}
	t.edit = &edit{of: r.candidate, text: r.text}
	t.edit.of.chosen = r.route
	return t
}

// change has the person change the text.
func (t *try) change(c *candidate) error {
	at := t.place().at.Join("question")
	q, err := t.question(at, t.edit.of)
	if err != nil {
		return err
	}
	if q.Text = t.edit.text; q.Notice != nil {
		q.Notice.Text = q.Text
	}
	if t.edit.noes != "" {
		q.Prompt += "\n\nThis text was not accepted:\n" + t.edit.noes
	}
	answer, err := t.put(at, q)
	if err != nil {
		return err
	}
	return t.settle(c, answer.Value.(string))
}

// again shows the person what checks said of the text, to be changed once more.
func (t *try) again(c *candidate, failed []wards.Outcome) {
	t.edit.text, t.edit.noes = c.text, words.Reasons(failed)
	t.emit(event.Event{Kind: event.Feedback, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt, Message: t.edit.noes})
}
