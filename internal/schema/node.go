package schema

import (
	"fmt"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A node is the compiled form of one place of a schema.
type node struct {
	at     string // its place, which orders the report
	raw    any    // as written
	res    *resource
	truth  *bool          // the value of a schema that is true or false
	target bool           // a reference leads here
	refs   referenceState // whether it contains a reference

	ref, recursiveRef *node
	dynamicRef        *node
	dynamicName       string

	types    typeSet
	typeList []string
	constant *constant
	enum     *enum
	format   string
	check    func(string) error

	allOf, anyOf, oneOf                     []*node
	not, ifs, thens, elses                  *node
	number                                  *numberRules
	text                                    *textRules
	object                                  *objectRules
	array                                   *arrayRules
	unevaluatedProperties, unevaluatedItems *node
}

type numberRules struct{ minimum, maximum, above, below, multipleOf any }

type textRules struct {
	min, max int              // negative: no limit
	pattern  patterns.Matcher // nil: no pattern
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

// A dependent is a requirement for objects that have a property.
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
	marks                    bool // items that match contains count as evaluated
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
		n.res.compiled = true
		f := builder{compiler: c, n: n, raw: raw, year: n.res.dialect.year}
		f.build()
		return n, f.err
	}
	return nil, fmt.Errorf("schema %s: %s", pathOf(stepsOf(at)), mistyped(booleanType|objectType, raw).Message)
}

// A referenceState is whether a node contains references: 0 unknown, 1 no, 2
// yes.
type referenceState int

// hasReferences reports whether n or a schema written within it contains a
// reference.
func (n *node) hasReferences() bool {
	if n.refs == 0 {
		yes := n.ref != nil || n.recursiveRef != nil || n.dynamicRef != nil
		n.children(func(child *node) { yes = child.hasReferences() || yes })
		n.refs = 1
		if yes {
			n.refs = 2
		}
	}
	return n.refs == 2
}

// memoized reports whether results at the node are stored. Other nodes cannot
// be reached twice from one stored result, so this bounds the work.
func (n *node) memoized() bool { return n.target && n.refs == 2 }

// children calls visit for each schema that is written directly in n.
func (n *node) children(visit func(*node)) {
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
	some(n.not, n.ifs, n.thens, n.elses, n.unevaluatedProperties, n.unevaluatedItems)
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
