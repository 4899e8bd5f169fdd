package cascades

import (
	"fmt"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/checks"
	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/exchanges"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/templates"
)

// An Example is a question with its answer. The instructions for a model follow the examples.
type Example struct {
	User, Assistant string

	at syntax.Position
}

// A Feedback limits the rejected texts in the prompt of a retry.
type Feedback struct {
	KeepLast bool // only the last rejected attempt
	MaxChars int  // maximum length of one feedback; 0 for no limit
}

// leastFeedback is the minimum of max_chars. It has space for the default feedback without the
// list of failed checks.
const leastFeedback = 200

// text lists the limits. It returns "" if there are none.
func (f Feedback) text() string {
	var parts []string
	if f.KeepLast {
		parts = append(parts, "the last refused attempt")
	}
	if f.MaxChars > 0 {
		parts = append(parts, fmt.Sprintf("at most %d characters", f.MaxChars))
	}
	return strings.Join(parts, ", ")
}

func (p *parser) feedback(o *reader.Object) (f Feedback) {
	if o == nil {
		return f
	}
	f.KeepLast = o.OneOf("keep", "all", "last") == "last"
	f.MaxChars = o.Whole("max_chars", leastFeedback, 0)
	o.Done()
	return f
}

// A preface is the beginning of a conversation. A phase or a file may have one.
type preface struct {
	system   *templates.Template
	examples []Example
}

func (p *parser) preface(o *reader.Object) preface {
	return preface{p.template(o.Get("system"), "system", phaseVariables), p.examples(o.Get("examples"))}
}

// introduce adds the system text and the examples of the file to the phases with a model. It
// does not replace those of a phase.
func (p *parser) introduce(o *reader.Object, file preface) {
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
		for i, e := range phase.Examples {
			if phase.OutputSchema != nil {
				p.facts.Examples = append(p.facts.Examples, checks.Example{Phase: phase.Name, Number: i + 1, Answer: e.Assistant, Position: e.at, Schema: phase.OutputSchema})
			}
		}
	}
	for _, key := range []string{"system", "examples"} {
		if models == 0 && len(p.cascade.Phases) > 0 {
			o.Conflict(key, "%s means nothing here: no phase of the file asks a model", key)
		}
	}
}

// examples reads a list of examples. The list is in the cascade file or in another file.
// examples returns nil if there are none.
func (p *parser) examples(n *yaml.Node) []Example {
	if n == nil {
		return nil
	}
	if n.Kind == yaml.ScalarNode {
		name, ok := ownFile(n.Value)
		if !ok {
			p.Error(n, codes.Type,
				`examples must be a list or a file, not %s: write [{user: …, assistant: …}] or "@examples.yaml"`, reader.KindOf(n))
			return nil
		}
		return p.exampleFile(n, p.beside(name))
	}
	return p.exampleList(n)
}

func (p *parser) exampleList(n *yaml.Node) []Example {
	if n.Kind != yaml.SequenceNode {
		p.Error(n, codes.Type, "examples must be a list, not %s: write [{user: …, assistant: …}]", reader.KindOf(n))
		return nil
	}
	list := []Example{}
	for i, one := range n.Content {
		o := p.Object(one, "an example")
		if o == nil {
			continue
		}
		o.What = fmt.Sprintf("example %d", i+1)
		list = append(list, Example{p.exampleText(o, "user"), p.exampleText(o, "assistant"), p.Position(o.Node)})
		o.Done()
	}
	return list
}

func (p *parser) exampleText(o *reader.Object, key string) string {
	n := o.Get(key)
	switch {
	case n == nil:
		p.Error(o.Node, codes.Missing, "%s needs %s: write {user: …, assistant: …}", o.What, key)
		return ""
	case n.Kind != yaml.ScalarNode:
		p.Error(n, codes.Type, `%s must be text, not %s: write JSON as a text, such as '{"score": 3}'`, key, reader.KindOf(n))
		return ""
	}
	text := p.Word(n, key)
	if strings.Contains(text, "{{") {
		p.Warn(n, codes.Meaning, "%s: {{ stays as it is: examples are no templates", key)
	}
	return text
}

