package cascades

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/documents"
	"github.com/seed61713e19/capstan/runner/exchanges"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators/schema"
)

// An Example is a question with an answer, which a model reads before its instructions.
type Example struct {
	User, Assistant string

	at Position
}

// A Feedback limits the refused texts that a retry contains.
type Feedback struct {
	KeepLast bool // the last refused attempt only
	MaxChars int  // of one feedback; 0 for no limit
}

// leastFeedback is the smallest max_chars. The shipped feedback fits in it without the
// list of failed checks.
const leastFeedback = 200

// String lists the limits; "" if there is none.
func (f Feedback) String() string {
	var parts []string
	if f.KeepLast {
		parts = append(parts, "the last refused attempt")
	}
	if f.MaxChars > 0 {
		parts = append(parts, fmt.Sprintf("at most %d characters", f.MaxChars))
	}
	return strings.Join(parts, ", ")
}

func (p *parser) feedback(o *object) (f Feedback) {
	if o == nil {
		return f
	}
	f.KeepLast = o.oneOf("keep", "all", "last") == "last"
	f.MaxChars = o.whole("max_chars", leastFeedback, 0)
	o.done()
	return f
}

// A preface begins the conversations of a phase, or of each phase of a file.
type preface struct {
	system   *templates.Template
	examples []Example
}

func (p *parser) preface(o *object) preface {
	return preface{p.template(o.get("system"), "system", phaseVariables), p.examples(o.get("examples"))}
}

// introduce gives the phases with a model the file's system text and examples, if they
// have none of their own, and compares examples with the output_schema.
func (p *parser) introduce(o *object, file preface) {
	models := 0
	for _, phase := range p.cascade.EveryPhase() {
		if phase.Instructions == nil {
			continue
		}
		models++
		if phase.System == nil {
			phase.System = file.system
		}
		if phase.Examples == nil {
			phase.Examples = file.examples
		}
		p.checkExamples(phase)
	}
	for _, key := range []string{"system", "examples"} {
		if models == 0 && len(p.cascade.Phases) > 0 {
			o.conflict(key, "%s means nothing here: no phase of the file asks a model", key)
		}
	}
}

// checkExamples warns of answers that the phase's own schema refuses.
func (p *parser) checkExamples(phase *Phase) {
	if phase.OutputSchema == nil {
		return
	}
	for i, e := range phase.Examples {
		_, broken, err := schema.Extract(nil, e.Assistant, phase.OutputSchema)
		if len(broken) > 0 {
			err = broken[0]
		}
		if err != nil {
			p.note(Warning, e.at, CodeValue, "the answer of example %d does not follow the output_schema of phase %s: %v", i+1, phase.Name, err)
		}
	}
}

// examples reads a list of examples, or the file of one; nil where there is none.
func (p *parser) examples(n *yaml.Node) []Example {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		name, ok := ownFile(n.Value)
		if !ok {
			p.report(n, CodeType, `examples must be a list or a file, not %s: write [{user: …, assistant: …}] or "@examples.yaml"`, kindOf(n))
			return nil
		}
		return p.exampleFile(n, p.beside(name))
	}
	return p.exampleList(n)
}

func (p *parser) exampleList(n *yaml.Node) []Example {
	if n.Kind != yaml.SequenceNode {
		p.report(n, CodeType, "examples must be a list, not %s: write [{user: …, assistant: …}]", kindOf(n))
		return nil
	}
	list := []Example{}
	for i, one := range n.Content {
		o := p.object(one, "an example")
		if o == nil {
			continue
		}
		o.what = fmt.Sprintf("example %d", i+1)
		list = append(list, Example{p.exampleText(o, "user"), p.exampleText(o, "assistant"), p.position(o.node)})
		o.done()
	}
	return list
}

func (p *parser) exampleText(o *object, key string) string {
	n := o.get(key)
	switch {
	case n == nil:
		p.report(o.node, CodeMissing, "%s needs %s: write {user: …, assistant: …}", o.what, key)
		return ""
	case n.Kind != yaml.ScalarNode:
		p.report(n, CodeType, `%s must be text, not %s: write JSON as a text, such as '{"score": 3}'`, key, kindOf(n))
		return ""
	}
	text := p.word(n, key)
	if strings.Contains(text, "{{") {
		p.warn(n, CodeOtherwise, "%s: {{ stays as it is: examples are no templates", key)
	}
	return text
}

// exampleFile reads a file of examples: a list in YAML or JSON, or with the ending .jsonl
// one example a line.
func (p *parser) exampleFile(n *yaml.Node, file string) []Example {
	source, err := p.readFile(file)
	if err != nil {
		p.report(n, CodeFile, "%v", err)
		return nil
	}
	own := p.child(file, source)
	list := own.examplesIn()
	p.nodes = own.nodes
	if p.found = append(p.found, own.found...); len(list) == 0 && len(own.found) == 0 {
		p.report(n, CodeFile, "%s has no examples", file)
	}
	return list
}

// examplesIn reads the parser's file.
func (p *parser) examplesIn() []Example {
	if !strings.HasSuffix(p.file, ".jsonl") {
		if doc := p.document(); doc != nil && p.sound(doc.Content[0], nil) {
			return p.exampleList(p.resolve(doc.Content[0]))
		}
		return nil
	}
	all := &yaml.Node{Kind: yaml.SequenceNode}
	for i, line := range strings.Split(string(documents.Unmarked(p.source)), "\n") {
		if strings.TrimSpace(line) == "" {
			continue
		}
		doc, wrong := documents.Read("line.json", []byte(line))
		if wrong != nil {
			p.reportAt(Position{p.file, i + 1, wrong.Column}, CodeSyntax, "%s", wrong.Message)
			continue
		}
		move(doc.Content[0], i)
		all.Content = append(all.Content, doc.Content[0])
	}
	return p.exampleList(all)
}

// move adds lines above a tree.
func move(n *yaml.Node, lines int) {
	n.Line += lines
	for _, e := range n.Content {
		move(e, lines)
	}
}

// prefaceWeight returns the estimated number of tokens of the system message and the
// examples. system is the text of the message.
func (p *Phase) prefaceWeight(system string) int {
	var list []model.Message
	if system != "" {
		list = append(list, model.Message{Role: model.System, Content: system})
	}
	for _, e := range p.Examples {
		list = append(list, model.Message{Role: model.User, Content: e.User}, model.Message{Role: model.Assistant, Content: e.Assistant})
	}
	return exchanges.Begin(list...).Weight()
}

// systemSource is the template of the system text; "" for none.
func (p *Phase) systemSource() string {
	if p.System == nil {
		return ""
	}
	return p.System.Source()
}
