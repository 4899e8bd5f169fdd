package cascades

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/pins"
	"github.com/seed61713e19/capstan/internal/reports"
	"github.com/seed61713e19/capstan/wards"
)

var hookEvents = []string{keywords.OnWrite, keywords.OnCommand, keywords.OnStop, keywords.OnSubagent, keywords.OnPrompt}

// A Hook is a rule for one event of a coding agent. The command capstan hook
// applies it.
type Hook struct {
	Name        string           // the event and the number of the rule in the file: write-1
	On          string           // write, command, stop, subagent or prompt
	Files       []string         // patterns of the files of write and stop; nil for all files, or for the last message
	Match       patterns.Pattern // the pattern that the text must contain; nil for any text
	Phase       string           // the phase with the checks; "" if the hook has its own checks
	MaxAttempts int
	OnExhausted string // hold, pass_marked or stop
	OnError     string // refuse or pass
	Position    syntax.Position
	Cascade     *Cascade // has one phase, which composes input.text and has the checks

	match string // the source of Match
}

// Applies reports whether the hook judges a text. The name of the file is slash-separated.
// A text without a file has the name "".
func (h *Hook) Applies(file, text string) bool {
	return (h.Files == nil || file == "" || pins.MatchAny(h.Files, file)) && (h.match == "" || h.Match.Match(text))
}

// hooks reads the key hooks.
func (p *parser) hooks(root *reader.Object) {
	if n := root.Get("hooks"); n != nil && n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		p.Error(n, codes.Value, "hooks must not be empty")
	}
	for i, n := range root.List("hooks") {
		if o := p.Object(n, "a hook"); o != nil {
			p.hook(root, o, i+1)
		}
	}
}

func (p *parser) hook(root, o *reader.Object, number int) {
	o.Needs("on")
	h := &Hook{On: o.OneOf("on", hookEvents...), Position: p.Position(o.Node)}
	h.Name = fmt.Sprintf("%s-%d", h.On, number)
	o.What = "hook " + h.Name
	if o.Has("files") {
		h.Files = p.globs(o, "files")
	}
	if h.On != keywords.OnWrite && h.On != keywords.OnStop {
		o.Conflict("files", "files means nothing here: %s has no files; use match", h.On)
	}
	if source := o.Text("match"); source != "" {
		pattern, err := patterns.Compile(source)
		if err != nil {
			p.Error(o.Value["match"], codes.Pattern, "match: %v", err)
		}
		h.Match, h.match = pattern, source
	}
	h.MaxAttempts = o.Whole("max_attempts", 1, wards.DefaultAttempts)
	h.OnExhausted = o.OneOf("on_exhausted", keywords.HookHold, keywords.HookMarked, keywords.HookStop)
	h.OnError = o.OneOf("on_error", keywords.HookRefuse, keywords.HookPass)
	h.Phase = o.Text("phase")
	phase := p.hookPhase(root, o, h)
	o.Done()
	if phase == nil {
		return
	}
	h.Cascade = p.hookCascade(root, h, phase)
	p.cascade.Hooks = append(p.cascade.Hooks, h)
}

// hookPhase returns the tree of a phase that composes input.text. It has the checks of the
// hook, or those of the phase that the hook names.
func (p *parser) hookPhase(root, o *reader.Object, h *Hook) *yaml.Node {
	own, named := o.Get("wards"), o.Get("phase")
	checks := mappingNode(o.Node)
	switch {
	case own != nil && named != nil:
		o.Conflict("phase", "%s has both wards and phase", o.What)
	case own != nil:
		if o.List("wards"); own.Kind == yaml.SequenceNode && len(own.Content) == 0 {
			p.Error(own, codes.Value, "wards must not be empty")
		}
		putNode(checks, "wards", putNode(mappingNode(own), "post", own))
	case named != nil:
		phase := phaseNode(root, h.Phase)
		if phase == nil {
			p.Error(named, codes.Phase, "phase: no phase is called %q", h.Phase)
			p.Suggest(h.Phase, func() []string { return phaseNames(p.cascade) })
			return nil
		}
		if copyChecks(checks, phase); len(checks.Content) == 0 {
			p.Error(named, codes.Conflict, "phase %s has no check of its text", h.Phase)
		}
	default:
		p.Error(o.Node, codes.Missing, "%s needs wards or phase", o.What)
		return nil
	}
	text := func(s string) *yaml.Node {
		return &yaml.Node{
			Kind: yaml.ScalarNode, Tag: "!!str", Style: yaml.DoubleQuotedStyle, Value: s, Line: o.Node.Line, Column: o.Node.Column,
		}
	}
	putNode(checks, "name", text(h.Name))
	return putNode(checks, "compose", text("{{ input.text }}"))
}

func phaseNames(c *Cascade) (names []string) {
	for _, p := range c.Phases {
		names = append(names, p.Name)
	}
	return names
}

