package cascades

import (
	"slices"

	"gopkg.in/yaml.v3"
)

// An object is a mapping being read.
type object struct {
	p        *parser
	node     *yaml.Node
	kind     string // what it is: a phase
	what     string // which one it is: phase draft
	keys     map[string]*yaml.Node
	value    map[string]*yaml.Node
	order    []string
	formless bool // it should have a form, and has none, or several
}

// object reads a mapping; another kind is reported and gives nil.
func (p *parser) object(n *yaml.Node, kind string) *object {
	n = p.resolve(n)
	if n.Kind != yaml.MappingNode {
		p.report(n, CodeType, "%s must be a mapping, not %s%s", kind, kindOf(n), instead(kind, n))
		return nil
	}
	return p.fields(n, kind)
}

// fields reads a node that is a mapping.
func (p *parser) fields(n *yaml.Node, kind string) *object {
	o := &object{p: p, node: n, kind: kind, what: kind, keys: map[string]*yaml.Node{}, value: map[string]*yaml.Node{}}
	o.fill(n, false, 0)
	o.translate()
	return o
}

// fill takes the fields of n; merged ones (<<) do not replace what is there.
// The mapping's own come first, wherever the << stands.
func (o *object) fill(n *yaml.Node, merged bool, depth int) {
	var merges []*yaml.Node
	for i := 0; i < len(n.Content); i += 2 {
		key, value := o.p.resolve(n.Content[i]), n.Content[i+1]
		if key.Tag == "!!merge" {
			merges = append(merges, value)
			continue
		}
		if key.Kind != yaml.ScalarNode {
			o.p.report(key, CodeType, "a key of %s must be text, not %s", o.what, kindOf(key))
			continue
		}
		if _, there := o.value[key.Value]; there {
			if !merged {
				o.p.report(key, CodeDuplicate, "key %q stands twice in %s", key.Value, o.what)
			}
			continue
		}
		o.keys[key.Value], o.value[key.Value] = key, value
		o.order = append(o.order, key.Value)
	}
	for _, value := range merges {
		o.merge(value, depth)
	}
}

// maxMerges bounds merges of what is merged itself.
const maxMerges = 20

func (o *object) merge(n *yaml.Node, depth int) {
	n = o.p.resolve(n)
	switch {
	case depth > maxMerges:
		o.p.report(n, CodeTooLarge, "merges are nested more than %d deep", maxMerges)
	case n.Kind == yaml.MappingNode:
		o.fill(n, true, depth+1)
	case n.Kind == yaml.SequenceNode:
		for _, e := range n.Content {
			o.merge(e, depth+1)
		}
	default:
		o.p.report(n, CodeType, "<< must name a mapping, not %s", kindOf(n))
	}
}

// has tells whether the key is written, with whatever value.
func (o *object) has(key string) bool { return o.value[key] != nil }

// get gives the value of a key, aliases followed, or nil.
func (o *object) get(key string) *yaml.Node {
	if o.p.read != nil {
		o.p.read(o, key)
	}
	n, ok := o.value[key]
	if !ok {
		return nil
	}
	return o.p.resolve(n)
}

// without leaves keys to the caller.
func (o *object) without(keys ...string) {
	o.order = slices.DeleteFunc(o.order, func(key string) bool { return slices.Contains(keys, key) })
}

// child reads the mapping under a key; nil where there is none.
func (o *object) child(key string) *object {
	n := o.get(key)
	if n == nil {
		return nil
	}
	return o.p.object(n, key)
}

// done reports the keys that may not stand here.
func (o *object) done() {
	keys := declared()[o.kind]
	for _, name := range o.order {
		if slices.ContainsFunc(keys, func(k key) bool { return k.name == name && o.takes(k) }) || o.foreign(name) {
			continue
		}
		strayed := o.belongs(name)
		o.p.report(o.keys[name], CodeUnknownKey, "%s has no key %q%s", o.what, name, strayed)
		if strayed != "" {
			continue
		}
		o.p.suggest(name, o.known)
		d := o.p.last()
		if d.Suggestion == "" {
			d.Message += o.home(name)
		}
		if o.has(d.Suggestion) {
			d.Fix = nil // it stands there too
		}
	}
}

// conflict reports a key that excludes something else here, where it is written.
func (o *object) conflict(key, format string, args ...any) {
	if o.has(key) {
		o.p.report(o.keys[key], CodeConflict, format, args...)
	}
}
