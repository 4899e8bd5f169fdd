package cascades

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/wards"
)

func (p *parser) rules(phase *object, into *Phase) Rules {
	r := Rules{MaxTurns: 1, OnExhausted: OnExhaustedFail}
	o := phase.child("rules")
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
	r.Timeout = o.duration("timeout")
	r.OnExhausted = p.onExhausted(o.get("on_exhausted"))
	r.OnError = p.onError(o.get("on_error"))
	p.loop(o, &r)
	o.done()
	p.toolRules(o, into)
	return r
}

// loop reads loop_until and what belongs to it.
func (p *parser) loop(o *object, r *Rules) {
	r.LoopPrompt = p.template(o.get("loop_until_prompt"), "loop_until_prompt", loopVariables)
	silent := o.flag("loop_until_silent", false)
	if n := o.get("loop_until"); n != nil {
		if v := p.named(n); v != nil {
			r.Loop = placed(v, wards.LoopUntil, wards.Retry, r.MaxAttempts)
			r.Loop.Ward.Silent = silent
		}
		return
	}
	for _, key := range []string{"loop_until_prompt", "loop_until_silent"} {
		if o.has(key) {
			o.conflict(key, "%s means nothing without loop_until", key)
		}
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

func (p *parser) onExhausted(n *yaml.Node) string {
	if n == nil {
		return OnExhaustedFail
	}
	word := p.word(n, "on_exhausted")
	if word == "" {
		return OnExhaustedFail
	}
	if !slices.Contains([]string{OnExhaustedFail, OnExhaustedLast, OnExhaustedBest}, word) {
		p.routes = append(p.routes, route{n, "on_exhausted", word})
	}
	return word
}

// onError is the name of a phase; fail, the default, is none.
func (p *parser) onError(n *yaml.Node) string {
	if n == nil {
		return ""
	}
	word := p.word(n, "on_error")
	if word == "" || word == OnExhaustedFail {
		return ""
	}
	p.routes = append(p.routes, route{n, "on_error", word})
	return word
}

// toolRules reports the rules that need a model, in a phase that has none.
func (p *parser) toolRules(o *object, phase *Phase) {
	if phase.Tool == nil {
		return
	}
	for _, key := range []string{"max_turns", "turn_prompt", "loop_until", "retry_instructions"} {
		if o.has(key) {
			o.conflict(key, "%s is for a model; phase %s runs a tool", key, phase.Name)
		}
	}
}

func (p *parser) wards(o *object, phase *Phase) Wards {
	if o == nil {
		return Wards{}
	}
	w := Wards{Pre: p.moment(o, wards.Pre), Turn: p.moment(o, wards.Turn), Post: p.moment(o, wards.Post)}
	if phase.Tool != nil && o.has("turn") {
		o.conflict("turn", "turn wards are for a model; phase %s runs a tool", phase.Name)
	}
	o.done()
	return w
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
	o := p.object(n, "a ward")
	if o == nil {
		return nil
	}
	mode := wards.Mode(o.oneOf("mode", string(wards.Blocking), string(wards.Retry), string(wards.Advisory)))
	attempts := o.whole("max_attempts", 1, wards.DefaultAttempts)
	if m == wards.Pre && mode == wards.Retry {
		p.report(o.value["mode"], CodeValue, "a pre-ward cannot retry: there is nothing to do again; use blocking or advisory")
	}
	v := p.validator(o, wardForms)
	o.done()
	if v == nil {
		return nil
	}
	return placed(v, m, mode, attempts)
}
