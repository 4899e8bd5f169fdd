package engine

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/runner/event"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/runner/words"
	"github.com/seed61713e19/capstan/validators/schema"
	"github.com/seed61713e19/capstan/wards"
)

// An asked call is one that a model wants made, on its way to the tool.
type asked struct {
	at     event.Path
	call   tool.Call
	tool   *cascades.Tool // nil for route_to, and where there is none
	answer *tool.Result   // it is not made: the model is told this
}

// act does what one message of the model asks for: all of its calls are read
// and judged before the first acts. A call that was refused, or cannot be made,
// is answered with why; the others act, in order. Decision is that of a ward
// whose budget a refusal used up: then none of those that are left acts.
func (t *try) act(at event.Path, first int, calls []model.ToolCall, budget *wards.Budget) (*wards.Decision, error) {
	list := t.readAll(at, first, calls)
	spent, err := t.judgeCalls(list, budget)
	if err != nil {
		return nil, err
	}
	if spent != nil {
		t.unmade(list)
		return spent, nil
	}
	return t.actOn(list, budget)
}

// readAll makes calls of one message.
func (t *try) readAll(at event.Path, first int, calls []model.ToolCall) []*asked {
	list := make([]*asked, len(calls))
	for i, c := range calls {
		list[i] = t.read(at.At("tool", first+i), c)
	}
	t.oneWay(list)
	return list
}

// actOn makes the calls of one message that may be made, and answers all.
func (t *try) actOn(list []*asked, budget *wards.Budget) (*wards.Decision, error) {
	for i, a := range list {
		said, spent, err := t.do(a, budget)
		if err != nil {
			return nil, err
		}
		if spent != nil {
			t.unmade(list[i:])
			return spent, nil
		}
		t.answer(a, said)
	}
	return nil, nil
}

// unmade answers the calls that a ward's spent budget leaves without a result: the
// conversation may go on, and an endpoint wants one for each.
func (t *try) unmade(list []*asked) {
	for _, a := range list {
		t.answer(a, tool.Fail(errors.New("refused: no more calls are made")).Text())
	}
}

func (t *try) answer(a *asked, said string) {
	t.talk.Append(model.Message{Role: model.ToolReply, Content: said, ToolCallID: a.call.ID})
}