// exampleFile reads a file of examples. If its name ends with .jsonl, each line is an example.
// Other files contain a list in YAML or JSON.
func (p *parser) exampleFile(n *yaml.Node, file string) []Example {
	source, err := p.readFile(file)
	if err != nil {
		p.Error(n, codes.File, "%v", err)
		return nil
	}
	own := p.child(syntax.New(file, source))
	list := own.examplesIn()
	p.Merge(own.Reader)
	if p.Found = append(p.Found, own.Found...); len(list) == 0 && len(own.Found) == 0 {
		p.Error(n, codes.File, "%s has no examples", file)
	}
	return list
}

// examplesIn reads the examples in the file of the parser.
func (p *parser) examplesIn() []Example {
	if !strings.HasSuffix(p.File.Name, ".jsonl") {
		if list := p.Tree(); list != nil {
			return p.exampleList(p.Resolve(list))
		}
		return nil
	}
	all := &yaml.Node{Kind: yaml.SequenceNode}
	for i, text := range p.File.Lines() {
		if strings.TrimSpace(text) == "" {
			continue
		}
		root, mistake := syntax.New("line.json", []byte(text)).Tree()
		if mistake != nil {
			p.ErrorAt(syntax.Position{File: p.File.Name, Line: i + 1, Column: mistake.Column}, codes.Syntax, "%s", mistake.Message)
			continue
		}
		value := root.Content[0]
		move(value, i)
		all.Content = append(all.Content, value)
	}
	return p.exampleList(all)
}

// move adds a number of lines to the positions of a tree.
func move(n *yaml.Node, lines int) {
	n.Line += lines
	for _, e := range n.Content {
		move(e, lines)
	}
}

// prefaceWeight returns the estimated number of tokens of the system message and the examples.
// system is the text of the system message.
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

// systemSource returns the template of the system text, or "" if there is none.
func (p *Phase) systemSource() string {
	if p.System == nil {
		return ""
	}
	return p.System.Source()
}

// A TokenBudget limits the estimated tokens of the conversation of a try.
type TokenBudget struct {
	MaxTotal int // limit for the messages and the answer
	Reserve  int // part of the limit for the answer
	Strategy string

	at *yaml.Node
}

// text describes the limit and the strategy.
func (b *TokenBudget) text() string { return fmt.Sprintf("%d tokens, else %s", b.Room(), b.Strategy) }

// Room returns the maximum number of tokens that a request may contain.
func (b *TokenBudget) Room() int { return b.MaxTotal - b.Reserve }

// sumsUp reports whether the model of the phase may be asked for a summary.
func (p *Phase) sumsUp() bool {
	return p.TokenBudget != nil && p.TokenBudget.Strategy == keywords.Summarize
}

// tokenBudget reads the token_budget of a phase or of the file.
func (p *parser) tokenBudget(o *reader.Object) *TokenBudget {
	if o == nil {
		return nil
	}
	b := &TokenBudget{at: o.Node, MaxTotal: o.Whole("max_total", 1, 0), Reserve: o.Whole("reserve_for_output", 0, 0)}
	b.Strategy = o.OneOf("strategy", keywords.Fail, keywords.PruneOldest, keywords.Summarize)
	if o.Needs("max_total"); b.MaxTotal > 0 && b.Room() <= 0 {
		p.Error(o.Value["reserve_for_output"], codes.Value,
			"reserve_for_output must be less than max_total, which is %d, not %d", b.MaxTotal, b.Reserve)
	}
	o.Done()
	return b
}

// weigh sets the token_budget of the file for each phase that has a model and no token_budget.
// It records the weight of the fixed texts for a rule.
func (p *parser) weigh(file *TokenBudget) {
	for _, phase := range p.cascade.EveryPhase() {
		if phase.Instructions == nil {
			continue
		}
		if phase.TokenBudget == nil {
			phase.TokenBudget = file
		}
		b := phase.TokenBudget
		if b == nil || b.Room() <= 0 {
			continue
		}
		preface, what := phase.prefaceWeight(phase.systemSource()), "the instructions"
		if preface > 0 {
			what = "system, examples and instructions"
		}
		p.facts.Weights = append(p.facts.Weights, checks.Weight{
			Node: b.at, Phase: phase.Name, What: what, Tokens: preface + exchanges.Weigh(phase.Instructions.Source()), Room: b.Room(),
		})
	}
}
