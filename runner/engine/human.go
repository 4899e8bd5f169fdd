package engine

import (
	"errors"
	"fmt"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// ask puts the phase's question to a person. The answer no to a confirmation
// blocks the run. Edits are handled elsewhere.
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
	answer, err := v.put(at, q, r.at)
	if err != nil {
		return err
	}
	if h.Type == cascades.Confirmation && answer.Value != true {
		return &Error{Code: Blocked, Path: at, Check: "human_input", keyPath: []string{"human_input"}, publicMessage: "human_input: the person answered no", Message: "human_input: the person answered no to: " + q.Prompt}
	}
	v.s.Set(h.StoreAs, answer.Value)
	return nil
}

// askHuman asks a person on behalf of a model or of a phase without one. The
// answer is the tool's result. It stays in the state as long as the attempt's
// state does.
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
	answer, err := v.put(at.Join("question"), q, "")
	if err != nil {
		return tool.Result{}, err
	}
	v.s.Set(v.p.Name, answer.Value)
	return tool.Result{Value: answer.Value}, nil
}

// question returns the phase's question about a text.
func (v *visit) question(at event.Path, c candidate) (Question, error) {
	h := v.p.Human
	vars := v.vars(h.Prompt)
	vars["content"], vars["output"] = c.text, c.value
	prompt, err := h.Prompt.Render(vars)
	if err != nil {
		return Question{}, unreadable(at, "human_input", err)
	}
	q := Question{Phase: v.p.Name, Prompt: prompt, Type: h.Type, Options: h.Options, Expires: h.Expires}
	if h.Notify != nil {
		q.Notice = &Notice{To: h.Notify}
	}
	return q, nil
}

// unanswered applies on_expired to a question that nobody answered in time.
func (v *visit) unanswered(r release, err error) (release, error) {
	if errors.Is(err, errExpired) && v.p.Human.OnExpired != "" {
		return release{route: v.p.Human.OnExpired, left: fault(err).Message, broke: true}, nil
	}
	return r, err
}

// An edit is a person's change of a released text. It is an attempt like the
// model's, and the same checks judge it.
type edit struct {
	of   candidate  // the text that passed
	text string     // shown to the person: the released text or the person's last edit
	at   event.Path // the attempt with that text
	noes string     // the reasons of the checks that failed on the last edit
}

// newEdit returns the try in which a person edits the text of a release. It has
// its own budgets.
func (v *visit) newEdit(r release) *try {
	t := v.newTry(v.at.Join("human_input"))
	if v.p.Compose != nil {
		t.budget = new(wards.Budget) // a person does not repeat a refused text
	}
	t.edit = &edit{of: r.candidate, text: r.text, at: r.at}
	t.edit.of.chosen = r.route
	return t
}

// change asks the person for the edited text.
func (t *try) change(c *candidate) error {
	at := t.place().at.Join("question")
	q, err := t.question(at, t.edit.of)
	if err != nil {
		return err
	}
	q.Text = t.edit.text
	if t.edit.noes != "" {
		q.Prompt += "\n\nThis text was not accepted:\n" + t.edit.noes
	}
	answer, err := t.put(at, q, t.edit.at)
	if err != nil {
		return err
	}
	return t.settle(c, answer.Value.(string))
}

// again prepares the next edit, with the reasons of the failed checks.
func (t *try) again(c *candidate, failed []wards.Outcome) {
	t.edit.text, t.edit.at, t.edit.noes = c.text, c.at, messages.Reasons(failed)
	t.emit(event.Event{Kind: event.Feedback, Path: t.place().at, Phase: t.p.Name, Attempt: t.attempt, Message: t.edit.noes})
}
