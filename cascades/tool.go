package cascades

import (
	"cmp"
	"maps"
	"path"
	"reflect"
	"slices"
	"sync/atomic"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators"
)

// minResult is the minimum of max_bytes. It has space for the note about omitted text.
const minResult = 100

// toolName matches the function names that the endpoints of models accept.
var toolName = patterns.Lazy(`^[A-Za-z0-9_-]{1,64}$`)

// engineTools are the tools of the engine.
var engineTools = tool.NewSet(
	tool.Declared(keywords.SetState,
		"Set a value in the state of the run, where later phases can read it.", arguments("key", "value"), nil).WithEffect(tool.None),
	tool.Declared(keywords.AskHuman,
		"Ask a person a question, and wait for the answer. The answer is also in the state, under the name of the phase.", map[string]any{
			"type": "object", "required": []any{"question"}, "additionalProperties": false,
			"properties": map[string]any{
				"question": map[string]any{"type": "string", "minLength": 1, "maxLength": 4000, "description": "text of the question"},
				"options": map[string]any{
					"type": "array", "minItems": 1, "maxItems": 20, "description": "allowed answers. Default: any text",
					"items": map[string]any{"type": "string", "minLength": 1, "maxLength": 200},
				},
			},
		}, nil).WithEffect(tool.Reads),
	tool.Declared(keywords.RouteTo, "Choose the phase that follows this one.", arguments("target"), nil).WithEffect(tool.None),
)

// arguments returns a schema of required arguments. The first argument is a text, and the
// other arguments may have any value.
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

func (p *parser) defineTool(name string, defs *reader.Object) {
	if !toolName().MatchString(name) {
		p.Error(defs.Keys[name], codes.Value, "a tool's name may hold 64 letters, digits, _ and -, not %q", name)
	}
	p.broken["tool "+name] = true
	o := p.Object(defs.Value[name], "a tool")
	if o == nil {
		return
	}
	o.What = "tool " + name
	if t := p.toolForm(o, name); t != nil {
		p.cascade.Tools[name] = t
	}
	o.Done()
}

func (p *parser) toolForm(o *reader.Object, name string) *Tool {
	t := &Tool{Name: name, Description: o.Text("description"), Params: map[string]any{"type": "object"}}
	exec, nested := o.Get("exec"), o.Get("cascade")
	if n := o.Get("parameters"); n != nil {
		if s := p.schema(n); s != nil {
			t.Params, _ = s.Source().(map[string]any)
		}
	}
	timeout := o.Duration("timeout")
	if t.Receipt = p.receipt(o); t.Receipt != nil && t.Receipt.Alone {
		t.Params = t.Receipt.params()
	}
	if exec == nil {
		o.Conflict("subject", "subject names arguments of exec, which %s does not have", o.What)
	}
	t.MaxBytes = o.Whole("max_bytes", minResult, keywords.DefaultResult)
	if t.MaxBytes > maxBytes {
		p.Error(o.Get("max_bytes"), codes.Value, "max_bytes must be at most %d", maxBytes)
	}
	defer p.effect(o, t)
	switch {
	case exec != nil && nested != nil:
		o.Conflict("cascade", "%s has both exec and cascade", o.What)
	case o.Has("mcp"):
		for _, key := range []string{"exec", "cascade", "timeout", "parameters"} {
			o.Conflict(key, "%s is an MCP server's and has no %s of its own", o.What, key)
		}
		p.refuseEnv(o)
		p.mcpTool(o, t)
	case exec != nil:
		argv, env := p.argv(o), p.environment(o)
		subject := p.subject(o, argv)
		p.starts(Program{What: "tool " + name, Argv: argv, Dir: path.Dir(p.File.Name), Subject: subject, Pinned: true})
		program := tool.Exec{Argv: argv, Dir: path.Dir(p.File.Name), Timeout: timeout, Env: env}
		t.Tool, t.needs = program.Tool(name, t.Description, t.Params), p.programNeeds(o, argv, path.Dir(p.File.Name), env, subject)
	case nested != nil:
		o.Conflict("timeout", "a cascade's time is bounded by its own budget")
		o.Conflict("env", "a cascade is no program: its own tools say what they see")
		o.Conflict("parameters", "a cascade's parameters are its inputs_schema")
		for _, key := range []string{"effect", "idempotent", "queue", "requires_receipt"} {
			o.Conflict(key, "%s of a cascade is that of the tools in it", key)
		}
		return t.takes(p.nested(nested, "cascade"))
	default:
		p.Error(o.Node, codes.Missing, "%s needs exec, cascade or mcp", o.What)
	}
	return t
}

// effect reads the effect of a tool. Default: writes. The tools of MCP servers have the same
// default, because their hints are untrusted.
func (p *parser) effect(o *reader.Object, t *Tool) {
	effect, idempotent := o.OneOf("effect", string(tool.Writes), string(tool.Reads), string(tool.None)), o.Flag("idempotent", false)
	t.Queue = p.queue(o)
	if t.Cascade != nil {
		return
	}
	t.Effect = tool.Effect(effect)
	t.Tool.Effect, t.Tool.Idempotent = t.Effect, idempotent
	p.demand(o, t)
}

