package cascades

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/wards"
)

// pathWord tells whether a word may stand in a path, which uses slashes and
// brackets.
func pathWord(s string) bool {
	return s == strings.TrimSpace(s) && !strings.ContainsAny(s, "/[]") && !strings.ContainsFunc(s, unicode.IsControl)
}

// phase reads a phase; nil where it is too broken to go on with.
func (p *parser) phase(n *yaml.Node) *Phase {
	o := p.object(n, "a phase")
	if o == nil {
		return nil
	}
	phase := &Phase{Name: o.required("name"), Position: p.position(o.node)}
	p.checkName(o, phase.Name)
	if phase.Name != "" {
		o.what = "phase " + phase.Name
	}
	outer := p.reading
	p.reading = phase.Name
	defer func() { p.reading = outer }()
	if p.grouped != "" {
		p.checkGrouped(o)
	}
	phase.When = p.expression(o.get("when"), "when")
	p.work(o, phase)
	phase.Subs = p.subs(o)
	if s := o.get("output_schema"); s != nil {
		phase.OutputSchema = p.schema(s)
	}
	rules := o.child("rules")
	phase.Rules = p.rules(rules, o, phase)
	phase.Wards = p.wards(o.child("wards"), phase)
	p.kindRules(rules, phase)
	phase.Expect = p.expect(o.child("expect"), phase)
	phase.TokenBudget = p.tokenBudget(o.child("token_budget"))
	phase.Soundings = p.soundings(o.child("soundings"))
	phase.Extraction = p.extraction(o.child("output_extraction"))
	phase.Human = p.human(o.question(phase.Name), phase.Name)
	if phase.Edits() && phase.Tool != nil {
		o.conflict("human_input", "type edit is for a text: phase %s runs a tool; put a phase with compose behind it, and ask there", phase.Name)
	}
	p.ungated(o, phase)
	p.locals = nil
	phase.Handoffs = p.handoffs(o)
	if word := o.oneOf("handoff_default", ChooseFail, ChooseFirst); o.has("handoff_default") {
		phase.Unchosen = word
	}
	if o.has("handoff_default") && !phase.Chooses() {
		o.conflict("handoff_default", "handoff_default means nothing here: the model of %s does not choose among handoffs", o.what)
	}
	if phase.undecided() {
		o.conflict("handoffs", "handoffs: %s has no model that could choose: write one without a description, or with a when", o.what)
	}
	p.checkEach(o, phase)
	if phase.OutputSchema != nil {
		phase.SchemaWard = &wards.Ward{
			Name: "output_schema", Moment: wards.OutputSchema, Mode: wards.Retry, MaxAttempts: phase.Rules.MaxAttempts,
		}
	}
	o.done()
	return phase
}

func (p *parser) checkName(o *object, name string) {
	n := o.value["name"]
	switch {
	case name == "":
		return
	case !pathWord(name):
		p.report(n, CodeValue, "a phase's name may not hold / [ ] or control characters, nor begin or end with a blank: %q", name)
	case name == Previous:
		p.report(n, CodeValue, "no phase can be called %q: in context it names the one before", Previous)
	}
	if line, there := p.lineOf[name]; there {
		p.report(n, CodeDuplicate, "a phase called %q is at line %d already", name, line)
		return
	}
	p.lineOf[name] = p.position(o.node).Line
}

// A kind is what makes a phase: the key that it is written with, what it is
// called in messages, and the keys that mean nothing beside it.
type kind struct {
	key, does string
	not       []string
}

var (
	modelOnly = []string{"system", "examples", "model", "tackle", "context", "soundings", "token_budget"}
	kinds     = []kind{
		{"instructions", "has instructions", []string{"inputs"}},
		{"tool", "runs a tool", modelOnly},
		{"compose", "composes its text", append([]string{"inputs"}, modelOnly...)},
		{"together", "is a group", append([]string{"inputs", "human_input", "each", "output_schema", "output_extraction", "sub_cascades", "wards"}, modelOnly...)},
	}
)

