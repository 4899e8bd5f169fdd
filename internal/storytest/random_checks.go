package storytest

import (
	"maps"
	"slices"
)

// wards generates checks at the moments that a kind of phase has.
func (a *generator) wards(kind string, tools bool) object {
	w := object{}
	at := func(moment string, percent int, modes ...string) {
		var list []any
		for len(list) < 3 && a.chance(percent) {
			list = append(list, a.ward(modes...))
		}
		if list != nil {
			w[moment] = list
		}
	}
	sendsBack := []string{"blocking", "retry", "retry", "advisory"}
	if kind != "compose" {
		at("pre", 10, "blocking", "advisory")
	}
	if kind == "instructions" {
		at("turn", 20, sendsBack...)
	}
	if tools {
		at("tool", 30, sendsBack...)
		at("result", 30, sendsBack...)
	}
	at("post", 45, append(sendsBack, "retry", "shadow")...)
	return w
}

func (a *generator) ward(modes ...string) object {
	c := a.check()
	c["mode"] = pick(a, modes...)
	if c["mode"] == "retry" {
		a.may(50, c, "max_attempts", 1, 2, 3)
	}
	return c
}

var expressions = []string{
	"content contains 'ok'", "len(content) < 40", "content != 'bad'", "output != nil && output.n > 2", "attempt > 1", "turn > 0",
	"state.k == nil", "not (content contains 'loud')", "input.topic == 'owls'", "len(outputs) < 3", "output.n > 2",
}

// check generates an inline validator.
func (a *generator) check() object {
	c := object{"expr": pick(a, expressions...)}
	switch a.IntN(12) {
	case 0, 1:
		name := a.name("judge")
		a.judges = append(a.judges, name)
		c = object{"judge": "Is it kind?", "name": name}
		a.may(20, c, "votes", 3)
		a.may(20, c, "confirm", "no")
		a.may(30, c, "after", "free")
		return c
	case 2:
		return object{"validator": "slow_no", "with": object{"text": pick(a, "bad", "loud", "ok")}}
	case 3:
		return object{"validator": pick(a, "non_empty", "scored", "json", "non_empty", "crashes", "panics")}
	case 4:
		return object{"schema": object{"type": "object", "required": []any{"n"}}}
	case 5:
		if a.depth == 0 {
			return object{"cascade": a.sub(true)}
		}
	}
	a.may(60, c, "reason", "no good", "no luck")
	return c
}

// script generates the replies of the models, and replies for all further
// calls.
func (a *generator) script() []any {
	var list []any
	says := func(times int, who object, reply func() object) {
		for range times {
			r := reply()
			maps.Copy(r, who)
			list = append(list, r)
		}
	}
	for _, p := range a.models {
		says(a.IntN(5), object{"phase": p}, func() object { return a.reply(a.withTools[p]) })
	}
	for _, j := range a.judges {
		verdict := func() object {
			return object{"reply": pick(a, `{"valid": true, "reason": "y"}`, `{"valid": false, "reason": "no"}`, `{"valid": false, "reason": "no", "score": 0.4}`, "nonsense")}
		}
		says(a.IntN(5), object{"validator": j}, verdict)
		says(1, object{"validator": j, "times": "always"}, verdict)
	}
	picks := func() object {
		return object{"reply": pick(a, `{"winner": 1, "reason": "r"}`, `{"winner": 2, "reason": "r"}`, "nonsense")}
	}
	says(a.IntN(3), object{"role": "evaluator"}, picks)
	says(1, object{"role": "evaluator", "reply": `{"winner": 1, "reason": "r"}`, "times": "always"}, picks)
	for _, role := range []string{"summary", "aggregator", "mutation"} {
		says(1, object{"role": role, "reply": "ok", "times": "always"}, picks)
	}
	for _, p := range a.models {
		says(1, object{"phase": p, "times": "always"}, func() object { return object{"reply": pick(a, "ok", `{"n": 4, "ok": "ok"}`, "bad")} })
	}
	return list
}

// reply generates a reply of a phase's model. It may call unknown tools, even in a
// phase without tools.
func (a *generator) reply(tools bool) object {
	call := func(name string, arguments object) object { return object{"name": name, "arguments": arguments} }
	if tools && a.chance(30) || a.chance(2) {
		calls := []any{pick(a,
			call("add", object{"a": a.IntN(4), "b": 1}),
			call("set_state", object{"key": pick(a, "k", "l"), "value": a.IntN(3)}),
			call("ask_human", object{"question": "How?"}),
			call("route_to", object{"target": pick(a, append(slices.Clone(a.phases), "end", "nowhere")...)}),
		)}
		if a.chance(40) {
			calls = append(calls, call(pick(a, "send", "breaks", "leaves", "nothing"), object{"to": "kim"}))
		}
		return object{"tool_calls": calls}
	}
	if a.chance(8) {
		return object{"error": object{"status": pick(a, 400, 503), "message": "no"}}
	}
	return object{"reply": pick(a, "ok", "ok then", "bad", "loud ok", "<a>ok</a>", "a text that is a good deal longer than forty letters",
		`{"n": 3}`, `{"n": "x"} and {"n": 1}`, `{"n": 5, "ok": true}`, "ok {{ input.topic }}")}
}
