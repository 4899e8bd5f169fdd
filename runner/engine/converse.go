package engine

import (
	"cmp"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/shared"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/wards"
)

// converse has the turns of one attempt and leaves the last one's text in c.
func (t *try) converse(c *candidate) error {
	for turn := 0; turn < t.p.Rules.MaxTurns; turn++ {
		t.turn = turn
		if turn > 0 {
			if err := t.prompted(); err != nil {
				return err
			}
		}
		if err := t.take(c); err != nil || c.spent != nil {
			return err
		}
		// The last turn's text is judged with the attempt.
		if t.p.Rules.Loop == nil || turn+1 == t.p.Rules.MaxTurns {
			continue
		}
		early, err := t.early(c)
		if err != nil || early {
			return err
		}
	}
	return nil
}

// prompted says what a later turn begins with: the turn_prompt, which can tell
// why loop_until was not content with the turn before, as the default does.
func (t *try) prompted() error {
	var r reader = shipped{}
	if t.p.Rules.TurnPrompt != nil {
		r = t.p.Rules.TurnPrompt
	}
	vars := t.vars(r)
	checks := words.Spoken(t.unready)
	vars["failed"] = ""
	var said string
	var err error
	if len(checks) > 0 {
		vars["validation_error"] = words.Reasons(t.unready)
		vars["failed"], err = words.Prompt("failed_checks", map[string]any{"checks": checks})
	}
	switch {
	case err != nil:
	case t.p.Rules.TurnPrompt != nil:
		said, err = t.p.Rules.TurnPrompt.Render(vars)
	default:
		said, err = words.Prompt("turn_default", vars)
	}
	if err != nil {
		return unread(t.place().at, "turn_prompt", err)
	}
	t.talk.Append(model.Message{Role: model.User, Content: said})
	return nil
}

// early asks the loop validator whether the turns may end here.
func (t *try) early(c *candidate) (bool, error) {
	at := t.place()
	at.at, at.unfit = at.at.At("turn", t.turn), t.breaksSchema(c.text)
	outcomes, err := t.loopAt(at, c.text)
	if err != nil {
		return false, err
	}
	o := outcomes[0]
	if o.Err != nil {
		return false, decided(at.at, wards.Decision{Action: wards.Break, By: o})
	}
	switch t.unready = outcomes; {
	case o.Skipped:
		x := t.extract(c.text)
		t.unready = []wards.Outcome{t.contracted(x.broken, x.err)}
	case o.Verdict.Valid:
		c.passed = o.Ward
	}
	return o.Verdict.Valid, nil
}

// take has one turn, again as often as the turn wards ask for it.
func (t *try) take(c *candidate) error {
	budget, calls := new(wards.Budget), new(wards.Budget)
	turn, turnAt := t.turn, t.place().at.At("turn", t.turn)
	t.flow.turns++
	t.emit(event.Event{Kind: event.TurnStarted, Path: turnAt, Phase: t.p.Name, Attempt: t.attempt, Turn: &turn})
	tools, err := t.tools()
	if err != nil {
		return err
	}
	for redo := 0; ; redo++ {
		at := turnAt
		if redo > 0 {
			at = turnAt.At("redo", redo)
		}
		state, chosen := t.s.State, t.chosen
		said, spent, err := t.exchange(at, tools, calls)
		if err != nil {
			return err
		}
		if spent != nil {
			c.spent, c.unsaid = spent, true
			return nil
		}
		if err := t.settle(c, said); err != nil {
			return err
		}
		where := t.place()
		where.at = at
		outcomes, err := t.turnChecks(c, where)
		if err != nil {
			return err
		}
		switch d := budget.Decide(redo, outcomes); d.Action {
		case wards.Release:
			return nil
		case wards.Exhausted:
			c.spent, c.barred = &d, d.By.Ward == calling
			return nil
		case wards.Again:
			t.s.State, t.chosen = state, chosen // the refused turn's go with it
			if err := t.feedback(redo+1, d.Failed, (*exchanges.Talk).Redone); err != nil {
				return err
			}
		default:
			return decided(at, d)
		}
	}
}

// turnChecks returns the outcomes that decide on a turn's text. Turn wards do not
// see a text that contains a written call.
func (t *try) turnChecks(c *candidate, at place) (outcomes []wards.Outcome, err error) {
	c.unasked = nil
	if o, ok := t.written(c.text); ok {
		t.tell(at.at.Join(calling.Name), at, o)
		return []wards.Outcome{o}, nil
	}
	at.unfit = len(t.p.Wards.Turn) > 0 && t.breaksSchema(c.text)
	outcomes, err = t.checks(at, t.p.Wards.Turn, t.subject(c.text, t.turnOutput(c.text), t.turn, t.attempt))
	if err == nil && at.unfit { // output_schema refuses the text with the attempt
		c.unasked, outcomes = apart(outcomes)
	}
	return outcomes, err
}

