package lsp

import (
	"maps"
	"slices"
	"strings"

	"go.lsp.dev/protocol"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/internal/keywords"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/templates"
)

// cursor marks the position in a text. It is a private character, which no
// keyboard types.
const cursor = '\uE0C5'

// An offer is a word that can be inserted at the cursor.
type offer struct {
	label, insert, detail, about string
	kind                         protocol.CompletionItemKind
}

// complete returns the words that can be inserted at a position of a text, and
// the first column of the word that they replace. The text need not be valid
// YAML.
func (s *server) complete(d *document, line, column int) (offers []offer, from int) {
	lines := strings.Split(d.text, "\n")
	if line >= len(lines) {
		return nil, 0
	}
	runes := []rune(lines[line])
	column = min(column, len(runes))
	lines[line] = string(slices.Insert(slices.Clone(runes), column, cursor))
	c := completion{server: s, document: d, tokens: tokensOf(syntax.New(d.file, []byte(strings.Join(lines, "\n"))))}
	i := slices.IndexFunc(c.tokens, func(t token) bool { return t.line == line && strings.ContainsRune(t.text, cursor) })
	if i < 0 {
		return nil, 0
	}
	t := c.tokens[i]
	c.spans = spans(slices.Delete(slices.Clone(c.tokens), i, i+1))
	before, _, _ := strings.Cut(t.text, string(cursor))
	from = t.start
	switch w := notationOf(t); {
	case w == templateText:
		return c.template(t, before)
	case w == expressionText:
		return c.expression(t, before)
	case t.key:
		return c.keys(t.path, t), from
	}
	offers = c.values(t)
	if len(t.path) == 0 || !strings.Contains(before, " ") {
		offers = append(offers, c.keys(t.path, t)...)
	}
	return offers, from
}

// A completion is one request for words.
type completion struct {
	*server
	document *document
	tokens   []token
	spans    []span
}

// keys returns the keys that can be added to the mapping at a path.
func (c completion) keys(path []string, at token) []offer {
	about := c.grammar.keys(path)
	maps.Copy(about, c.parametersIn(c.tokens, path))
	if schemaAt(path) {
		for _, word := range schema.Keywords(nil) {
			about[word] = "of JSON Schema"
		}
	}
	for _, t := range c.tokens {
		if t.key && slices.Equal(t.path, path) && (t.line != at.line || t.start != at.start) {
			delete(about, t.text)
		}
	}
	var offers []offer
	for _, name := range slices.Sorted(maps.Keys(about)) {
		offers = append(offers, offer{name, name + ": ", "", about[name], protocol.CompletionItemKindProperty})
	}
	return offers
}

// parametersIn returns the parameters that the keys with and inputs at a path accept, with their
// descriptions.
func (s *server) parametersIn(tokens []token, path []string) map[string]string {
	all := map[string]string{}
	if len(path) == 0 || path[len(path)-1] != "with" && path[len(path)-1] != "inputs" {
		return all
	}
	beside := path[:len(path)-1]
	for _, t := range tokens {
		if t.key || len(t.path) != len(path) || !slices.Equal(t.path[:len(beside)], beside) || !slices.Contains([]string{"validator", "use", "tool"}, t.name()) {
			continue
		}
		properties, _ := s.params(t.text)["properties"].(map[string]any)
		for name, one := range properties {
			property, _ := one.(map[string]any)
			all[name], _ = property["description"].(string)
		}
		if _, err := s.options.Known.Validators.Find(t.text); err == nil && path[len(path)-1] == "inputs" {
			all["content"] = "the text to judge"
		}
	}
	return all
}

// params returns the schema of the parameters of a validator or tool.
func (s *server) params(name string) map[string]any {
	if v, err := s.options.Known.Validators.Find(name); err == nil {
		return v.Params()
	}
	if t, err := s.options.Known.Tools.Find(name); err == nil && !t.Remote() {
		return t.Params()
	}
	return nil
}

// values returns the words and names that can be a value.
func (c completion) values(t token) []offer {
	var offers []offer
	known := c.grammar.values(t.path)
	if n := len(t.path); n > 0 && t.name() == "type" && schemaAt(t.path[:n-1]) {
		known = schema.Types()
	}
	for _, word := range known {
		offers = append(offers, offer{word, word, "", "", protocol.CompletionItemKindEnumMember})
	}
	for _, k := range named(t.path) {
		for _, name := range c.names(k, keyOf(t.path)) {
			about := ""
			if k == validations || k == toolNames {
				about = c.aboutName(c.document, k, name)
			}
			offers = append(offers, offer{name, name, string(k), about, protocol.CompletionItemKindReference})
		}
	}
	return offers
}

// instead has the words that a key accepts in place of a phase.
var instead = map[string][]string{
	"on_exhausted": {keywords.OnExhaustedFail, keywords.OnExhaustedLast, keywords.OnExhaustedBest},
	"on_error":     {keywords.OnExhaustedFail}, "on_expired": {keywords.OnExhaustedFail},
	"from": {keywords.Previous, keywords.First, keywords.All}, "handoffs": {keywords.EndOfRun}, "target": {keywords.EndOfRun},
}

// keyOf returns the last key of a path, without indexes of lists.
func keyOf(path []string) string {
	for _, word := range slices.Backward(path) {
		if !strings.HasPrefix(word, "[") {
			return word
		}
	}
	return ""
}

