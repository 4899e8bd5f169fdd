package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/messages"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/wards"
)

// A toolCall is a call that a model requested, before the tool runs.
type toolCall struct {
	at     event.Path
	call   tool.Call
	tool   *cascades.Tool // nil for route_to and unknown tools
	answer *tool.Result   // the answer for the model if the call is not made
}

// act processes all calls of one message of the model. It reads and checks all
// calls before it makes the first one. Refused and invalid calls are answered
// with the reason. The others run in order. If a refusal exhausts the budget of
// a ward, act returns the ward's decision and makes no further call.
func (t *try) act(at event.Path, first int, calls []model.ToolCall, budget *wards.Budget) (*wards.Decision, error) {
	list := t.readAll(at, first, calls)
	spent, err := t.judgeCalls(list, budget)
	if err != nil {
		return nil, err
	}
	if spent != nil {
		t.answerUnmade(list)
		return spent, nil
	}
	return t.actOn(list, budget)
}

// readAll parses the calls of one message.
func (t *try) readAll(at event.Path, first int, calls []model.ToolCall) []*toolCall {
	list := make([]*toolCall, len(calls))
	for i, c := range calls {
		list[i] = t.read(at.At("tool", first+i), c)
	}
	t.refuseConflictingRoutes(list)
	return list
}

// actOn makes the accepted calls of one message and answers all calls.
func (t *try) actOn(list []*toolCall, budget *wards.Budget) (*wards.Decision, error) {
	for i, a := range list {
		text, spent, err := t.do(a, budget)
		if err != nil {
			return nil, err
		}
		if spent != nil {
			t.answerUnmade(list[i:])
			return spent, nil
		}
		t.answer(a, text)
	}
	return nil, nil
}

// answerUnmade answers the calls that an exhausted budget leaves without a
// result. The conversation may continue, and endpoints require one answer for
// each call.
func (t *try) answerUnmade(list []*toolCall) {
	for _, a := range list {
		t.answer(a, tool.Fail(errors.New("refused: no more calls are made")).Text())
	}
}

func (t *try) answer(a *toolCall, text string) {
	t.talk.Append(model.Message{Role: model.ToolReply, Content: text, ToolCallID: a.call.ID})
}

// refuseConflictingRoutes refuses all calls to route_to in a message that names
// two different phases. The order of the calls has no meaning.
func (t *try) refuseConflictingRoutes(list []*toolCall) {
	ways := map[string]struct{}{}
	choices := slices.DeleteFunc(slices.Clone(list), func(a *toolCall) bool { return a.call.Name != keywords.RouteTo || a.answer != nil })
	for _, a := range choices {
		ways[fmt.Sprint(a.call.Arguments["target"])] = struct{}{}
	}
	if len(ways) < 2 {
		return
	}
	t.chosen = ""
	for _, a := range choices {
		a.refuse(errors.New("this message chose several phases: choose one"))
	}
}

// read parses a call that the model wrote.
func (t *try) read(at event.Path, c model.ToolCall) *toolCall {
	a := &toolCall{at: at, call: tool.Call{ID: c.ID, Name: c.Name, Key: t.key(at)}}
	args, err := schema.Parse([]byte(c.Arguments))
	if strings.TrimSpace(c.Arguments) == "" {
		args, err = map[string]any{}, nil
	}
	var isObject bool
	if a.call.Arguments, isObject = args.(map[string]any); err == nil && !isObject {
		err = errors.New("want a JSON object")
	}
	if err != nil {
		return a.refuse(fmt.Errorf("arguments: %w", err))
	}
	if c.Name == keywords.RouteTo && t.p.Chooses() {
		return a
	}
	i := slices.IndexFunc(t.p.Tackle, func(known *cascades.Tool) bool { return known.Name == c.Name })
	if i < 0 {
		return a.refuse(fmt.Errorf("there is no tool %q here; there are %s", c.Name, t.toolNames()))
	}
	a.tool = t.p.Tackle[i]
	return a
}

// refuse sets the reason as the answer of a call that must not be made.
func (a *toolCall) refuse(cause error) *toolCall {
	answer := tool.Fail(cause)
	a.answer = &answer
	return a
}

// judgeCalls checks every valid call against its tool wards. If a blocking ward
// fails, the run ends before any call is made.
func (t *try) judgeCalls(list []*toolCall, budget *wards.Budget) (spent *wards.Decision, err error) {
	for _, a := range list {
		if a.answer != nil || !t.watched(a) {
			continue
		}
		if broken := a.tool.Unfit(a.call.Arguments); broken != "" {
			a.refuse(fmt.Errorf("arguments: %s", broken))
			continue
		}
		d, err := t.checkCall(a, t.p.Wards.Tool, messages.Text(a.call.Arguments), a.call.Arguments, budget)
		if err != nil {
			return nil, err
		}
		switch {
		case d.Action == wards.SendBack:
			a.refuse(errors.New("this call was refused and not made:\n" + messages.Reasons(d.Failed)))
		case d.Action == wards.Exhausted && spent == nil:
			spent = &d
		}
	}
	return spent, nil
}

// watched reports whether a ward checks the call or its result. Otherwise the
// tool itself must reject invalid arguments.
func (t *try) watched(a *toolCall) bool {
	return guarded(t.p.Wards.Tool, a) || guarded(t.p.Wards.Result, a)
}

