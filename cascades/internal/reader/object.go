package reader

import (
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/codes"
)

// An Object is a mapping in a cascade file. cascade.schema.json declares the keys of each
// kind.
type Object struct {
	Node     *yaml.Node
	Kind     string // kind of the mapping, such as "a phase"
	What     string // name in messages, such as "phase draft"
	Keys     map[string]*yaml.Node
	Value    map[string]*yaml.Node
	Order    []string // keys in file order
	Formless bool     // the mapping has no form, or more than one

	r *Reader
}

// Object reads a mapping. If the value has another type, Object reports an error and returns
// nil.
func (r *Reader) Object(n *yaml.Node, kind string) *Object {
	n = r.Resolve(n)
	if n.Kind != yaml.MappingNode {
		r.Error(n, codes.Type, "%s must be a mapping, not %s%s", kind, KindOf(n), instead(kind, n))
		return nil
	}
	return r.Fields(n, kind)
}

// Fields reads a node that must be a mapping.
func (r *Reader) Fields(n *yaml.Node, kind string) *Object {
	o := &Object{r: r, Node: n, Kind: kind, What: kind, Keys: map[string]*yaml.Node{}, Value: map[string]*yaml.Node{}}
	o.fill(n, false, 0)
	o.translate()
	return o
}

// fill adds the fields of n. The fields of n come first, and merged fields (<<) do not replace
// them.
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
		if _, known := o.Value[key.Value]; known {
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

// maxMerges is the maximum depth of nested merges.
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

// Get returns the value of a key, or nil. It follows aliases.
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

// Without removes keys from Order, so that [Object.Done] does not report them.
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

// Done reports the unknown keys of the mapping.
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
			d.Fix = nil // the mapping already has the suggested key
		}
	}
}

// Conflict reports a conflict at a key, if the mapping has the key.
func (o *Object) Conflict(key, format string, args ...any) {
	if o.Has(key) {
		o.r.Error(o.Keys[key], codes.Conflict, format, args...)
	}
}

// Single returns a mapping with one key and the value n. Its methods can read an element of a
// list.
func (r *Reader) Single(key string, n *yaml.Node) *Object {
	return &Object{r: r, Value: map[string]*yaml.Node{key: n}}
}
