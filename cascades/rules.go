package cascades

import (
	"cmp"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/wards"
)

func (p *parser) rules(o, phase *object, into *Phase) (r Rules) {
	r = Rules{MaxTurns: 1, OnExhausted: OnExhaustedFail}
	if into.Compose != nil {
		defer func() { r.MaxAttempts, r.Capped = 1, true }() // the same text would come again
	}
	if o == nil {
		r.MaxAttempts = attempts(0, phase.has("output_schema"))
		return r
	}
	r.MaxTurns = o.whole("max_turns", 1, 1)
	written := o.whole("max_attempts", 1, 0)
	r.Capped = written > 0
	r.MaxAttempts = attempts(written, phase.has("output_schema") || o.has("loop_until"))
	r.TurnPrompt = p.template(o.get("turn_prompt"), "turn_prompt", phaseVariables)
	r.RetryInstructions = p.template(o.get("retry_instructions"), "retry_instructions", retryVariables)
	r.Feedback = p.feedback(o.child("feedback"))
	r.Timeout = o.duration("timeout")
	r.OnExhausted = p.on(o, "on_exhausted", OnExhaustedLast, OnExhaustedBest)
	r.OnError = p.onError(o, "on_error")
	p.loop(o, &r)
	o.done()
	return r
}

// loop reads loop_until and what belongs to it.
func (p *parser) loop(o *object, r *Rules) {
	r.LoopPrompt = p.template(o.get("loop_until_prompt"), "loop_until_prompt", loopVariables)
	silent := o.flag("loop_until_silent", false)
	if n := o.get("loop_until"); n != nil {
		if v := p.named(n); v != nil {
			r.Loop = p.placed(n, v, wards.LoopUntil, wards.Retry, r.MaxAttempts)
			r.Loop.Ward.Silent = silent
		}
		return
	}
	for _, key := range []string{"loop_until_prompt", "loop_until_silent"} {
		o.conflict(key, "%s means nothing without loop_until", key)
	}
}

// attempts gives the budget of output_schema and loop_until (LANGUAGE §4).
func attempts(written int, checked bool) int {
	switch {
	case written > 0:
		return written
	case checked:
		return wards.DefaultAttempts
	default:
		return 1
	}
}

// on is the name of a phase under a key, or one of the words that stand for none,
// of which fail is the default.
func (p *parser) on(o *object, key string, words ...string) string {
	n := o.get(key)
	if n == nil {
		return OnExhaustedFail
	}
	word := cmp.Or(p.word(n, key), OnExhaustedFail)
	if word != OnExhaustedFail && !slices.Contains(words, word) {
		p.routes = append(p.routes, route{n, key, word, p.reading})
	}
	return word
}

// onError is the name of a phase under a key; fail, the default, is none.
func (p *parser) onError(o *object, key string) string {
	if word := p.on(o, key); word != OnExhaustedFail {
		return word
	}
	return ""
}

// kindRules reports the rules that mean nothing for what the phase is.
func (p *parser) kindRules(o *object, phase *Phase) {
	if o == nil {
		return
	}
	if on := phase.Rules.OnExhausted; phase.gates() && phase.Rules.Releases() && !phase.exhausts() {
		o.conflict("on_exhausted", "on_exhausted: %s means nothing here: what the gate of phase %s refuses is not let out; name a phase to go to", on, phase.Name)
	}
	var not []string
	what := "runs a tool"
	switch {
	case phase.Instructions != nil:
	case phase.Together != nil:
		not, what = []string{"max_turns", "turn_prompt", "loop_until", "retry_instructions", "feedback", "max_attempts", "on_exhausted", "timeout"}, "is a group"
	case phase.Compose != nil:
		not, what = []string{"max_turns", "turn_prompt", "loop_until", "retry_instructions", "feedback", "max_attempts"}, "composes its text"
	case phase.Tool != nil:
		not = []string{"max_turns", "turn_prompt", "loop_until", "retry_instructions", "feedback"}
	}
	for _, key := range not {
		o.conflict(key, "%s means nothing here: phase %s %s", key, phase.Name, what)
	}
}

