package engine

import (
	"cmp"
	"strings"

	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/runner/engine/internal/parallel"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/wards"
)

// converse runs the turns of one attempt and stores the last turn's text in c.
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
		// The attempt's checks judge the text of the last turn.
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

// prompted appends the message that starts a later turn: the turn_prompt or the
// default. The message can include the reasons why loop_until failed in the
// turn before.
func (t *try) prompted() error {
	var r reader = shipped{}
	if t.p.Rules.TurnPrompt != nil {
		r = t.p.Rules.TurnPrompt
	}
	vars := t.vars(r)
	checks := messages.FailedChecks(t.unready)
	vars["failed"] = ""
	var text string
	var err error
	if len(checks) > 0 {
		vars["validation_error"] = messages.Reasons(t.unready)
		vars["failed"], err = messages.Prompt("failed_checks", map[string]any{"checks": checks})
	}
	switch {
	case err != nil:
	case t.p.Rules.TurnPrompt != nil:
		text, err = t.p.Rules.TurnPrompt.Render(vars)
	default:
		text, err = messages.Prompt("turn_default", vars)
	}
	if err != nil {
		return unreadable(t.place().at, "turn_prompt", err)
	}
	t.talk.Append(model.Message{Role: model.User, Content: text})
	return nil
}

// early reports whether the loop validator accepts the text, so that the turns
// can end.
func (t *try) early(c *candidate) (bool, error) {
	at := t.place()
	at.at, at.unfit = at.at.At("turn", t.turn), t.breaksSchema(c.text)
	outcomes, err := t.loopAt(at, c.text)
	if err != nil {
		return false, err
	}
	o := outcomes[0]
	if o.Err != nil {
		return false, decided(at.at, wards.Decision{Action: wards.Abort, By: o})
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

// take runs one turn, and repeats it whenever a turn ward sends the text back.
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
		text, spent, err := t.exchange(at, tools, calls)
		if err != nil {
			return err
		}
		if spent != nil {
			c.spent, c.noText = spent, true
			return nil
		}
		if err := t.settle(c, text); err != nil {
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
		case wards.SendBack:
			t.s.State, t.chosen = state, chosen // discard the changes of the refused turn
			if err := t.feedback(redo+1, d.Failed, (*exchanges.Conversation).MarkTurnRejected); err != nil {
				return err
			}
		default:
			return decided(at, d)
		}
	}
}

// turnChecks returns the outcomes that decide on a turn's text. Turn wards do
// not see a text that contains a written call.
func (t *try) turnChecks(c *candidate, at place) (outcomes []wards.Outcome, err error) {
	c.skipped = nil
	if o, ok := t.written(c.text); ok {
		t.report(at.at.Join(calling.Name), at, o)
		return []wards.Outcome{o}, nil
	}
	at.unfit = len(t.p.Wards.Turn) > 0 && t.breaksSchema(c.text)
	outcomes, err = t.checks(at, t.p.Wards.Turn, t.subject(c.text, t.turnOutput(c.text), t.turn, t.attempt))
	if err == nil && at.unfit { // the attempt's output_schema will refuse the text
		c.skipped, outcomes = apart(outcomes)
	}
	return outcomes, err
}

// apart separates the skipped outcomes from the rest.
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

// turnOutput returns the text's JSON for the turn wards. It skips the parsing
// if there are no turn wards.
func (t *try) turnOutput(text string) any {
	if len(t.p.Wards.Turn) == 0 {
		return nil
	}
	return t.jsonIn(text)
}

// exchange sends the conversation and runs tools until the model requests none.
// It returns the model's last text, or the decision of a ward whose budget for
// refused calls is exhausted.
func (t *try) exchange(at event.Path, tools []model.Tool, budget *wards.Budget) (string, *wards.Decision, error) {
	called := 0 // over all rounds: calls are numbered within the turn
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
		if len(tools) == 0 { // the model requested a tool that was not offered
			return "", nil, failed(at, "the model asked for the tool %q, and has none", resp.ToolCalls[0].Name).of(where)
		}
		if round == keywords.MaxRounds {
			return "", nil, failed(at, "the model asked for tools %d times in one turn", keywords.MaxRounds+1).of(where)
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
		r.Schema, _ = t.p.OutputSchema.MarshalJSON() // cannot fail: the schema was read from a file
	}
	return r
}

// call sends one request to a model if the budget allows it. A failure of the
// model ends the phase and is never used as text. Why names the model that this
// one replaces, if any.
func (f *flow) call(at event.Path, req model.Request, reason string, delta *event.Delta) (model.Response, error) {
	if bound := f.meter.Begin(string(at)); bound != (parallel.Limit{}) {
		return model.Response{}, &Error{
			Code: OverBudget, Phase: req.Phase, Path: at, keyPath: []string{"budget", bound.Key}, Message: reached(bound.Reached, bound.Key),
		}
	}
	req.Key, req.Run = f.key(at), f.s.RunID
	req.Left, req.More = f.meter.Remaining(), func() string { return f.meter.BeginRetry(string(at)).Key }
	f.emit(delta.Call(event.Event{
		Kind: event.ModelCalled, Path: at, Phase: req.Phase, Attempt: req.Attempt, Turn: &req.Turn, Validator: req.Validator,
		Request: &req, Message: reason,
	}))
	resp, err := f.h.Model(at, req)
	resp = resp.WithoutThinking()
	f.meter.End(string(at), resp.Usage)
	if err != nil {
		return resp, err
	}
	f.calls += resp.Usage.Calls
	f.emit(event.Event{Kind: event.ModelReplied, Path: at, Phase: req.Phase, Attempt: req.Attempt, Turn: &req.Turn, Validator: req.Validator, Response: &resp})
	if resp.Failure != nil && resp.Failure.Class == model.OverBudget {
		bound, _, _ := strings.Cut(resp.Failure.Message, " ")
		return resp, &Error{Code: OverBudget, Phase: req.Phase, Path: at, keyPath: []string{"budget", bound}, Message: resp.Failure.Message}
	}
	if resp.Failure != nil {
		return resp, &Error{Code: Failed, Path: at, Message: resp.Failure.Error(), Err: resp.Failure}
	}
	return resp, nil
}

func (f *flow) key(at event.Path) string { return Key(f.s.RunID, at) }

// lot returns the seed for random choices at a path.
func (f *flow) lot(at event.Path) string { return Key(cmp.Or(f.s.SeedRun, f.s.RunID), at) }
