package schema

import (
	"fmt"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// A node is one place of a schema, ready to evaluate.
type node struct {
	at     string // its place, which orders what is reported
	raw    any    // as it is written
	res    *resource
	truth  *bool // of a schema that is true or false
	target bool  // references lead here
	leads  leads // whether there is a reference in it

	ref, recursiveRef *node
	dynamicRef        *node
	dynamicName       string

	types    typeSet
	typeList []string
	constant *constant
	enum     *enum
	format   string
	check    func(string) error

	allOf, anyOf, oneOf         []*node
	not, ifs, thens, elses      *node
	number                      *numberRules
	text                        *textRules
	object                      *objectRules
	array                       *arrayRules
	unevaluatedProps, unevItems *node
}

type numberRules struct{ minimum, maximum, above, below, multipleOf any }

type textRules struct {
	min, max int              // negative: none
	pattern  patterns.Matcher // nil: none
}

type objectRules struct {
	min, max   int
	required   []string
	properties map[string]*node
	patterns   []pattern
	additional *node
	names      *node
	schemas    []dependent
	requires   []dependent
}

type pattern struct {
	re patterns.Matcher
	n  *node
}

// A dependent is what the presence of a property asks for.
type dependent struct {
	word, property string
	needs          []string
	n              *node
}

type arrayRules struct {
	min, max                 int
	unique                   bool
	prefix                   []*node
	rest                     *node
	restWord                 string
	contains                 *node
	minContains, maxContains int
	marks                    bool // contains counts as having looked at an item
}

// node compiles one place.
func (c *compiler) node(res *resource, at string, raw any) (*node, error) {
	key := res.doc + "#" + at
	if n := c.nodes[key]; n != nil {
		return n, nil
	}
	n := &node{at: at, raw: raw, res: res}
	c.nodes[key] = n
	switch raw := raw.(type) {
	case bool:
		n.truth = &raw
		return n, nil
	case map[string]any:
		if inner := c.places[key]; inner != nil {
			n.res = inner
		}
		n.res.entered = true
		f := filler{compiler: c, n: n, raw: raw, year: n.res.dialect.year}
		f.fill()
		return n, f.err
	}
	return nil, fmt.Errorf("schema %s: %s", pathOf(stepsOf(at)), mistyped(booleanType|objectType, raw).Message)
}

// leads says whether references are in a node: not known yet, no, yes.
type leads int

// settle finds out whether references are in n or in what is written in it.
func (n *node) settle() bool {
	if n.leads == 0 {
		yes := n.ref != nil || n.recursiveRef != nil || n.dynamicRef != nil
		n.inside(func(child *node) { yes = child.settle() || yes })
		n.leads = 1
		if yes {
			n.leads = 2
		}
	}
	return n.leads == 2
}

// kept tells whether results at the node are remembered. What else there is
// cannot be reached twice from one kept result, so this bounds the work.
func (n *node) kept() bool { return n.target && n.leads == 2 }

// inside visits the schemas that are written in n's.
func (n *node) inside(visit func(*node)) {
	some := func(nodes ...*node) {
		for _, child := range nodes {
			if child != nil {
				visit(child)
			}
		}
	}
	some(n.allOf...)
	some(n.anyOf...)
	some(n.oneOf...)
	some(n.not, n.ifs, n.thens, n.elses, n.unevaluatedProps, n.unevItems)
	if a := n.array; a != nil {
		some(a.prefix...)
		some(a.rest, a.contains)
	}
	if o := n.object; o != nil {
		some(o.additional, o.names)
		for _, child := range o.properties {
			visit(child)
		}
		for _, p := range o.patterns {
			visit(p.n)
		}
		for _, d := range o.schemas {
			visit(d.n)
		}
	}
}