// Effect returns the most severe effect of the tools of the cascade and of its nested
// cascades.
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

// takes makes the tool run a cascade. The arguments of the tool are the inputs of the cascade.
// takes returns nil if c is nil.
func (t *Tool) takes(c *Cascade) *Tool {
	if c == nil {
		return nil
	}
	t.Description = cmp.Or(t.Description, c.Description)
	t.Cascade, t.Params, t.Effect = c, c.Params(), c.Effect()
	return t
}

// Params returns the JSON Schema of the cascade's inputs as a plain value.
func (c *Cascade) Params() map[string]any {
	properties, required := map[string]any{}, []any{}
	for _, in := range c.Inputs {
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

func (p *parser) tackle(o *reader.Object) []*Tool {
	var out []*Tool
	seen := map[string]string{} // names in the file, by name of the tool
	for _, n := range o.List("tackle") {
		name := p.Word(n, "a tool of tackle")
		if name == "" {
			continue
		}
		t := p.tool(n, name)
		if t == nil {
			continue
		}
		if other, known := seen[t.Name]; known {
			if other == name || !near(other, t) && !near(name, t) {
				p.Error(n, codes.Duplicate, "tool %q is in tackle already", t.Name)
			}
			continue
		}
		seen[t.Name] = name
		p.asks(t, nil)
		own := *t
		own.named, own.arguments, own.Position = name, &argumentSchema{}, p.Position(n)
		out = append(out, &own)
	}
	return out
}

// tool finds a tool by name. It may be a tool of the file, a known tool, a tool of the engine,
// or a cascade file.
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
			p.Error(n, codes.Value, "cascade_id %q cannot be a tool's name: use letters, digits, _ and -", t.Name)
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

// phaseTool finds the tool of a phase without a model. If the tool is a validator, the inputs
// are its parameters and the text.
func (p *parser) phaseTool(n *yaml.Node, o *reader.Object, phase *Phase) *Tool {
	name := p.Word(n, "tool")
	if name == "" || p.broken["tool "+name] && p.cascade.Tools[name] == nil {
		return nil
	}
	if name == keywords.RouteTo {
		p.Error(n, codes.Value, "%s is for a model; use handoffs with when", keywords.RouteTo)
		return nil
	}
	if t := p.findTool(name); t != nil {
		p.asks(t, phase.Inputs)
		if phase.Inputs != nil || !o.Has("inputs") {
			at := n
			if in := o.Get("inputs"); in != nil {
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

// validatorTool returns the tool of a phase that runs a validator of the file or a built-in
// validator.
func (p *parser) validatorTool(n *yaml.Node, phase *reader.Object, found validators.Validator) *Tool {
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

// gateInputs returns the inputs of a phase that are parameters of a validator. It omits the
// text, and returns nil if there are no parameters.
func (p *parser) gateInputs(phase *reader.Object) *reader.Object {
	n := phase.Get("inputs")
	if n == nil || n.Kind != yaml.MappingNode {
		return nil
	}
	o := p.Fields(n, "inputs")
	o.Without("content")
	if len(o.Order) == 0 {
		return nil
	}
	return o
}

// checkInputs checks fixed inputs against the parameters of the tool. n is the position of the
// inputs or of the tool.
func (p *parser) checkInputs(n *yaml.Node, t *Tool, inputs Values) {
	p.fit(n, "tool "+t.Name, t.Params, inputs)
}

// Described returns the description and the parameters of the tool for a model. For a tool of
// an MCP server, the first call requests them from the server and has a time limit. An error
// means that the tool is not available.
func (t *Tool) Described() (description string, params map[string]any, err error) {
	if !t.remote {
		return t.Description, t.Params, nil
	}
	description, params, err = t.Tool.Describe()
	return cmp.Or(t.Description, description), params, err
}

// An argumentSchema compiles the schema of the arguments of a tool at the first call. If an
// MCP server changes the schema, it compiles the schema again.
type argumentSchema struct{ last atomic.Pointer[compiled] }

type compiled struct {
	params map[string]any
	schema *schema.Schema // nil if it is invalid
}

func (h *argumentSchema) of(params map[string]any) *schema.Schema {
	if h == nil { // a phase without a model calls the tool once
		h = &argumentSchema{}
	}
	if c := h.last.Load(); c != nil && reflect.ValueOf(c.params).Pointer() == reflect.ValueOf(params).Pointer() {
		return c.schema
	}
	s, _ := schema.Compile(params) // nil if it is invalid
	h.last.Store(&compiled{params, s})
	return s
}

// Unfit returns the reason why the schema of the tool rejects the arguments of a call, or "".
func (t *Tool) Unfit(arguments map[string]any) string {
	_, params, _ := t.Described() // nil for an unavailable tool
	// A missing or invalid schema accepts all arguments.
	if err := t.arguments.of(params).Validate(nil, arguments); err != nil {
		return err.Error()
	}
	return ""
}
