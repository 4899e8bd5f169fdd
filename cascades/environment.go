package cascades

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/process"
)

// variableName matches the names of environment variables.
var variableName = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_.()-]*$`)

// environment reads the environment variables of a program, in the form of
// [process.Environment]. The key env has a mapping of names to texts, or a list of
// names and mappings. The program inherits a variable without a text.
func (p *parser) environment(o *reader.Object) []string {
	n := o.Get("env")
	if n == nil {
		return nil
	}
	e := &environment{p: p, seen: map[string]bool{}}
	switch n.Kind {
	case yaml.MappingNode:
		e.mapping(n)
	case yaml.SequenceNode:
		for _, entry := range n.Content {
			if entry = p.Resolve(entry); entry.Kind == yaml.MappingNode {
				e.mapping(entry)
			} else {
				e.entry(entry)
			}
		}
	default:
		p.Error(n, codes.Type, "env must be a list of variables, or a mapping of them to texts, not %s", reader.KindOf(n))
	}
	return e.list
}

// An environment collects variables.
type environment struct {
	p    *parser
	list []string
	seen map[string]bool
}

// mapping reads variables with their texts. The program inherits a variable whose
// value is null.
func (e *environment) mapping(n *yaml.Node) {
	o := e.p.Fields(n, "env")
	for _, name := range o.Order {
		entry, value := name, e.p.Resolve(o.Value[name])
		if value.Tag != "!!null" {
			text, _ := e.p.Text(value, name)
			e.p.onlyVariables(value, name, text)
			entry += "=" + text
		}
		e.add(o.Keys[name], name, entry)
	}
}

// entry reads an entry of a list: a name, or NAME=text.
func (e *environment) entry(n *yaml.Node) {
	entry, ok := e.p.Text(n, "a variable of env")
	if !ok {
		return
	}
	name, value, _ := strings.Cut(entry, "=")
	e.p.onlyVariables(n, name, value)
	e.add(n, name, entry)
}

func (e *environment) add(n *yaml.Node, name, entry string) {
	switch {
	case !variableName().MatchString(name):
		e.p.Error(n, codes.Value, "%q cannot be the name of a variable", name)
		e.p.suggestVariable(strings.NewReplacer("env.", "", "$", "", "{", "", "}", "", " ", "", "\t", "").Replace(name))
	case strings.ContainsRune(entry, 0):
		e.p.Error(n, codes.Value, "the text of %s holds a character that a variable cannot", name)
	case e.seen[name]:
		e.p.Error(n, codes.Duplicate, "the variable %s stands twice in env", name)
	default:
		e.list = append(e.list, entry)
	}
	e.seen[name] = true
}

// suggestVariable suggests a name if it is valid.
func (p *parser) suggestVariable(name string) {
	if variableName().MatchString(name) {
		p.Last().Suggestion = name
	}
}

// onlyVariables reports templates that read anything except environment
// variables, because the text is used outside a run.
func (p *parser) onlyVariables(n *yaml.Node, what, text string) {
	rest := process.WithoutVariables(text)
	for _, mark := range []string{"{{", "{%", "{#"} {
		if strings.Contains(rest, mark) {
			p.Error(n, codes.Template, "%s: only {{ env.NAME }} may stand in it", what)
			return
		}
	}
}

// protocolHeaders are the headers that the protocol itself uses. A name that ends with
// a dash is a prefix.
var protocolHeaders = []string{"accept", "connection", "content-", "host", "last-event-id", "mcp-", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = patterns.Lazy("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// headers reads the headers for requests to an MCP server or a URL.
func (p *parser) headers(o *reader.Object) map[string]string {
	h := o.Child("headers")
	if h == nil {
		return nil
	}
	out, seen := map[string]string{}, map[string]bool{}
	for _, name := range h.Order {
		n := p.Resolve(h.Value[name])
		text, ok := p.Text(n, name)
		key := strings.ToLower(name)
		switch {
		case !ok:
		case !headerName().MatchString(name):
			p.Error(h.Keys[name], codes.Value, "%q cannot be the name of a header", name)
		case slices.ContainsFunc(protocolHeaders, func(own string) bool { return key == own || strings.HasSuffix(own, "-") && strings.HasPrefix(key, own) }):
			p.Error(h.Keys[name], codes.Conflict, "the header %s is the protocol's own", name)
		case seen[key]:
			p.Error(h.Keys[name], codes.Duplicate, "the header %s stands twice", name)
		case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			p.Error(n, codes.Value, "the header %s holds a character that a header cannot", name)
		default:
			p.onlyVariables(n, name, text)
			out[name] = text
		}
		seen[key] = true
	}
	return out
}
