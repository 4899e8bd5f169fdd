package cascades

import (
	"cmp"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/wards"
)

func (p *parser) rules(o, phase *reader.Object, into *Phase) (r Rules) {
	r = Rules{MaxTurns: 1, OnExhausted: keywords.OnExhaustedFail}
	if into.Compose != nil {
		defer func() { r.MaxAttempts, r.Capped = 1, true }() // a retry would compose the same text
	}
	if o == nil {
		r.MaxAttempts = attempts(0, phase.Has("output_schema"))
		return r
	}
	r.MaxTurns = o.Whole("max_turns", 1, 1)
	written := o.Whole("max_attempts", 1, 0)
	r.Capped = written > 0
	r.MaxAttempts = attempts(written, phase.Has("output_schema") || o.Has("loop_until"))
	r.TurnPrompt = p.template(o.Get("turn_prompt"), "turn_prompt", phaseVariables)
	r.RetryInstructions = p.template(o.Get("retry_instructions"), "retry_instructions", retryVariables)
	r.Feedback = p.feedback(o.Child("feedback"))
	r.Timeout = o.Duration("timeout")
	r.OnExhausted = p.on(o, "on_exhausted", keywords.OnExhaustedLast, keywords.OnExhaustedBest)
	r.OnError = p.onError(o, "on_error")
	p.loop(o, &r)
	o.Done()
	return r
}

// loop reads the key loop_until and the keys that belong to it.
func (p *parser) loop(o *reader.Object, r *Rules) {
	r.LoopPrompt = p.template(o.Get("loop_until_prompt"), "loop_until_prompt", loopVariables)
	silent := o.Flag("loop_until_silent", false)
	if n := o.Get("loop_until"); n != nil {
		if v := p.named(n); v != nil {
			r.Loop = p.placed(n, v, wards.LoopUntil, wards.Retry, r.MaxAttempts)
			r.Loop.Ward.Silent = silent
		}
		return
	}
	for _, key := range []string{"loop_until_prompt", "loop_until_silent"} {
		o.Conflict(key, "%s means nothing without loop_until", key)
	}
}

// attempts returns the number of attempts for output_schema and loop_until. They share one
// budget.
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

// on returns the phase or the allowed word under a key. Default: fail.
func (p *parser) on(o *reader.Object, key string, words ...string) string {
	n := o.Get(key)
	if n == nil {
		return keywords.OnExhaustedFail
	}
	word := cmp.Or(p.Word(n, key), keywords.OnExhaustedFail)
	if word != keywords.OnExhaustedFail && !slices.Contains(words, word) {
		p.refer(n, key, word)
	}
	return word
}

// onError returns the phase under a key. Default: "", which means fail.
func (p *parser) onError(o *reader.Object, key string) string {
	if word := p.on(o, key); word != keywords.OnExhaustedFail {
		return word
	}
	return ""
}

func (p *parser) wards(o *reader.Object, phase *Phase) Wards {
	if o == nil {
		return Wards{}
	}
	w := Wards{
		Pre: p.moment(o, wards.Pre), Tool: p.moment(o, wards.Tool), Result: p.moment(o, wards.Result),
		Turn: p.moment(o, wards.Turn), Post: p.moment(o, wards.Post),
	}
	o.Done()
	if phase.Rules.Releases() {
		w.askWhereReleased()
	}
	return w
}

// askWhereReleased makes every blocking judge run, even after a failure of free checks. It is
// for phases whose on_exhausted can release a rejected text, because a blocking judge forbids
// that.
func (w *Wards) askWhereReleased() {
	for _, c := range slices.Concat(w.Turn, w.Post) {
		c.AfterFree = c.AfterFree && c.written() != wards.Blocking
	}
}

func (p *parser) moment(o *reader.Object, m wards.Moment) []*Check {
	var out []*Check
	for _, n := range o.List(string(m)) {
		if c := p.ward(n, m); c != nil {
			out = append(out, c)
		}
	}
	return out
}

// ward reads a ward: a mode, and a validator by name or in place.
func (p *parser) ward(n *yaml.Node, m wards.Moment) *Check {
	aroundTools := m == wards.Tool || m == wards.Result
	kind := "a ward"
	if aroundTools {
		kind = "a ward around tools"
	}
	o := p.Object(n, kind)
	if o == nil {
		return nil
	}
	mode := wards.Mode(o.OneOf("mode", string(wards.Blocking), string(wards.Retry), string(wards.Advisory), string(wards.Shadow)))
	attempts := o.Whole("max_attempts", 1, wards.DefaultAttempts)
	promote := p.promotion(o, mode)
	facts := checks.Ward{Node: n, ModeNode: o.Value["mode"], Moment: m, Mode: mode, Promoted: promote != nil}
	defer func() { p.facts.Wards = append(p.facts.Wards, facts) }()
	v := p.validator(o, wardForms)
	var guards []*yaml.Node
	if aroundTools {
		guards = o.List("tools")
	}
	o.Done()
	if v == nil {
		return nil
	}
	c := p.placed(n, v, m, mode, attempts)
	c.Promote = promote
	if facts.Waits = v.waits(); facts.Waits != "" {
		facts.File = v.Cascade.File
	}
	p.promote(c, o)
	for _, n := range guards {
		if name := p.Word(n, "a tool of a ward"); name != "" {
			c.Tools = append(c.Tools, name)
			if !p.broken["tool "+name] {
				p.guards = append(p.guards, checks.Guard{Node: n, Tool: name})
			}
		}
	}
	return c
}

// GateMode returns the mode of a phase that is a validator. It is blocking, unless a
// conditional handoff or on_exhausted leads to another phase.
func (p *Phase) GateMode() wards.Mode {
	switch {
	case p.Conditional():
		return wards.Advisory
	case p.Rules.Instead() != "":
		return wards.Retry
	}
	return wards.Blocking
}