// apart gives what was not asked apart from what was.
func apart(outcomes []wards.Outcome) (unasked, asked []wards.Outcome) {
	for _, o := range outcomes {
		if o.Skipped {
			unasked = append(unasked, o)
		} else {
			asked = append(asked, o)
		}
	}
	return unasked, asked
}

// turnOutput spares the parsing where no turn ward could look at it.
func (t *try) turnOutput(said string) any {
	if len(t.p.Wards.Turn) == 0 {
		return nil
	}
	return t.jsonIn(said)
}

// exchange sends the conversation and has tools called until the model asks
// for none; it gives the model's last words, or the decision of a ward that
// refused its calls once too often.
func (t *try) exchange(at event.Path, tools []model.Tool, budget *wards.Budget) (string, *wards.Decision, error) {
	called := 0 // over all rounds: calls are numbered through the turn
	for round := 0; ; round++ {
		where := nth(at, "model", round)
		resp, err := t.send(where, t.request(tools))
		if err != nil {
			return "", nil, err
		}
		t.talk.Append(resp.Message())
		if len(resp.ToolCalls) == 0 {
			return resp.Text, nil, nil
		}
		if len(tools) == 0 { // what it asks for was not offered to it
			return "", nil, failed(at, "the model asked for the tool %q, and has none", resp.ToolCalls[0].Name).of(where)
		}
		if round == cascades.MaxRounds {
			return "", nil, failed(at, "the model asked for tools %d times in one turn", cascades.MaxRounds+1).of(where)
		}
		spent, err := t.act(at, called, resp.ToolCalls, budget)
		if spent != nil || err != nil {
			return "", spent, err
		}
		called += len(resp.ToolCalls)
	}
}

func (t *try) request(tools []model.Tool) model.Request {
	r := model.Request{Tools: tools, Phase: t.p.Name, Attempt: t.attempt, Turn: t.turn}
	if t.p.OutputSchema != nil {
		r.Schema, _ = t.p.OutputSchema.MarshalJSON() // it was read from a file
	}
	return r
}

// call asks a model once, if the budget allows it. A failure is the end of the
// phase: it is never a text. Why says in whose place it is asked, if any.
func (f *flow) call(at event.Path, req model.Request, why string, said *event.Telling) (model.Response, error) {
	if bound := f.meter.Begin(string(at)); bound != (shared.Limit{}) {
		return model.Response{}, &Error{
			Code: OverBudget, Phase: req.Phase, Path: at, way: []string{"budget", bound.Key}, Message: reached(bound.Reached, bound.Key),
		}
	}
	req.Key, req.Run = f.key(at), f.s.RunID
	req.Left, req.More = f.meter.Left(), func() string { return f.meter.Again(string(at)).Key }
	f.emit(said.Call(event.Event{
		Kind: event.ModelCalled, Path: at, Phase: req.Phase, Attempt: req.Attempt, Turn: &req.Turn, Validator: req.Validator,
		Request: &req, Message: why,
	}))
	resp, err := f.h.Model(at, req)
	resp = resp.WithoutThinking()
	f.meter.Spent(string(at), resp.Usage)
	if err != nil {
		return resp, err
	}
	f.calls += resp.Usage.Calls
	f.emit(event.Event{Kind: event.ModelReplied, Path: at, Phase: req.Phase, Attempt: req.Attempt, Turn: &req.Turn, Validator: req.Validator, Response: &resp})
	if resp.Failure != nil && resp.Failure.Class == model.OverBudget {
		bound, _, _ := strings.Cut(resp.Failure.Message, " ")
		return resp, &Error{Code: OverBudget, Phase: req.Phase, Path: at, way: []string{"budget", bound}, Message: resp.Failure.Message}
	}
	if resp.Failure != nil {
		return resp, &Error{Code: Failed, Path: at, Message: resp.Failure.Error(), Err: resp.Failure}
	}
	return resp, nil
}

func (f *flow) key(at event.Path) string { return Key(f.s.RunID, at) }

// lot is what hangs on what is drawn by lot at a path.
func (f *flow) lot(at event.Path) string { return Key(cmp.Or(f.s.Alike, f.s.RunID), at) }