// copyChecks copies the checks of a phase's text to another phase. Both phases are trees.
func copyChecks(into, phase *yaml.Node) {
	post := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Line: phase.Line, Column: phase.Column}
	given := valueNode(phase, "wards")
	for _, moment := range []wards.Moment{wards.Turn, wards.Post} {
		if list := valueNode(given, string(moment)); list != nil {
			post.Content = append(post.Content, list.Content...)
		}
	}
	if loop := valueNode(valueNode(phase, "rules"), "loop_until"); loop != nil {
		ward := mappingNode(loop)
		if loop.Kind == yaml.MappingNode {
			ward.Content = slices.Clone(loop.Content)
		} else {
			putNode(ward, "validator", loop)
		}
		post.Content = append(post.Content, ward)
	}
	if len(post.Content) > 0 {
		putNode(into, "wards", putNode(mappingNode(post), "post", post))
	}
	for _, key := range []string{"output_schema", "output_extraction"} {
		if n := valueNode(phase, key); n != nil {
			putNode(into, key, n)
		}
	}
}

// hookKeys are the keys of the file that the cascade of a hook also has.
var hookKeys = []string{"model", "providers", "databases", "validators", "tools", "budget", "protect", "$schema"}

// hookCascade reads the cascade of a hook. Its diagnostics have the positions of the
// file. Its source is the tree as JSON, so that a stored run can be loaded later.
func (p *parser) hookCascade(root *reader.Object, h *Hook, phase *yaml.Node) *Cascade {
	tree := mappingNode(root.Node)
	if id := root.Value["cascade_id"]; id != nil && id.Kind == yaml.ScalarNode {
		own := *id
		own.Value += "." + h.Name
		putNode(tree, "cascade_id", &own)
	}
	for _, key := range hookKeys {
		if n := root.Value[key]; n != nil {
			putNode(tree, key, n)
		}
	}
	list := &yaml.Node{Kind: yaml.SequenceNode, Tag: "!!seq", Content: []*yaml.Node{phase}, Line: phase.Line, Column: phase.Column}
	putNode(tree, "phases", list)
	child := p.child(p.File)
	child.loading, child.deciding = p.loading, new(Deciding)
	c := child.parseTree(tree)
	p.Merge(child.Reader)
	for _, d := range child.Found {
		if d.Severity == syntax.Wrong { // the file itself has the warnings
			p.Found = append(p.Found, d)
		}
	}
	if c == nil || child.Found.Broken() {
		return nil
	}
	source, err := json.Marshal(reader.PlainValue(tree))
	if err != nil {
		p.Error(phase, codes.Value, "the cascade of hook %s: %v", h.Name, err)
	}
	c.Source, c.Deciding = source, *child.deciding
	return c
}

// settle sets the files of the hook's cascade. The first file has the source of that
// cascade.
func (h *Hook) settle(files []File) {
	c := h.Cascade
	c.Files = slices.Clone(files)
	c.Files[0].Text = c.Source
	c.place()
}

// mappingNode returns an empty mapping with the position of another node.
func mappingNode(at *yaml.Node) *yaml.Node {
	return &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map", Line: at.Line, Column: at.Column}
}

// putNode appends a key to a mapping and returns the mapping.
func putNode(n *yaml.Node, key string, value *yaml.Node) *yaml.Node {
	name := &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: key, Line: value.Line, Column: value.Column}
	n.Content = append(n.Content, name, value)
	return n
}

// valueNode returns the value of a key, or nil. It resolves aliases.
func valueNode(n *yaml.Node, key string) *yaml.Node {
	for i := 0; n != nil && n.Kind == yaml.MappingNode && i+1 < len(n.Content); i += 2 {
		if n.Content[i].Value == key {
			value := n.Content[i+1]
			for value.Kind == yaml.AliasNode {
				value = value.Alias
			}
			return value
		}
	}
	return nil
}

// phaseNode returns the tree of the phase with a name, or nil.
func phaseNode(root *reader.Object, name string) *yaml.Node {
	list := root.Get("phases")
	for i := 0; list != nil && i < len(list.Content); i++ {
		phase := list.Content[i]
		for phase.Kind == yaml.AliasNode {
			phase = phase.Alias
		}
		if n := valueNode(phase, "name"); n != nil && n.Value == name {
			return phase
		}
	}
	return nil
}

// A DescribedHook describes a hook.
type DescribedHook struct {
	Name        string          `json:"name"`
	On          string          `json:"on"`
	Files       []string        `json:"files,omitempty"`
	Match       string          `json:"match,omitempty"`
	Phase       string          `json:"phase,omitempty"` // the phase with the checks
	MaxAttempts int             `json:"max_attempts"`
	OnExhausted string          `json:"on_exhausted"`
	OnError     string          `json:"on_error"`
	Gates       []DescribedGate `json:"gates"`
}

func (h *Hook) described() DescribedHook {
	d := DescribedHook{
		Name: h.Name, On: h.On, Files: h.Files, Phase: h.Phase, MaxAttempts: h.MaxAttempts,
		OnExhausted: h.OnExhausted, OnError: h.OnError, Gates: h.Cascade.Phases[0].described("").Gates, Match: h.match,
	}
	return d
}

// row writes the hook as one line of a table.
func (d DescribedHook) row(w io.Writer) {
	names := make([]string, len(d.Gates))
	for i, g := range d.Gates {
		names[i] = g.Validator
	}
	of := cmp.Or(strings.Join(d.Files, ", "), d.Match)
	fmt.Fprintf(w, "  %s\t%s\t%s\tat most %d attempts, then %s\n",
		d.Name, reports.Fit(of, 60), reports.Fit(strings.Join(names, ", "), 60), d.MaxAttempts, d.OnExhausted)
}
