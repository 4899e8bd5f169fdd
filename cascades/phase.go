package cascades

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/process"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/wards"
)

// pathWord reports whether a word can be part of a path. In a path, slashes and brackets
// separate the words.
func pathWord(s string) bool {
	return s == strings.TrimSpace(s) && !strings.ContainsAny(s, "/[]") && !strings.ContainsFunc(s, unicode.IsControl)
}

// phase reads a phase. It returns nil for a value that is not a mapping.
func (p *parser) phase(n *yaml.Node) *Phase {
	o := p.Object(n, "a phase")
	if o == nil {
		return nil
	}
	phase := &Phase{Name: o.Required("name"), Position: p.Position(o.Node)}
	p.checkName(o, phase.Name)
	if phase.Name != "" {
		o.What = "phase " + phase.Name
	}
	outer := p.reading
	p.reading = phase.Name
	defer func() { p.reading = outer }()
	phase.When = p.expression(o.Get("when"), "when")
	p.work(o, phase)
	phase.Subs = p.subs(o)
	if s := o.Get("output_schema"); s != nil {
		phase.OutputSchema = p.schema(s)
	}
	rules := o.Child("rules")
	phase.Rules = p.rules(rules, o, phase)
	moments := o.Child("wards")
	phase.Wards = p.wards(moments, phase)
	phase.Caught = p.expect(o.Child("expect"), phase)
	phase.TokenBudget = p.tokenBudget(o.Child("token_budget"))
	phase.Soundings = p.soundings(o.Child("soundings"))
	phase.Extraction = p.extraction(o.Child("output_extraction"))
	phase.Human = p.human(p.question(o, phase.Name), phase.Name)
	if phase.Edits() && phase.Tool != nil {
		o.Conflict("human_input", "type edit is for a text: phase %s runs a tool; put a phase with compose behind it, and ask there", phase.Name)
	}
	p.locals = nil
	phase.Handoffs = p.handoffs(o)
	if word := o.OneOf("handoff_default", keywords.ChooseFail, keywords.ChooseFirst); o.Has("handoff_default") {
		phase.Unchosen = word
	}
	if o.Has("handoff_default") && !phase.Chooses() {
		o.Conflict("handoff_default", "handoff_default means nothing here: the model of %s does not choose among handoffs", o.What)
	}
	if phase.undecided() {
		o.Conflict("handoffs", "handoffs: %s has no model that could choose: write one without a description, or with a when", o.What)
	}
	if phase.OutputSchema != nil {
		phase.SchemaWard = &wards.Ward{
			Name: "output_schema", Moment: wards.OutputSchema, Mode: wards.Retry, MaxAttempts: phase.Rules.MaxAttempts,
		}
	}
	o.Done()
	p.facts.Phases = append(p.facts.Phases, p.phaseFacts(o, rules, moments, phase, outer))
	return phase
}

func (p *parser) checkName(o *reader.Object, name string) {
	n := o.Value["name"]
	switch {
	case name == "":
		return
	case !pathWord(name):
		p.Error(n, codes.Value, "a phase's name may not hold / [ ] or control characters, nor begin or end with a blank: %q", name)
	case name == keywords.Previous:
		p.Error(n, codes.Value, "no phase can be called %q: in context it names the one before", keywords.Previous)
	}
	if line, there := p.facts.Lines[name]; there {
		p.Error(n, codes.Duplicate, "a phase called %q is at line %d already", name, line)
		return
	}
	p.facts.Lines[name] = p.Position(o.Node).Line
}

// work reads the content of a phase: instructions, a tool with its inputs, a text to compose,
// or a group of phases.
func (p *parser) work(o *reader.Object, phase *Phase) {
	phase.Each = p.each(o.Child("each"))
	own := p.preface(o)
	phase.System, phase.Examples = own.system, own.examples
	phase.Instructions = p.template(o.Get("instructions"), "instructions", phaseVariables)
	phase.Compose = p.template(o.Get("compose"), "compose", phaseVariables)
	phase.Queue = p.queue(o)
	phase.Model = p.model(o, "model")
	phase.Tackle = p.tackle(o)
	phase.Context = p.context(o)
	inputs := o.Child("inputs")
	phase.Inputs = p.values(inputs, phaseVariables)
	if tool := o.Get("tool"); tool != nil {
		if t := p.phaseTool(tool, o, phase); t != nil {
			named := *t
			named.Position = p.Position(tool)
			phase.Tool = &named
			p.noteUnread(inputs, named.Cascade)
		}
	}
	phase.Together = p.together(o)
}