func (p *parser) wards(o *object, phase *Phase) Wards {
	if o == nil {
		return Wards{}
	}
	w := Wards{
		Pre: p.moment(o, wards.Pre), Tool: p.moment(o, wards.Tool), Result: p.moment(o, wards.Result),
		Turn: p.moment(o, wards.Turn), Post: p.moment(o, wards.Post),
	}
	for _, m := range []wards.Moment{wards.Turn, wards.Tool, wards.Result} {
		switch key := string(m); {
		case phase.Tool != nil, phase.Compose != nil:
			o.conflict(key, "%s wards are for a model; phase %s has none", key, phase.Name)
		case m != wards.Turn && len(phase.Tackle) == 0:
			o.conflict(key, "%s wards are for tools; phase %s has no tackle", key, phase.Name)
		}
	}
	if phase.Compose != nil {
		o.conflict("pre", "pre-wards guard what comes before a text is made; phase %s composes it: use post", phase.Name)
	}
	p.checkGuards(phase)
	o.done()
	if phase.Rules.Releases() {
		w.askWhereReleased()
	}
	return w
}

// askWhereReleased has every blocking judge asked where on_exhausted lets out a
// text that a check refused: what blocks forbids that text too.
func (w *Wards) askWhereReleased() {
	for _, c := range slices.Concat(w.Turn, w.Post) {
		c.AfterFree = c.AfterFree && c.written() != wards.Blocking
	}
}

func (p *parser) moment(o *object, m wards.Moment) []*Check {
	var out []*Check
	for _, n := range o.list(string(m)) {
		if c := p.ward(n, m); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// ward reads one ward: a validator by name or in place, with its mode.
func (p *parser) ward(n *yaml.Node, m wards.Moment) *Check {
	aroundTools := m == wards.Tool || m == wards.Result
	kind := "a ward"
	if aroundTools {
		kind = "a ward around tools"
	}
	o := p.object(n, kind)
	if o == nil {
		return nil
	}
	mode := wards.Mode(o.oneOf("mode", string(wards.Blocking), string(wards.Retry), string(wards.Advisory), string(wards.Shadow)))
	attempts := o.whole("max_attempts", 1, wards.DefaultAttempts)
	if m == wards.Pre && mode == wards.Retry {
		p.report(o.value["mode"], CodeValue, "a pre-ward cannot retry: there is nothing to do again; use blocking, advisory or shadow")
	}
	promote := p.promotion(o, mode)
	v := p.validator(o, wardForms)
	var guards []*yaml.Node
	if aroundTools {
		guards = o.list("tools")
	}
	o.done()
	if v == nil {
		return nil
	}
	c := p.placed(n, v, m, mode, attempts)
	c.Promote = promote
	if who := v.waits(); who != "" && (mode == wards.Shadow || promote != nil) {
		p.report(n, CodeConflict, "a ward in shadow waits for nobody, and phase %s of %s asks a person", who, v.Cascade.File)
	}
	p.promote(c, o)
	for _, n := range guards {
		if name := p.word(n, "a tool of a ward"); name != "" {
			c.Tools = append(c.Tools, name)
			p.guards = append(p.guards, guard{n, name})
		}
	}
	return c
}

// Releases tells whether on_exhausted lets out a text that did not pass.
func (r Rules) Releases() bool {
	return r.OnExhausted == OnExhaustedLast || r.OnExhausted == OnExhaustedBest
}

// Instead is the phase that on_exhausted names, or "".
func (r Rules) Instead() string {
	if r.Releases() || r.OnExhausted == OnExhaustedFail {
		return ""
	}
	return r.OnExhausted
}

// gates tells whether the phase is a validator.
func (p *Phase) gates() bool { return p.Tool != nil && p.Tool.Validator != nil }

// GateMode is what a no means of a phase that is a validator: it blocks, unless
// the phase says where to go then, by a handoff with a condition or on_exhausted.
func (p *Phase) GateMode() wards.Mode {
	switch {
	case p.Conditional():
		return wards.Advisory
	case p.Rules.Instead() != "":
		return wards.Retry
	}
	return wards.Blocking
}

// exhausts tells whether a check of the phase's text, beside what it is itself,
// can use up a budget.
func (p *Phase) exhausts() bool {
	return p.OutputSchema != nil || slices.ContainsFunc(p.Wards.Post, func(c *Check) bool { return c.written() == wards.Retry })
}
