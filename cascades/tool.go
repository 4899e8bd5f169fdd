package cascades

import (
	"cmp"
	"maps"
	"path"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// DefaultResult is the maximum size of a tool's result for a model, in bytes, unless the
// tool has a max_bytes of its own. Databases have their own limit.
const DefaultResult = 256 << 10

// minResult leaves room for the note about the omitted part.
const minResult = 100

// toolName is what models' endpoints accept as the name of a function.
var toolName = patterns.Lazy(`^[A-Za-z0-9_-]{1,64}$`)

// engineTools are the tools that the engine answers itself.
var engineTools = tool.NewSet(
	tool.Declared(SetState, "Set a value in the state of the run, where later phases can read it.", arguments("key", "value"), nil).That(tool.None),
	tool.Declared(AskHuman, "Ask a person a question, and wait for the answer. The answer is also in the state, under the name of the phase.", map[string]any{
		"type": "object", "required": []any{"question"}, "additionalProperties": false,
		"properties": map[string]any{
			"question": map[string]any{"type": "string", "minLength": 1, "maxLength": 4000, "description": "what to ask"},
			"options": map[string]any{
				"type": "array", "minItems": 1, "maxItems": 20, "description": "what there is to choose from; any text is an answer unless it is said",
				"items": map[string]any{"type": "string", "minLength": 1, "maxLength": 200},
			},
		},
	}, nil).That(tool.Reads),
	tool.Declared(RouteTo, "Choose the phase that follows this one.", arguments("target"), nil).That(tool.None),
)

// arguments is the schema of arguments that must all be there: the first a
// text, the others any value.
func arguments(names ...string) map[string]any {
	properties, required := map[string]any{}, []any{}
	for i, name := range names {
		properties[name] = map[string]any{}
		if i == 0 {
			properties[name] = map[string]any{"type": "string"}
		}
		required = append(required, name)
	}
	return map[string]any{"type": "object", "properties": properties, "required": required, "additionalProperties": false}
}

func (p *parser) defineTool(name string, defs *object) {
	if !toolName().MatchString(name) {
		p.report(defs.keys[name], CodeValue, "a tool's name may hold 64 letters, digits, _ and -, not %q", name)
	}
	p.broken["tool "+name] = true
	o := p.object(defs.value[name], "a tool")
	if o == nil {
		return
	}
	o.what = "tool " + name
	if t := p.toolForm(o, name); t != nil {
		p.cascade.Tools[name] = t
	}
	o.done()
}

func (p *parser) toolForm(o *object, name string) *Tool {
	t := &Tool{Name: name, Description: o.text("description"), Params: map[string]any{"type": "object"}}
	exec, nested := o.get("exec"), o.get("cascade")
	if n := o.get("parameters"); n != nil {
		if s := p.schema(n); s != nil {
			t.Params, _ = s.Source().(map[string]any)
		}
	}
	timeout := o.duration("timeout")
	if t.Receipt = p.receipt(o); t.Receipt != nil && t.Receipt.Alone {
		t.Params = t.Receipt.params()
	}
	if exec == nil {
		o.conflict("subject", "subject names arguments of exec, which %s does not have", o.what)
	}
	t.MaxBytes = o.whole("max_bytes", minResult, DefaultResult)
	if t.MaxBytes > maxBytes {
		p.report(o.get("max_bytes"), CodeValue, "max_bytes must be at most %d", maxBytes)
	}
	defer p.effect(o, t)
	switch {
	case exec != nil && nested != nil:
		o.conflict("cascade", "%s has both exec and cascade", o.what)
	case o.has("mcp"):
		for _, key := range []string{"exec", "cascade", "timeout", "parameters"} {
			o.conflict(key, "%s is an MCP server's and has no %s of its own", o.what, key)
		}
		p.refuseEnv(o)
		p.mcpTool(o, t)
	case exec != nil:
		argv, env := p.argv(o), p.environment(o)
		p.starts(Program{What: "tool " + name, Argv: argv, Dir: path.Dir(p.file), Subject: p.subject(o, argv), Pinned: true})
		program := tool.Exec{Argv: argv, Dir: path.Dir(p.file), Timeout: timeout, Env: env}
		t.Tool, t.needs = program.Tool(name, t.Description, t.Params), p.programNeeds(o, argv, path.Dir(p.file), env)
	case nested != nil:
		o.conflict("timeout", "a cascade's time is bounded by its own budget")
		o.conflict("env", "a cascade is no program: its own tools say what they see")
		o.conflict("parameters", "a cascade's parameters are its inputs_schema")
		for _, key := range []string{"effect", "idempotent", "queue", "requires_receipt"} {
			o.conflict(key, "%s of a cascade is that of the tools in it", key)
		}
		return t.takes(p.nested(nested, "cascade"))
	default:
		p.report(o.node, CodeMissing, "%s needs exec, cascade or mcp", o.what)
	}
	return t
}

// effect reads what a tool says of its effect: it writes unless the file says
// otherwise, for an MCP server too, whose hints nobody vouches for.
func (p *parser) effect(o *object, t *Tool) {
	effect, idempotent := o.oneOf("effect", string(tool.Writes), string(tool.Reads), string(tool.None)), o.flag("idempotent", false)
	t.Queue = p.queue(o)
	if t.Cascade != nil {
		return
	}
	t.Effect = tool.Effect(effect)
	t.Tool.Effect, t.Tool.Idempotent = t.Effect, idempotent
	p.demand(o, t)
}

// Effect is the worst of what the cascade's tools do, of nested ones too.
func (c *Cascade) Effect() tool.Effect {
	worst := tool.None
	for _, within := range c.Within() {
		for _, p := range within.EveryPhase() {
			for _, t := range p.tools() {
				if t.Validator == nil {
					worst = worst.Worse(t.Effect)
				}
			}
		}
	}
	return worst
}

// takes makes the tool that of a cascade, nil without one: its inputs are the arguments.
func (t *Tool) takes(c *Cascade) *Tool {
	if c == nil {
		return nil
	}
	t.Description = cmp.Or(t.Description, c.Description)
	t.Cascade, t.Params, t.Effect = c, c.Params(), c.Effect()
	return t
}

// Params is the JSON Schema of the cascade's inputs as a plain value.
func (c *Cascade) Params() map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, in := range c.Asked() {
		if in.Schema != nil {
			properties[in.Name] = in.Schema.Source()
		} else {
			properties[in.Name] = map[string]any{"description": in.Description}
		}
		if in.Required {
			required = append(required, in.Name)
		}
	}
	return map[string]any{"type": "object", "properties": properties, "required": required}
}