// guarded reports whether any of the checks applies to the call.
func guarded(list []*cascades.Check, a *toolCall) bool {
	return a.tool != nil && slices.ContainsFunc(list, func(c *cascades.Check) bool { return c.Guards(a.tool.Name) })
}

// checkCall checks a call or its result against the wards of one moment. An
// error ends the run.
func (t *try) checkCall(a *toolCall, list []*cascades.Check, content string, output any, budget *wards.Budget) (wards.Decision, error) {
	s := t.subject(content, output, t.turn, t.attempt)
	s.Tool = a.tool.Name
	where := t.place()
	where.at, where.tool = a.at, a.tool.Name
	outcomes, err := t.checks(where, list, s)
	if err != nil {
		return wards.Decision{}, err
	}
	d := budget.Decide(0, outcomes)
	if d.Action == wards.Block || d.Action == wards.Abort {
		return d, decided(a.at, d)
	}
	return d, nil
}

// do makes one call unless it is already answered. It returns the text for the
// model: the result, or the reason why a result ward withheld it.
func (t *try) do(a *toolCall, budget *wards.Budget) (text string, spent *wards.Decision, err error) {
	t.emit(event.Event{Kind: event.ToolCalled, Path: a.at, Phase: t.p.Name, Attempt: t.attempt, Call: &a.call})
	answered, state := a.answer != nil, t.s.State // an answer of the engine is not a result of the tool
	if !answered {
		r, err := t.dispatch(a)
		if err != nil {
			return "", nil, err
		}
		a.answer = &r
	}
	t.emit(event.Event{Kind: event.ToolReplied, Path: a.at, Phase: t.p.Name, Attempt: t.attempt, Result: a.answer})
	text = a.answer.Text()
	if a.answer.Unavailable {
		return "", nil, &Error{Code: Failed, Path: a.at, keyPath: []string{"tackle", a.call.Name}, Message: fmt.Sprintf("tool %s: %s", a.call.Name, text)}
	}
	if answered || !guarded(t.p.Wards.Result, a) {
		return a.shortened(text), nil, nil
	}
	output, _ := schema.ParseText(text)
	d, err := t.checkCall(a, t.p.Wards.Result, text, output, budget)
	switch {
	case err != nil:
		return "", nil, err
	case d.Action == wards.SendBack:
		t.s.State = state // discard the refused result's changes to the state
		return "error: the result was refused and is withheld:\n" + messages.Reasons(d.Failed), nil, nil
	case d.Action == wards.Exhausted:
		return "", &d, nil
	}
	return a.shortened(text), nil, nil
}

// shortened returns the result within the tool's limit for the model. A longer
// result is cut in the middle.
func (a *toolCall) shortened(text string) string {
	limit := keywords.DefaultResult
	if a.tool != nil {
		limit = cmp.Or(a.tool.MaxBytes, limit)
	}
	if len(text) <= limit {
		return text
	}
	half := limit / 2
	head, tail := strings.ToValidUTF8(text[:half], ""), strings.ToValidUTF8(text[len(text)-half:], "")
	return fmt.Sprintf("%s\n[… %d bytes are left out: the result has %d bytes, and the maximum is %d …]\n%s",
		head, len(text)-len(head)-len(tail), len(text), limit, tail)
}

// dispatch makes the call.
func (t *try) dispatch(a *toolCall) (tool.Result, error) {
	if a.tool == nil {
		return t.routeTo(a.call), nil
	}
	r, err := t.use(a.at, a.tool, a.call)
	// A cascade that ends without an output counts as a failed tool.
	if e, ok := nestedError(err); ok {
		return tool.Fail(errors.New(e.public())), nil
	}
	return r, err
}

func (t *try) toolNames() string {
	var names []string
	for _, known := range t.tackle {
		names = append(names, known.Name)
	}
	return strings.Join(names, ", ")
}

// use runs one tool.
func (v *visit) use(at event.Path, t *cascades.Tool, call tool.Call) (tool.Result, error) {
	switch {
	case t.Engine && t.Name == keywords.SetState:
		return v.setState(call), nil
	case t.Engine && t.Name == keywords.AskHuman:
		return v.askHuman(at, t, call)
	case t.Cascade != nil:
		s, err := v.nested(at, t.Cascade, &State{Input: call.Arguments, seen: v.p.Tool != nil}, "")
		if err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Value: s.Output}, nil
	default:
		r, err := v.h.Tool(at, Job{Place: t.Place, Call: call, Tool: t.Tool})
		if errors.Is(err, ErrUnfinished) {
			return v.unfinished(at, t, call)
		}
		return r, err
	}
}

// setState stores a value in the state. It refuses keys that the engine or a
// person writes. A phase without a model may still write a key that its inputs
// name literally.
func (v *visit) setState(call tool.Call) tool.Result {
	key, ok := call.Arguments["key"].(string)
	value, given := call.Arguments["value"]
	if !ok || key == "" || !given {
		return tool.Fail(errors.New("arguments: want key, a text, and value"))
	}
	if _, literal := v.p.Inputs["key"].(string); !(v.p.Tool != nil && literal) && v.reserves(key) {
		return tool.Fail(fmt.Errorf("state.%s is read-only for models, because Capstan or a person writes it: choose another key", key))
	}
	v.s.Set(key, value)
	return tool.Result{Value: "set " + key}
}

// reserves reports whether the engine or a person writes the key of the state,
// in this cascade or in a cascade that shares the state.
func (f *flow) reserves(key string) bool {
	return f.c.Reserves(key) || f.s.reserved != nil && f.s.reserved(key)
}