// names returns the names of a kind that a file can use under a key.
func (c completion) names(k kind, at string) []string {
	own := definedNames(c.spans, k)
	switch k {
	case phases:
		own = append(own, instead[at]...)
	case validations:
		own = append(own, c.options.Known.Validators.Names()...)
	case toolNames:
		for _, t := range append(c.options.Known.Tools.List(), cascades.EngineTools()...) {
			own = append(own, t.Name)
		}
	case models:
		for _, s := range c.spans {
			if s.kind == models {
				own = append(own, s.name)
			}
		}
		own = append(own, c.options.Models...)
	case filesNamed:
		own = c.beside(c.document)
	}
	seen := map[string]bool{}
	return slices.DeleteFunc(own, func(name string) bool {
		again := seen[name]
		seen[name] = true
		return again
	})
}

// template completes a word within {{ }} or {% %}.
func (c completion) template(t token, before string) ([]offer, int) {
	open := max(strings.LastIndex(before, "{{"), strings.LastIndex(before, "{%"))
	if open < 0 || max(strings.LastIndex(before, "}}"), strings.LastIndex(before, "%}")) > open {
		if name, ok := strings.CutPrefix(before, "@"); ok && !strings.ContainsAny(name, " {") {
			return words(c.beside(c.document), protocol.CompletionItemKindFile, "file"), t.start + 1
		}
		return nil, 0
	}
	inside := before[open+2:]
	chain, lead := lastChain(inside)
	from := t.start + len([]rune(before)) - len([]rune(chain[len(chain)-1]))
	lead = strings.TrimSpace(lead)
	switch {
	case len(chain) > 1:
		return c.members(t, chain[:len(chain)-1]), from
	case lead == "" && before[open+1] == '%':
		return words(templates.Statements(), protocol.CompletionItemKindKeyword, "statement"), from
	case strings.HasSuffix(lead, "|"):
		return words(templates.Filters(), protocol.CompletionItemKindFunction, "filter"), from
	case strings.HasSuffix(" "+lead, " is"), strings.HasSuffix(" "+lead, " is not"):
		return words(templates.Tests(), protocol.CompletionItemKindFunction, "test"), from
	}
	offers := words(cascades.Variables(t.name()), protocol.CompletionItemKindVariable, "variable")
	for _, s := range c.tokens { // the variables of each
		if !s.key && s.name() == "as" && len(s.path) > 3 && s.path[len(s.path)-2] == "each" && len(t.path) > 2 && slices.Equal(s.path[:2], t.path[:2]) {
			offers = append(offers, words([]string{s.text, keywords.Index}, protocol.CompletionItemKindVariable, "of each")...)
		}
	}
	return offers, from
}

// expression completes names, functions and fields.
func (c completion) expression(t token, before string) ([]offer, int) {
	chain, _ := lastChain(before)
	from := t.start + len([]rune(before)) - len([]rune(chain[len(chain)-1]))
	if len(chain) > 1 {
		return c.members(t, chain[:len(chain)-1]), from
	}
	offers := words(expressions.Variables(), protocol.CompletionItemKindVariable, "variable")
	for _, name := range expressions.Functions() {
		offers = append(offers, offer{name, name + "(", "function", "", protocol.CompletionItemKindFunction})
	}
	return offers, from
}

func words(list []string, k protocol.CompletionItemKind, detail string) []offer {
	var offers []offer
	for _, word := range list {
		offers = append(offers, offer{word, word, detail, "", k})
	}
	return offers
}

// lastChain splits a text into the dotted names at its end and the text before them. The last
// name can be empty.
func lastChain(text string) (chain []string, lead string) {
	runes := []rune(text)
	i := len(runes)
	for i > 0 && (wordly(runes[i-1]) || runes[i-1] == '.' || runes[i-1] == '?' && i < len(runes) && runes[i] == '.') {
		i--
	}
	return strings.Split(strings.ReplaceAll(string(runes[i:]), "?.", "."), "."), string(runes[:i])
}

// members returns the names that can follow a chain in a text.
func (c completion) members(t token, chain []string) []offer {
	switch {
	case chain[0] == "outputs" && len(chain) == 1:
		return words(definedNames(c.spans, phases), protocol.CompletionItemKindField, "the output of a phase")
	case chain[0] == "input" && len(chain) == 1:
		return words(definedNames(c.spans, inputs), protocol.CompletionItemKindField, "input")
	case chain[0] == "outputs":
		for _, one := range c.tokens {
			if defines(one) == phases && one.text == chain[1] {
				return c.fields(one.path[:len(one.path)-1], chain[2:])
			}
		}
	case chain[0] == "output" && len(t.path) > 2: // of its own phase
		phase := t.path[:2]
		if len(t.path) > 4 && t.path[2] == "together" {
			phase = t.path[:4]
		}
		return c.fields(phase, chain[1:])
	}
	return nil
}

// fields returns the properties in the output_schema of a phase, at a path
// within the output.
func (c completion) fields(phase, path []string) []offer {
	at := append(slices.Clone(phase), "output_schema", "properties")
	for _, name := range path {
		at = append(at, name, "properties")
	}
	var offers []offer
	for _, p := range c.tokens {
		if p.key && slices.Equal(p.path, at) {
			offers = append(offers, offer{p.text, p.text, "a field of the output", "", protocol.CompletionItemKindField})
		}
	}
	return offers
}