func (p *parser) handoffs(o *reader.Object) []Handoff {
	var out []Handoff
	seen := map[string]bool{}
	for _, n := range o.List("handoffs") {
		h, target := p.handoff(p.Resolve(n))
		if h.Target == "" {
			continue
		}
		p.refer(target, "handoffs", h.Target)
		if h.When == nil {
			if seen[h.Target] {
				p.Error(target, codes.Duplicate, "%q is a handoff already", h.Target)
			}
			seen[h.Target] = true
		}
		out = append(out, h)
	}
	return out
}

// handoff returns a handoff and the node of its target.
func (p *parser) handoff(n *yaml.Node) (Handoff, *yaml.Node) {
	if n.Kind != yaml.MappingNode {
		return Handoff{Target: p.Word(n, "a handoff")}, n
	}
	o := p.Fields(n, "a handoff")
	h := Handoff{Target: o.Required("target"), Description: o.Text("description")}
	when := o.Get("when")
	if h.When = p.expression(when, "when"); h.When != nil {
		for _, f := range p.fieldsOf(when, h.When) {
			if f.Path[0] == "output" {
				p.facts.Fields = append(p.facts.Fields, checks.Field{Phase: p.reading, Path: f.Path[1:], At: f.At})
			}
		}
	}
	o.Done()
	return h, o.Get("target")
}

func (p *parser) subs(o *reader.Object) []*Sub {
	var out []*Sub
	for _, n := range o.List("sub_cascades") {
		sub := p.Object(n, "a sub-cascade")
		if sub == nil {
			continue
		}
		s := &Sub{ContextIn: sub.Flag("context_in", true), ContextOut: sub.Flag("context_out", true)}
		given := sub.Child("input_map")
		s.InputMap = p.mapped(given)
		sub.Needs("ref")
		if ref := sub.Get("ref"); ref != nil {
			if s.Cascade = p.nested(ref, "ref"); s.Cascade != nil {
				p.noteUnread(given, s.Cascade)
				out = append(out, s)
			}
		}
		sub.Done()
	}
	return out
}

// mapped reads the input_map of a sub-cascade. As in Windlass, a value may be the name of an
// input, and then means the value of that input. mapped warns about such a value.
func (p *parser) mapped(o *reader.Object) Values {
	values := p.values(o, phaseVariables)
	for key, value := range values {
		name, isText := value.(string)
		if isText && p.facts.Declared[name] {
			values[key] = Reference{[]string{"input", name}, name}
			p.Warn(o.Value[key], codes.Meaning,
				"input_map: %s is the value of the input %s, as in Windlass: write \"{{ input.%s }}\"", key, name, name)
		}
	}
	return values
}

// expect reads the share of planted faults that the checks of the phase must catch.
func (p *parser) expect(o *reader.Object, phase *Phase) (caught float64) {
	if o == nil {
		return 0
	}
	o.Needs("caught")
	switch least := o.Between("caught", 0, 1); {
	case least != nil && *least == 0:
		p.Error(o.Value["caught"], codes.Value, "caught must be more than 0, not 0")
	case least != nil:
		caught = *least
	}
	o.Done()
	if len(phase.Wards.Turn)+len(phase.Wards.Post) == 0 && phase.OutputSchema == nil && phase.Rules.Loop == nil && (phase.Tool == nil || phase.Tool.Validator == nil) {
		p.Error(o.Node, codes.Conflict, "expect means nothing here: no check of phase %s sees its text", phase.Name)
	}
	return caught
}

