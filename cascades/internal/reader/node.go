package reader

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/codes"
)

// The limits of a file. Nested aliases in a few lines can expand to gigabytes.
const (
	MaxNodes = 200_000 // number of values after the expansion of aliases
	maxDepth = 200     // depth of values
)

// knownTags are the allowed tags of values.
var knownTags = []string{"!!map", "!!seq", "!!str", "!!int", "!!float", "!!bool", "!!null", "!!timestamp", "!!merge"}

// Sound reports whether a value has a limited depth and no alias inside the value that the
// alias names. It also reports unknown tags.
func (r *Reader) Sound(n *yaml.Node, around []*yaml.Node) bool {
	switch {
	case len(around) > maxDepth:
		r.Error(n, codes.TooLarge, "values are nested more than %d deep", maxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		if slices.Contains(around, n.Alias) {
			r.Error(n, codes.Cycle, "*%s stands within the value it names", n.Value)
			return false
		}
		return true
	case !slices.Contains(knownTags, n.ShortTag()):
		r.Error(n, codes.Type, "the tag %s means nothing in a cascade", n.Tag)
	}
	around = append(around, n)
	for _, e := range n.Content {
		if !r.Sound(e, around) {
			return false
		}
	}
	return true
}

// Resolve returns the value that an alias names, or n for other values. Each call counts
// towards MaxNodes. After the limit, Resolve returns null, and the report is closed.
func (r *Reader) Resolve(n *yaml.Node) *yaml.Node {
	if r.Nodes == MaxNodes {
		r.Error(n, codes.TooLarge, "the file holds more than %d values, aliases followed", MaxNodes)
	}
	if r.Nodes++; r.Nodes > MaxNodes {
		r.Closed = true
		return &yaml.Node{Kind: yaml.ScalarNode, Tag: "!!null"}
	}
	for n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}

// KindOf describes the kind of a value for messages.
func KindOf(n *yaml.Node) string {
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
		return Short(n.Value)
	}
}