func (p *parser) tackle(o *object) []*Tool {
	var out []*Tool
	seen := map[string]string{} // how each is named there
	for _, n := range o.list("tackle") {
		name := p.word(n, "a tool of tackle")
		if name == "" {
			continue
		}
		t := p.tool(n, name)
		if t == nil {
			continue
		}
		if was, there := seen[t.Name]; there {
			if was == name || !near(was, t) && !near(name, t) {
				p.report(n, CodeDuplicate, "tool %q is in tackle already", t.Name)
			}
			continue
		}
		seen[t.Name] = name
		p.asks(t, nil)
		own := *t
		own.named, own.held, own.Position = name, &held{}, p.position(n)
		out = append(out, &own)
	}
	return out
}

// tool finds a tool by name: the file's own, a known one, the engine's, or a
// cascade file.
func (p *parser) tool(n *yaml.Node, name string) *Tool {
	if t := p.findTool(name); t != nil || p.broken["tool "+name] {
		return t
	}
	if slices.Contains(cascadeEndings, path.Ext(name)) {
		t := (&Tool{}).takes(p.nested(n, "cascade"))
		if t == nil {
			return nil
		}
		t.Name = t.Cascade.ID
		if !toolName().MatchString(t.Name) {
			p.report(n, CodeValue, "cascade_id %q cannot be a tool's name: use letters, digits, _ and -", t.Name)
		}
		return t
	}
	if t, found := p.tackled(n, name); found {
		return t
	}
	if t := p.nearTool(n, name); t != nil {
		return t
	}
	if t := p.missingTool(n, name); t != nil {
		return t
	}
	p.noTool(n, "tool", name, p.toolNames)
	return nil
}