// work reads what the phase does: a model's instructions, a tool's inputs, a
// text to compose, or phases side by side.
func (p *parser) work(o *object, phase *Phase) {
	var is *kind
	for i := range kinds {
		switch k := &kinds[i]; {
		case !o.has(k.key):
		case is != nil:
			o.conflict(k.key, "%s has both %s and %s", o.what, is.key, k.key)
		default:
			is = k
		}
	}
	phase.Each = p.each(o.child("each"))
	own := p.preface(o)
	phase.System, phase.Examples = own.system, own.examples
	phase.Instructions = p.template(o.get("instructions"), "instructions", phaseVariables)
	phase.Compose = p.template(o.get("compose"), "compose", phaseVariables)
	phase.Queue = p.queue(o)
	phase.Model = o.model("model")
	phase.Tackle = p.tackle(o)
	phase.Context = p.context(o)
	inputs := o.child("inputs")
	phase.Inputs = p.values(inputs, phaseVariables)
	if tool := o.get("tool"); tool != nil {
		if t := p.phaseTool(tool, o, phase); t != nil {
			named := *t
			named.Position = p.position(tool)
			phase.Tool = &named
			p.checkGiven(inputs, named.Cascade)
		}
		p.acts = append(p.acts, act{tool, phase})
	}
	phase.Together = p.together(o)
	if is == nil {
		var keys []string
		for _, k := range kinds {
			keys = append(keys, k.key)
		}
		p.report(o.node, CodeMissing, "%s needs %s", o.what, list(keys))
		return
	}
	for _, key := range is.not {
		o.conflict(key, "%s means nothing here: %s %s", key, o.what, is.does)
	}
}

func (p *parser) handoffs(o *object) []Handoff {
	var out []Handoff
	seen := map[string]bool{}
	for _, n := range o.list("handoffs") {
		h, target := p.handoff(p.resolve(n))
		if h.Target == "" {
			continue
		}
		p.routes = append(p.routes, route{target, "handoffs", h.Target, p.reading})
		if h.When == nil {
			if seen[h.Target] {
				p.report(target, CodeDuplicate, "%q is a handoff already", h.Target)
			}
			seen[h.Target] = true
		}
		out = append(out, h)
	}
	return out
}

// handoff reads one handoff and the node that names its target.
func (p *parser) handoff(n *yaml.Node) (Handoff, *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return Handoff{Target: p.word(n, "a handoff")}, n
	}
	o := p.fields(n, "a handoff")
	h := Handoff{Target: o.required("target"), Description: o.text("description")}
	when := o.get("when")
	if h.When = p.expression(when, "when"); h.When != nil {
		for _, f := range p.fieldsOf(when, h.When) {
			if f.path[0] == "output" {
				p.fieldReads = append(p.fieldReads, fieldRead{p.reading, f.path[1:], f.at})
			}
		}
	}
	o.done()
	return h, o.get("target")
}

func (p *parser) subs(o *object) []*Sub {
	var out []*Sub
	for _, n := range o.list("sub_cascades") {
		sub := p.object(n, "a sub-cascade")
		if sub == nil {
			continue
		}
		s := &Sub{ContextIn: sub.flag("context_in", true), ContextOut: sub.flag("context_out", true)}
		given := sub.child("input_map")
		s.InputMap = p.mapped(given)
		sub.needs("ref")
		if ref := sub.get("ref"); ref != nil {
			if s.Cascade = p.nested(ref, "ref"); s.Cascade != nil {
				p.checkGiven(given, s.Cascade)
				out = append(out, s)
			}
		}
		sub.done()
	}
	return out
}

// mapped reads what a sub-cascade is given. A text that is the name of an input
// stands for that input, as in Windlass, and that is told.
func (p *parser) mapped(o *object) Values {
	values := p.values(o, phaseVariables)
	for key, value := range values {
		name, isText := value.(string)
		if isText && p.declared[name] {
			values[key] = Reference{[]string{"input", name}, name}
			p.warn(o.value[key], CodeOtherwise, "input_map: %s is the value of the input %s, as in Windlass: write \"{{ input.%s }}\"", key, name, name)
		}
	}
	return values
}

