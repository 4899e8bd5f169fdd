package runner_test

import (
	"encoding/json"
	"fmt"
	"testing/fstest"
)

type object = map[string]any

// cascade generates a cascade of a few phases, with nested ones.
func (h *hostile) cascade(name string, depth int) {
	m := &made{hostile: h, depth: depth}
	for range 2 + h.r.IntN(4) {
		h.phases++
		m.names = append(m.names, fmt.Sprintf("p%d", h.phases))
	}
	var list []any
	for i, name := range m.names {
		list = append(list, m.phase(name, i))
	}
	h.put(name, object{"cascade_id": "c" + fmt.Sprint(len(h.files)), "phases": list, "budget": object{"max_phases": 14}})
}

func (h *hostile) put(name string, c object) {
	text, _ := json.MarshalIndent(c, "", " ")
	h.files[name] = &fstest.MapFile{Data: text}
}

// A made is a cascade that is being generated.
type made struct {
	*hostile
	depth int
	names []string
	item  bool
	subs  []string
}

// nested generates a nested cascade. It returns "" if there are enough.
func (m *made) nested() string {
	if m.depth >= 2 || len(m.files) > 4 {
		return ""
	}
	name := fmt.Sprintf("n%d.yaml", len(m.files)+1+m.depth*10)
	m.files[name] = nil
	m.cascade(name, m.depth+1)
	return name
}

// judging generates a cascade that is a validator. Its passes are recorded for
// the gate.
func (m *made) judging(gate, input string) string {
	m.phases += 2
	name := fmt.Sprintf("v%d.yaml", len(m.files))
	first := object{"name": fmt.Sprintf("p%d", m.phases-1), "compose": "{{ input." + input + " | string }} "}
	verdict := m.may(70)
	if verdict {
		note := m.gate()
		m.stands[note] = gate
		first["wards"] = object{"post": []any{object{"validator": note, "mode": "blocking"}}}
	}
	list := []any{first}
	if m.may(40) {
		m.phases++
		list = append(list, object{"name": fmt.Sprintf("p%d", m.phases), "tool": "store", "inputs": object{"text": "{{ input." + input + " }}"}})
	}
	m.put(name, object{"cascade_id": name[:len(name)-5], "phases": append(list, object{"name": fmt.Sprintf("p%d", m.phases+1), "compose": fmt.Sprintf(`{"valid": %t}`, verdict)})})
	m.phases++
	return name
}

// gate returns the name of a new gate. Every fifth gate returns an error for a
// text that is not an object.
func (m *made) gate() string {
	m.gates++
	return fmt.Sprintf("g%d", min(m.gates, hostileGates-1))
}

// ward generates a check at a moment.
func (m *made) ward(moment string) object {
	modes := []string{"blocking", "retry", "retry", "advisory", "shadow"}
	if moment == "pre" {
		modes = []string{"blocking", "blocking", "advisory"}
	}
	w := object{"mode": pick(m.hostile, modes...)}
	if w["mode"] == "retry" {
		w["max_attempts"] = 2
	}
	m.gates++
	name := fmt.Sprintf("w%d", m.gates)
	switch k := m.r.IntN(10); {
	case k == 0:
		w["expr"], w["name"] = "1 < 2", name
	case k == 1 && w["mode"] != "shadow":
		w["cascade"], w["name"] = m.judging(name, "content"), name
	case k == 2 && w["mode"] != "shadow":
		w["cascade"], w["name"], w["input_map"] = m.judging(name, "text"), name, object{"text": "{{ content }}"}
	case k < 5:
		w["judge"], w["name"] = "Good?", name
	default:
		w["validator"] = m.gate()
	}
	return w
}

func (m *made) wards(moment string, most int) []any {
	list := []any{}
	for range m.r.IntN(most + 1) {
		list = append(list, m.ward(moment))
	}
	return list
}

