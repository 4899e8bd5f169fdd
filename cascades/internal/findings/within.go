package findings

import (
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
)

// Within returns the value at a path of a [schema.Violation] within n, and the key of the
// value in its mapping. If the file does not contain the whole path, it returns the last value
// on the path.
func Within(n *yaml.Node, path string) (key, value *yaml.Node) {
	at := "$"
	key, value = n, Resolved(n)
	for at != path {
		next, below, found := "", key, value
		step := func(name string, k, v *yaml.Node) {
			if next == "" && (name == path || strings.HasPrefix(path, name) && strings.ContainsAny(path[len(name):len(name)+1], ".[")) {
				next, below, found = name, k, v
			}
		}
		switch value.Kind {
		case yaml.MappingNode:
			for i := 0; i < len(value.Content); i += 2 {
				step(schema.MemberPath(at, value.Content[i].Value), value.Content[i], value.Content[i+1])
			}
		case yaml.SequenceNode:
			for i, e := range value.Content {
				step(schema.ItemPath(at, i), e, e)
			}
		}
		if next == "" {
			return key, value
		}
		at, key, value = next, below, Resolved(found)
	}
	return key, value
}

// Resolved returns the value that an alias names. It returns other values unchanged.
func Resolved(n *yaml.Node) *yaml.Node {
	for n != nil && n.Kind == yaml.AliasNode {
		n = n.Alias
	}
	return n
}