// expect reads what the phase's checks must catch.
func (p *parser) expect(o *object, phase *Phase) (e Expect) {
	if o == nil {
		return e
	}
	o.needs("caught")
	switch least := o.within("caught", 0, 1); {
	case least != nil && *least == 0:
		p.report(o.value["caught"], CodeValue, "caught must be more than 0, not 0")
	case least != nil:
		e.Caught = *least
	}
	o.done()
	if len(phase.Wards.Turn)+len(phase.Wards.Post) == 0 && phase.OutputSchema == nil && phase.Rules.Loop == nil && (phase.Tool == nil || phase.Tool.Validator == nil) {
		p.report(o.node, CodeConflict, "expect means nothing here: no check of phase %s sees its text", phase.Name)
	}
	return e
}

func (p *parser) extraction(o *object) *Extraction {
	if o == nil {
		return nil
	}
	e := &Extraction{StoreAs: o.required("store_as"), Required: o.flag("required", false)}
	pattern := o.required("pattern")
	e.JSON = o.oneOf("format", "text", "json") == "json"
	o.done()
	made, err := patterns.Compile("(?s)" + pattern) // a dot matches line feeds too
	if err != nil {
		p.report(o.value["pattern"], CodePattern, "pattern: %v", err)
		return nil
	}
	e.Pattern = made
	return e
}

func (p *parser) human(o *object, phase string) *Human {
	if o == nil {
		return nil
	}
	h := &Human{Type: o.oneOf("type", Confirmation, Choice, Text, Edit), StoreAs: o.text("store_as")}
	h.Prompt = p.template(o.get("prompt"), "prompt", checkVariables)
	h.Options = o.options()
	p.expiry(o, h)
	h.Notify = p.notify(o.child("notify"))
	if h.StoreAs == "" {
		h.StoreAs = phase + "_answer"
	}
	o.needs("prompt")
	if h.Type == Choice {
		if o.needs("options"); o.has("options") && len(h.Options) == 0 {
			p.report(o.value["options"], CodeValue, "a choice needs at least one option")
		}
	}
	if said := o.text("type"); h.Type != Choice && o.has("options") && (said == "" || said == string(h.Type)) {
		o.conflict("options", "options are for the type choice, not %s", h.Type)
	}
	o.done()
	return h
}

// expiry reads how long a question waits, and what comes then.
func (p *parser) expiry(o *object, h *Human) {
	h.Expires = o.duration("expires")
	h.OnExpired = p.onError(o, "on_expired")
	if !o.has("expires") {
		o.conflict("on_expired", "on_expired means nothing without expires")
	}
}

// notify reads who is told of a question.
func (p *parser) notify(o *object) *Notify {
	if o == nil {
		return nil
	}
	n := &Notify{URL: o.text("url"), Dir: path.Dir(p.file)}
	if o.has("exec") {
		n.Argv = p.argv(o)
		p.starts(Program{What: "notify", Argv: n.Argv, Dir: n.Dir})
	}
	n.Env, n.Headers = p.environment(o), p.headers(o)
	switch {
	case o.has("exec") && o.has("url"):
		o.conflict("url", "notify has both exec and url")
	case !o.has("exec") && n.URL == "":
		p.report(o.node, CodeMissing, "notify needs exec or url")
	case o.has("exec") && o.has("headers"):
		o.conflict("headers", "a program has no headers: env is what it sees")
	case n.URL != "" && o.has("env"):
		o.conflict("env", "a url sees nothing of the environment: headers are what it is sent")
	case n.URL != "":
		p.ofVariables(o.value["url"], "url", n.URL)
		if rest := process.Rest(n.URL); rest == n.URL && !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
			p.report(o.value["url"], CodeValue, "url must begin with http:// or https://, not %q", n.URL)
		}
	}
	texts := slices.Concat(n.Env, []string{"url=" + n.URL}, entries(n.Headers))
	if names := process.Needed(texts); len(names) > 0 {
		n.needs = []Need{{Position: p.position(o.node), Variables: names}}
	}
	o.done()
	return n
}