// read generates a template that reads a value.
func (m *made) read() any {
	name := pick(m.hostile, m.names...)
	texts := []string{
		"{{ outputs." + name + " }}", "{{ outputs." + name + " }}", "{{ outputs." + name + " }}", "{{ outputs." + name + " | default('') }}", "{{ outputs." + name + " | default(state.k1) | default('') }}",
		"{{ state.k1 | default('') }}", "{{ state.validated_output | default('') }}", "{{ state." + name + " | default('') }}", "{{ state.word }}", "{{ state.word | default('') }}", "{{ state.k2 | default('') }}", "{{ state }}", "{{ lineage }}", "{{ outputs }}", "{{ validation_error }}",
		"{{ input.text | default('') }}", "{% set o = outputs %}{{ o['" + name + "'] | default('') }}", "{{ state." + name + "_failures | default('') }}",
	}
	for _, sub := range m.subs {
		texts = append(texts, "{{ outputs."+sub+" | default('') }}")
	}
	if m.item {
		texts = append(texts, "{{ item }}", "{{ item }}", "{{ item }}")
	}
	text := pick(m.hostile, texts...)
	switch m.r.IntN(6) {
	case 0:
		return object{"a": text, "b": []any{pick(m.hostile, texts...)}}
	case 1:
		return "so: " + text
	}
	return text
}

func (m *made) phase(name string, i int) object {
	m.item = false
	p := object{"name": name}
	rules := object{}
	if m.may(15) {
		p["when"] = pick(m.hostile, "input.text == nil", "outputs."+m.names[0]+" != nil", "len(lineage ?? []) < 2")
		if p["when"] == "len(lineage ?? []) < 2" {
			p["when"] = "attempt < 5"
		}
	}
	m.does(p, rules, true)
	if m.may(20) {
		rules["on_error"] = pick(m.hostile, m.names...)
	}
	if _, has := rules["on_exhausted"]; !has && m.may(35) && p["together"] == nil {
		rules["on_exhausted"] = pick(m.hostile, append([]string{"last", "best"}, m.names...)...)
		if p["tool"] != nil && (rules["on_exhausted"] == "last" || rules["on_exhausted"] == "best") {
			delete(rules, "on_exhausted")
		}
	}
	if len(rules) > 0 {
		p["rules"] = rules
	}
	if p["handoffs"] == nil && m.may(25) {
		if list := m.leads(p); list != nil {
			p["handoffs"] = list
		}
	}
	return p
}

// leads generates handoffs: with a condition, without one, or chosen by the
// model.
func (m *made) leads(p object) []any {
	var list []any
	if m.may(60) {
		list = append(list, object{"target": pick(m.hostile, m.names...), "when": pick(m.hostile, "len(content) < 14", "attempt > 1", "input.text == nil")})
	}
	if m.may(50) && p["instructions"] != nil && p["each"] == nil {
		a, b := pick(m.hostile, m.names...), pick(m.hostile, m.names...)
		if list = append(list, object{"target": a, "description": "a"}); a != b {
			list = append(list, object{"target": b, "description": "b"})
		}
	} else if m.may(50) {
		list = append(list, pick(m.hostile, append(m.names, "end")...))
	}
	if len(list) == 0 {
		return nil
	}
	return list
}

// does generates the work of the phase.
func (m *made) does(p, rules object, alone bool) {
	if m.may(12) {
		m.item = true
		p["each"] = object{"in": pick[any](m.hostile, []any{"a", "b"}, "{{ outputs."+pick(m.hostile, m.names...)+" }}"), "on_failure": pick(m.hostile, "stop", "keep")}
	}
	defer func() { m.item = false }()
	switch k := m.r.IntN(100); {
	case k < 40:
		m.model(p, rules, alone)
	case k < 58:
		p["tool"], p["inputs"] = "store", object{"text": m.read()}
		p["wards"] = object{"pre": m.wards("pre", 1), "post": m.wards("post", 1)}
	case k < 78:
		m.gatePhase(p, rules, alone)
	case k < 84:
		p["compose"] = fmt.Sprint("put: ", pick(m.hostile, "{{ outputs."+m.names[0]+" | default('') }}", "{{ state.word | default('') }}", "{{ validation_error }}"))
		p["wards"] = object{"post": m.wards("post", 2)}
	case k < 88:
		p["tool"], p["inputs"] = "set_state", object{"key": pick(m.hostile, "k1", "word", "{{ state.k2 | default('k1') }}"), "value": m.read()}
	case k < 92:
		p["tool"], p["inputs"] = pick(m.hostile, "fetch", "calc"), object{"text": m.read()}
		p["wards"] = object{"post": m.wards("post", 1)}
	case k < 96:
		if file := m.nested(); file != "" {
			p["tool"], p["inputs"] = file, object{"text": m.read()}
			p["wards"] = object{"pre": m.wards("pre", 1)}
			return
		}
		m.model(p, rules, alone)
	default:
		if !alone || p["each"] != nil {
			m.model(p, rules, alone)
			return
		}
		m.group(p)
	}
}

