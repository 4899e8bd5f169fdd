package reader

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/codes"
)

// An Object is a mapping. Its keys must be in cascade.schema.json.
type Object struct {
	Node     *yaml.Node
	Kind     string // such as "a phase"
	What     string // such as "phase draft"
	Keys     map[string]*yaml.Node
	Value    map[string]*yaml.Node
	Order    []string // of the keys
	Formless bool     // it has none of its alternative keys, or more than one

	r *Reader
}

// Object reads a mapping. It reports any other value, and returns nil then.
func (r *Reader) Object(n *yaml.Node, kind string) *Object {
	n = r.Resolve(n)
	if n.Kind != yaml.MappingNode {
		r.Error(n, codes.Type, "%s must be a mapping, not %s%s", kind, KindOf(n), instead(kind, n))
		return nil
	}
	return r.Fields(n, kind)
}

// Fields reads a node that is a mapping.
func (r *Reader) Fields(n *yaml.Node, kind string) *Object {
	o := &Object{r: r, Node: n, Kind: kind, What: kind, Keys: map[string]*yaml.Node{}, Value: map[string]*yaml.Node{}}
	o.fill(n, false, 0)
	o.translate()
	return o
}

// fill adds the fields of n. Merged fields (<<) do not replace fields of the mapping, which
// come first.
func (o *Object) fill(n *yaml.Node, merged bool, depth int) {
	var merges []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key, value := o.r.Resolve(n.Content[i]), n.Content[i+1]
		if key.Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			o.r.Error(key, codes.Type, "a key of %s must be text, not %s", o.What, KindOf(key))
			continue
		}
		if _, there := o.Value[key.Value]; there {
			if !merged {
				o.r.Error(key, codes.Duplicate, "key %q stands twice in %s", key.Value, o.What)
			}
			continue
		}
		o.Keys[key.Value], o.Value[key.Value] = key, value
		o.Order = append(o.Order, key.Value)
	}
	for _, value := range merges {
		o.merge(value, depth)
	}
}

// maxMerges is the maximum depth of merges.
const maxMerges = 20

func (o *Object) merge(n *yaml.Node, depth int) {
	n = o.r.Resolve(n)
	switch {
	case depth > maxMerges:
		o.r.Error(n, codes.TooLarge, "merges are nested more than %d deep", maxMerges)
	case n.Kind == yaml.MappingNode:
		o.fill(n, true, depth+1)
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			o.merge(e, depth+1)
		}
	default:
		o.r.Error(n, codes.Type, "<< must name a mapping, not %s", KindOf(n))
	}
}

// Has reports whether the mapping has a key.
func (o *Object) Has(key string) bool { return o.Value[key] != nil }

// Get returns the value of a key, aliases followed, or nil.
func (o *Object) Get(key string) *yaml.Node {
	if o.r.Observe != nil {
		o.r.Observe(o, key)
	}
	n, ok := o.Value[key]
	if !ok {
		return nil
	}
	return o.r.Resolve(n)
}

// Without removes keys from Order.
func (o *Object) Without(keys ...string) {
	o.Order = slices.DeleteFunc(o.Order, func(key string) bool { return slices.Contains(keys, key) })
}

// Child returns the mapping under a key, or nil.
func (o *Object) Child(key string) *Object {
	n := o.Get(key)
	if n == nil {
		return nil
	}
	return o.r.Object(n, key)
}

// Done reports unknown keys.
func (o *Object) Done() {
	keys := declared()[o.Kind]
	for _, name := range o.Order {
		if slices.ContainsFunc(keys, func(k key) bool { return k.name == name && o.takes(k) }) || o.Foreign(name) {
			continue
		}
		place := o.parameter(name)
		o.r.Error(o.Keys[name], codes.UnknownKey, "%s has no key %q%s", o.What, name, place)
		if place != "" {
			continue
		}
		o.r.Suggest(name, o.known)
		d := o.r.Last()
		if d.Suggestion == "" {
			d.Message += o.home(name)
		}
		if o.Has(d.Suggestion) {
			d.Fix = nil // it stands there too
		}
	}
}

// Conflict reports a key that conflicts with another one, if the mapping has it.
func (o *Object) Conflict(key, format string, args ...any) {
	if o.Has(key) {
		o.r.Error(o.Keys[key], codes.Conflict, format, args...)
	}
}

// Single returns a mapping with one key, so that its methods read a value of a list.
func (r *Reader) Single(key string, n *yaml.Node) *Object {
	return &Object{r: r, Value: map[string]*yaml.Node{key: n}}
}