// oneWay refuses the choices of a message that names two phases to go on with:
// which of them stands last means nothing.
func (t *try) oneWay(list []*asked) {
	ways := map[string]struct{}{}
	choices := slices.DeleteFunc(slices.Clone(list), func(a *asked) bool { return a.call.Name != cascades.RouteTo || a.answer != nil })
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

// read makes a call of what the model wrote.
func (t *try) read(at event.Path, c model.ToolCall) *asked {
	a := &asked{at: at, call: tool.Call{ID: c.ID, Name: c.Name, Key: t.key(at)}}
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
	if c.Name == cascades.RouteTo && t.p.Chooses() {
		return a
	}
	i := slices.IndexFunc(t.p.Tackle, func(known *cascades.Tool) bool { return known.Name == c.Name })
	if i < 0 {
		return a.refuse(fmt.Errorf("there is no tool %q here; there are %s", c.Name, t.toolNames()))
	}
	a.tool = t.p.Tackle[i]
	return a
}

// refuse answers a call that is not made.
func (a *asked) refuse(why error) *asked {
	answer := tool.Fail(why)
	a.answer = &answer
	return a
}

// judgeCalls holds every call that could be made against its tool wards. A
// blocking no of any ends the run before one has acted.
func (t *try) judgeCalls(list []*asked, budget *wards.Budget) (spent *wards.Decision, err error) {
	for _, a := range list {
		if a.answer != nil || !t.watched(a) {
			continue
		}
		if broken := a.tool.Unfit(a.call.Arguments); broken != "" {
			a.refuse(fmt.Errorf("arguments: %s", broken))
			continue
		}
		d, err := t.hold(a, t.p.Wards.Tool, words.Text(a.call.Arguments), a.call.Arguments, budget)
		if err != nil {
			return nil, err
		}
		switch {
		case d.Action == wards.Again:
			a.refuse(errors.New("this call was refused and not made:\n" + words.Reasons(d.Failed)))
		case d.Action == wards.Exhausted && spent == nil:
			spent = &d
		}
	}
	return spent, nil
}

// watched tells whether a ward looks at the call, or at what it gives. Arguments
// that do not fit are the tool's own to refuse where none does.
func (t *try) watched(a *asked) bool {
	return guarded(t.p.Wards.Tool, a) || guarded(t.p.Wards.Result, a)
}

// guarded tells whether any of the checks looks at the call.
func guarded(list []*cascades.Check, a *asked) bool {
	return a.tool != nil && slices.ContainsFunc(list, func(c *cascades.Check) bool { return c.Guards(a.tool.Name) })
}

// hold holds what a call says, or what it gave, against the wards of its
// moment. An error ends the run.
func (t *try) hold(a *asked, list []*cascades.Check, content string, output any, budget *wards.Budget) (wards.Decision, error) {
	s := t.subject(content, output, t.turn, t.attempt)
	s.Tool = a.tool.Name
	where := t.place()
	where.at, where.tool = a.at, a.tool.Name
	outcomes, err := t.checks(where, list, s)
	if err != nil {
		return wards.Decision{}, err
	}
	d := budget.Decide(0, outcomes)
	if d.Action == wards.Block || d.Action == wards.Break {
		return d, decided(a.at, d)
	}
	return d, nil
}

// do makes one call, unless it is answered already, and gives what the model is
// told of it: what result wards let through, else why they did not.
func (t *try) do(a *asked, budget *wards.Budget) (said string, spent *wards.Decision, err error) {
	t.emit(event.Event{Kind: event.ToolCalled, Path: a.at, Phase: t.p.Name, Attempt: t.attempt, Call: &a.call})
	ours, state := a.answer != nil, t.s.State // what we answer ourselves is no tool's result
	if !ours {
		r, err := t.dispatch(a)
		if err != nil {
			return "", nil, err
		}
		a.answer = &r
	}
	t.emit(event.Event{Kind: event.ToolReplied, Path: a.at, Phase: t.p.Name, Attempt: t.attempt, Result: a.answer})
	said = a.answer.Text()
	if a.answer.Gone {
		return "", nil, &Error{Code: Failed, Path: a.at, way: []string{"tackle", a.call.Name}, Message: fmt.Sprintf("tool %s: %s", a.call.Name, said)}
	}
	if ours || !guarded(t.p.Wards.Result, a) {
		return a.shortened(said), nil, nil
	}
	output, _ := schema.ParseText(said)
	d, err := t.hold(a, t.p.Wards.Result, said, output, budget)
	switch {
	case err != nil:
		return "", nil, err
	case d.Action == wards.Again:
		t.s.State = state // what it has put there goes with it
		return "error: the result was refused and is withheld:\n" + words.Reasons(d.Failed), nil, nil
	case d.Action == wards.Exhausted:
		return "", &d, nil
	}
	return a.shortened(said), nil, nil
}

// shortened returns a result that is not above the tool's limit for the model. Of a
// longer one it has the beginning and the end.
func (a *asked) shortened(text string) string {
	limit := cascades.DefaultResult
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
func (t *try) dispatch(a *asked) (tool.Result, error) {
	if a.tool == nil {
		return t.routeTo(a.call), nil
	}
	r, err := t.use(a.at, a.tool, a.call)
	// A cascade that ends without an output is a tool that could not do it.
	if e, ok := contained(err); ok {
		return tool.Fail(errors.New(e.abroad())), nil
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
	case t.Engine && t.Name == cascades.SetState:
		return v.setState(call), nil
	case t.Engine && t.Name == cascades.AskHuman:
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

// setState puts a value into the state. A key that the engine or a person writes is
// refused, except where the file itself names it: in the inputs of a phase without a
// model.
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

// reserves reports whether the engine or a person writes the key of the state: in this
// cascade, or in one that shares its state with it.
func (f *flow) reserves(key string) bool {
	return f.c.Reserves(key) || f.s.reserved != nil && f.s.reserved(key)
}
