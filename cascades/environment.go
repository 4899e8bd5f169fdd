package cascades

import (
	"slices"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/runner/process"
	"github.com/seed61713e19/capstan/validators/patterns"
)

// variableName is what systems take as the name of a variable, more or less.
var variableName = patterns.Lazy(`^[A-Za-z_][A-Za-z0-9_.()-]*$`)

// environment reads what a program sees beside the plain variables, as
// [process.Environment] has it: a list of names, which are passed on, a mapping
// of names to texts, or a list that holds both.
func (p *parser) environment(o *object) []string {
	n := o.get("env")
	if n == nil {
		return nil
	}
	e := &environment{p: p, seen: map[string]bool{}}
	switch n.Kind {
	case yaml.MappingNode:
		e.mapping(n)
	case yaml.SequenceNode:
		for _, entry := range n.Content {
			if entry = p.resolve(entry); entry.Kind == yaml.MappingNode {
				e.mapping(entry)
			} else {
				e.entry(entry)
			}
		}
	default:
		p.report(n, CodeType, "env must be a list of variables, or a mapping of them to texts, not %s", kindOf(n))
	}
	return e.list
}

// An environment is one being read.
type environment struct {
	p    *parser
	list []string
	seen map[string]bool
}

// mapping reads variables with their texts; one without a text is passed on.
func (e *environment) mapping(n *yaml.Node) {
	o := e.p.fields(n, "env")
	for _, name := range o.order {
		entry, value := name, e.p.resolve(o.value[name])
		if value.Tag != "!!null" {
			text, _ := e.p.text(value, name)
			e.p.ofVariables(value, name, text)
			entry += "=" + text
		}
		e.add(o.keys[name], name, entry)
	}
}

// entry reads one of a list: a name, or NAME=text.
func (e *environment) entry(n *yaml.Node) {
	entry, ok := e.p.text(n, "a variable of env")
	if !ok {
		return
	}
	name, value, _ := strings.Cut(entry, "=")
	e.p.ofVariables(n, name, value)
	e.add(n, name, entry)
}

func (e *environment) add(n *yaml.Node, name, entry string) {
	switch {
	case !variableName().MatchString(name):
		e.p.report(n, CodeValue, "%q cannot be the name of a variable", name)
		e.p.suggestVariable(strings.NewReplacer("env.", "", "$", "", "{", "", "}", "", " ", "", "\t", "").Replace(name))
	case strings.ContainsRune(entry, 0):
		e.p.report(n, CodeValue, "the text of %s holds a character that a variable cannot", name)
	case e.seen[name]:
		e.p.report(n, CodeDuplicate, "the variable %s stands twice in env", name)
	default:
		e.list = append(e.list, entry)
	}
	e.seen[name] = true
}

// suggestVariable suggests a name, if it is one.
func (p *parser) suggestVariable(name string) {
	if variableName().MatchString(name) {
		p.last().Suggestion = name
	}
}

// ofVariables reports templates in a text that hold anything but variables of
// the environment: there is no run yet when it is filled in.
func (p *parser) ofVariables(n *yaml.Node, what, text string) {
	rest := process.Rest(text)
	for _, mark := range []string{"{{", "{%", "{#"} {
		if strings.Contains(rest, mark) {
			p.report(n, CodeTemplate, "%s: only {{ env.NAME }} may stand in it", what)
			return
		}
	}
}

// protocolHeaders are those that the protocol itself sets; one that ends in a
// dash stands for all that begin so.
var protocolHeaders = []string{"accept", "connection", "content-", "host", "last-event-id", "mcp-", "te", "trailer", "transfer-encoding", "upgrade"}

var headerName = patterns.Lazy("^[A-Za-z0-9!#$%&'*+.^_`|~-]+$")

// headers reads what an MCP server over HTTP is sent with every request.
func (p *parser) headers(o *object) map[string]string {
	h := o.child("headers")
	if h == nil {
		return nil
	}
	out, seen := map[string]string{}, map[string]bool{}
	for _, name := range h.order {
		n := p.resolve(h.value[name])
		text, ok := p.text(n, name)
		key := strings.ToLower(name)
		switch {
		case !ok:
		case !headerName().MatchString(name):
			p.report(h.keys[name], CodeValue, "%q cannot be the name of a header", name)
		case slices.ContainsFunc(protocolHeaders, func(own string) bool { return key == own || strings.HasSuffix(own, "-") && strings.HasPrefix(key, own) }):
			p.report(h.keys[name], CodeConflict, "the header %s is the protocol's own", name)
		case seen[key]:
			p.report(h.keys[name], CodeDuplicate, "the header %s stands twice", name)
		case strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f }):
			p.report(n, CodeValue, "the header %s holds a character that a header cannot", name)
		default:
			p.ofVariables(n, name, text)
			out[name] = text
		}
		seen[key] = true
	}
	return out
}