func (p *parser) extraction(o *reader.Object) *Extraction {
	if o == nil {
		return nil
	}
	e := &Extraction{StoreAs: o.Required("store_as"), Required: o.Flag("required", false)}
	pattern := o.Required("pattern")
	e.JSON = o.OneOf("format", "text", "json") == "json"
	o.Done()
	made, err := patterns.Compile("(?s)" + pattern) // a dot also matches line feeds
	if err != nil {
		p.Error(o.Value["pattern"], codes.Pattern, "pattern: %v", err)
		return nil
	}
	e.Pattern = made
	return e
}

func (p *parser) human(o *reader.Object, phase string) *Human {
	if o == nil {
		return nil
	}
	h := &Human{Type: o.OneOf("type", Confirmation, Choice, Text, Edit), StoreAs: o.Text("store_as")}
	h.Prompt = p.template(o.Get("prompt"), "prompt", checkVariables)
	h.Options = p.options(o)
	p.expiry(o, h)
	h.Notify = p.notify(o.Child("notify"))
	if h.StoreAs == "" {
		h.StoreAs = phase + "_answer"
	}
	o.Needs("prompt")
	if h.Type == Choice {
		if o.Needs("options"); o.Has("options") && len(h.Options) == 0 {
			p.Error(o.Value["options"], codes.Value, "a choice needs at least one option")
		}
	}
	if word := o.Text("type"); h.Type != Choice && o.Has("options") && (word == "" || word == string(h.Type)) {
		o.Conflict("options", "options are for the type choice, not %s", h.Type)
	}
	o.Done()
	return h
}

// expiry reads the time limit of a question, and the phase that follows when the limit
// expires.
func (p *parser) expiry(o *reader.Object, h *Human) {
	h.Expires = o.Duration("expires")
	h.OnExpired = p.onError(o, "on_expired")
	if !o.Has("expires") {
		o.Conflict("on_expired", "on_expired means nothing without expires")
	}
}

// notify reads the program or the URL that receives a question.
func (p *parser) notify(o *reader.Object) *Notify {
	if o == nil {
		return nil
	}
	n := &Notify{URL: o.Text("url"), Dir: path.Dir(p.File.Name)}
	if o.Has("exec") {
		n.Argv = p.argv(o)
		p.starts(Program{What: "notify", Argv: n.Argv, Dir: n.Dir})
	}
	n.Env, n.Headers = p.environment(o), p.headers(o)
	switch {
	case o.Has("exec") && o.Has("url"):
		o.Conflict("url", "notify has both exec and url")
	case !o.Has("exec") && n.URL == "":
		p.Error(o.Node, codes.Missing, "notify needs exec or url")
	case o.Has("exec") && o.Has("headers"):
		o.Conflict("headers", "a program has no headers: env is what it sees")
	case n.URL != "" && o.Has("env"):
		o.Conflict("env", "a url sees nothing of the environment: headers are what it is sent")
	case n.URL != "":
		p.onlyVariables(o.Value["url"], "url", n.URL)
		if rest := process.WithoutVariables(n.URL); rest == n.URL && !strings.HasPrefix(rest, "http://") && !strings.HasPrefix(rest, "https://") {
			p.Error(o.Value["url"], codes.Value, "url must begin with http:// or https://, not %q", n.URL)
		}
	}
	texts := slices.Concat(n.Env, []string{"url=" + n.URL}, entries(n.Headers))
	if names := process.Needed(texts); len(names) > 0 {
		n.needs = []Need{{Position: p.Position(o.Node), Variables: names}}
	}
	o.Done()
	return n
}

// In returns the first group of the pattern in a text. If the pattern has no group, it returns
// the whole match. ok is false if the pattern does not match. In calls stop during its work,
// which is limited, and returns an error if it cannot finish.
func (e *Extraction) In(stop schema.Stop, text string) (found string, ok bool, err error) {
	groups, err := e.Pattern.GroupsWithin(patterns.NewBudget(stop), text)
	if groups == nil || err != nil {
		return "", false, err
	}
	return groups[min(len(groups)-1, 1)], true, nil
}