func (m *made) group(p object) {
	var list []any
	for range 2 {
		m.phases++
		one, rules := object{"name": fmt.Sprintf("p%d", m.phases)}, object{}
		if m.does(one, rules, false); len(rules) > 0 {
			one["rules"] = rules
		}
		list = append(list, one)
	}
	p["together"] = list
}

func (m *made) gatePhase(p, rules object, alone bool) {
	p["tool"] = m.gate()
	if m.may(85) {
		p["inputs"] = object{"content": m.read()}
	}
	if !alone {
		return
	}
	switch m.r.IntN(5) {
	case 0:
		rules["on_exhausted"] = pick(m.hostile, m.names...)
	case 1, 2:
		when := pick(m.hostile, "output.valid", "!output.valid", "output.valid == false", "input.text == nil", "output.valid == true")
		list := []any{object{"target": pick(m.hostile, m.names...), "when": when}}
		if m.may(60) {
			list = append(list, object{"target": pick(m.hostile, m.names...), "when": pick(m.hostile, "output.valid", "!output.valid")})
		}
		if m.may(60) {
			list = append(list, pick(m.hostile, m.names...))
		}
		p["handoffs"] = list
	}
}

// model generates a phase that a model answers.
func (m *made) model(p, rules object, alone bool) {
	p["instructions"] = "Write."
	wards := object{"post": m.wards("post", 2), "turn": m.wards("turn", 1)}
	if m.may(25) {
		wards["pre"] = m.wards("pre", 1)
	}
	var tackle []any
	for _, name := range []string{"store", "set_state", "fetch", "ask_human"} {
		if m.may(22) && (name != "ask_human" || p["each"] == nil) {
			tackle = append(tackle, name)
		}
	}
	if m.may(8) {
		if file := m.nested(); file != "" {
			tackle = append(tackle, file)
		}
	}
	if len(tackle) > 0 {
		p["tackle"] = tackle
		wards["tool"], wards["result"] = m.wards("tool", 2), m.wards("result", 1)
		if tool := tackle[0].(string); m.may(30) && len(wards["tool"].([]any)) > 0 && tool[0] != 'n' {
			wards["tool"].([]any)[0].(object)["tools"] = []any{tool}
		}
	}
	p["wards"] = wards
	if m.may(25) {
		p["output_schema"] = object{"type": "object"}
	}
	if m.may(20) {
		rules["loop_until"], rules["max_turns"] = m.gate(), 2
	}
	if m.may(25) {
		e := object{"pattern": pick(m.hostile, "(.*)", `lead (\w+)`, `(\{.*\})`), "store_as": "word", "required": m.may(30)}
		if m.may(30) {
			e["pattern"], e["format"] = `(\{.*\})`, "json"
		}
		p["output_extraction"] = e
	}
	if m.may(15) {
		s := object{"factor": 2}
		if m.may(80) {
			s["validator"] = m.gate()
		}
		if m.may(30) {
			s["evaluator_instructions"] = "Which?"
		}
		m.further(s)
		p["soundings"] = s
	}
	if m.may(15) {
		if file := m.nested(); file != "" {
			sub := object{"ref": file, "context_in": m.may(60), "context_out": m.may(70)}
			if m.may(70) {
				sub["input_map"] = object{"text": m.read()}
			}
			p["sub_cascades"] = []any{sub}
			var c struct {
				ID string `json:"cascade_id"`
			}
			_ = json.Unmarshal(m.files[file].Data, &c)
			m.subs = append(m.subs, c.ID)
		}
	}
	if alone && p["each"] == nil && m.may(12) {
		p["human_input"] = object{"prompt": "Well?", "type": pick(m.hostile, "edit", "edit", "text"), "store_as": pick(m.hostile, "word", "k1")}
	}
}

// further lets soundings combine their tries instead of choosing one.
func (m *made) further(s object) {
	if m.may(40) {
		s["mutation_mode"] = pick(m.hostile, "approach", "augment", "rewrite", "rewrite")
	}
	if m.may(30) {
		s["mode"], s["aggregator_instructions"] = "aggregate", "All of them."
		delete(s, "evaluator_instructions")
	}
	if m.may(30) {
		reforge := object{"steps": 1 + m.r.IntN(2), "honing_prompt": "Better.", "factor_per_step": 1 + m.r.IntN(2)}
		if m.may(50) {
			reforge["threshold"] = m.gate()
		}
		s["reforge"] = reforge
	}
}