func (p *parser) findTool(name string) *Tool {
	if t, ok := p.cascade.Tools[name]; ok {
		return t
	}
	found, err := engineTools.Find(name)
	own := err == nil
	if !own {
		found, err = p.known.Tools.Find(name)
	}
	if err != nil {
		return nil
	}
	if t, over := p.overDatabases(found); over {
		return t
	}
	effect := found.Effect.Worse(tool.None)
	if found.Remote() {
		return &Tool{Name: name, Tool: found, Effect: effect, remote: true, needs: []Need{{Remote: found}}}
	}
	return &Tool{Name: name, Description: found.Description, Params: found.Params(), Tool: found, Effect: effect, Engine: own}
}

func (p *parser) toolNames() []string {
	names := slices.Sorted(maps.Keys(p.cascade.Tools))
	for _, t := range append(p.known.Tools.List(), engineTools.List()...) {
		names = append(names, t.Name)
	}
	return names
}

// phaseTool finds what a deterministic phase runs: a tool, or a validator
// whose parameters are the inputs and whose text is their content.
func (p *parser) phaseTool(n *yaml.Node, o *object, phase *Phase) *Tool {
	name := p.word(n, "tool")
	if name == "" || p.broken["tool "+name] && p.cascade.Tools[name] == nil {
		return nil
	}
	if name == RouteTo {
		p.report(n, CodeValue, "%s is for a model; use handoffs with when", RouteTo)
		return nil
	}
	if t := p.findTool(name); t != nil {
		p.asks(t, phase.Inputs)
		if phase.Inputs != nil || !o.has("inputs") {
			at := n
			if in := o.get("inputs"); in != nil {
				at = in
			}
			p.checkInputs(at, t, phase.Inputs)
		}
		return t
	}
	found, err := p.known.Validators.Find(name)
	switch {
	case p.broken["validator "+name] || err == nil:
		return p.validatorTool(n, o, found)
	case slices.Contains(cascadeEndings, path.Ext(name)):
		return p.tool(n, name)
	}
	if t, found := p.tackled(n, name); found {
		return t
	}
	if t := p.missingTool(n, name); t != nil {
		return t
	}
	p.noTool(n, "tool or validator", name, func() []string { return append(p.toolNames(), p.validatorNames()...) })
	return nil
}

// validatorTool makes a phase's tool of a validator: the file's own, or the
// one found among the built-in.
func (p *parser) validatorTool(n *yaml.Node, phase *object, found validators.Validator) *Tool {
	with := p.gateInputs(phase)
	if name := n.Value; p.broken["validator "+name] {
		v := p.find(n, name, with)
		if v == nil {
			return nil
		}
		return &Tool{Name: name, Validator: v}
	}
	values, ok := p.parameters(with, found, phaseVariables)
	if !ok {
		return nil
	}
	return &Tool{Name: found.Name, Validator: p.bound(n, found, values)}
}

// gateInputs are the inputs of a phase that are a validator's parameters: all
// but the text to judge. It is nil where there are none.
func (p *parser) gateInputs(phase *object) *object {
	n := phase.get("inputs")
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	o := p.fields(n, "inputs")
	o.without("content")
	if len(o.order) == 0 {
		return nil
	}
	return o
}

// checkInputs checks inputs against the tool's parameters, as far as they are
// written out; n is where they stand, or the tool.
func (p *parser) checkInputs(n *yaml.Node, t *Tool, inputs Values) {
	p.fit(n, "tool "+t.Name, t.Params, inputs)
}
