package cascades

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// Bounds of what a file may hold, so that a few lines of aliases of aliases
// cannot become gigabytes, nor brackets a stack without end.
const (
	maxNodes = 200_000 // values, aliases followed
	maxDepth = 200     // values within values
)

// knownTags are the kinds of values that a cascade is made of.
var knownTags = []string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge"}

// sound tells whether a reader can cope with n: no endless nesting, no alias
// within what it names. Tags that some other program understands are reported
// on the way.
func (p *parser) sound(n *yaml.Node, around []*yaml.Node) bool {
	switch {
	case len(around) > maxDepth:
		p.report(n, CodeTooLarge, "values are nested more than %d deep", maxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		if slices.Contains(around, n.Alias) {
			p.report(n, CodeCycle, "*%s stands within the value it names", n.Value)
			return false
		}
		return true
	case !slices.Contains(knownTags, n.ShortTag()):
		p.report(n, CodeType, "the tag %s means nothing in a cascade", n.Tag)
	}
	around = append(around, n)
	for _, e := range n.Content {
		if !p.sound(e, around) {
			return false
		}
	}
	return true
}

// resolve follows an alias. Every visit counts towards maxNodes; beyond it all
// values are nothing, and nothing more is reported.
func (p *parser) resolve(n *yaml.Node) *yaml.Node {
	if p.nodes == maxNodes {
		p.report(n, CodeTooLarge, "the file holds more than %d values, aliases followed", maxNodes)
	}
	if p.nodes++; p.nodes > maxNodes {
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// kindOf says in words what a value is.
func kindOf(n *yaml.Node) string {
	switch n.Kind {
	case yaml.MappingNode:
		if n.Style&yaml.FlowStyle != 0 && len(n.Content) == 2 && n.Content[0].Kind == yaml.MappingNode {
			return "a mapping: a text that begins with {{ needs quotes"
		}
		return "a mapping"
	case yaml.SequenceNode:
		return "a list"
	}
	switch n.Tag {
	case "!!null":
		return "nothing"
	case "!!str":
		return "text"
	default:
		return short(n.Value)
	}
}
