package jinja

import (
	"encoding/json"
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A dict is a dict that the template made. Its keys have the order of
// insertion, as in Python.
type dict struct {
	entries []entry
	index   map[any]int
}

type entry struct{ key, value any }

func newDict(size int) *dict {
	return &dict{entries: make([]entry, 0, size), index: make(map[any]int, size)}
}

func (d *dict) set(r *render, key, value any) {
	r.charge(4)
	hash := r.hash(key)
	if i, ok := d.index[hash]; ok {
		d.entries[i].value = value
		return
	}
	d.index[hash] = len(d.entries)
	d.entries = append(d.entries, entry{key, value})
}

func (d *dict) get(r *render, key any) (any, bool) {
	i, ok := d.index[r.hash(key)]
	if !ok {
		return nil, false
	}
	return d.entries[i].value, true
}

// hash returns a Go value that is equal for keys that are equal in Python, such
// as 1, 1.0 and True.
func (r *render) hash(key any) any {
	hash, ok := r.tryHash(key, 0)
	if !ok {
		r.fail("a %s cannot be the key of a dict", typeName(key))
	}
	return hash
}

type tupleHash string

func (r *render) tryHash(key any, depth int) (hash any, ok bool) {
	r.charge(1)
	switch key := r.defined(key).(type) {
	case nil, int64:
		return key, true
	case string:
		r.scan(len(key))
		return key, true
	case markup:
		r.scan(len(key))
		return string(key), true
	case bool:
		return r.integer(key, "a key"), true
	case float64, json.Number, written:
		return hashed(key), true
	case interval:
		return key, true
	case *macro, *function, *namespace, *loop, *cycler, *joiner, *iterator:
		// These values are hashed by their identity. They have no text form
		// inside a tuple.
		return key, depth == 0
	case *tuple:
		return r.hashTuple(key, depth)
	}
	return nil, false
}

// hashTuple writes the length of each item before the item, so that different
// tuples have different hashes.
func (r *render) hashTuple(t *tuple, depth int) (any, bool) {
	if depth >= maxDepth {
		r.fail("a value is nested deeper than %d", maxDepth)
	}
	var b strings.Builder
	for _, item := range t.items {
		hash, ok := r.tryHash(item, depth+1)
		if !ok {
			return nil, false
		}
		var text string
		switch hash := hash.(type) {
		case string:
			text = "s" + hash
		case tupleHash:
			text = "t" + string(hash)
		case wideHash:
			text = "w" + string(hash)
		default:
			text = "v" + r.repr(hash)
		}
		r.grow(b.Len(), len(text)+20)
		b.WriteString(strconv.Itoa(len(text)) + ":" + text)
	}
	return tupleHash(b.String()), true
}

// isMapping reports whether v is a dict.
func isMapping(v any) bool {
	switch v.(type) {
	case map[string]any, *dict:
		return true
	}
	return false
}

// lookup reads a dict of either kind.
func (r *render) lookup(v, key any) (any, bool) {
	switch v := v.(type) {
	case map[string]any:
		name, ok := text(key)
		if !ok {
			return nil, false
		}
		value, ok := v[name]
		if !ok {
			return nil, false
		}
		return r.plain(value), true
	case *dict:
		if _, ok := r.tryHash(key, 0); !ok {
			return nil, false
		}
		return v.get(r, key)
	}
	return nil, false
}

// keys returns the keys of a dict: sorted for maps of the caller, in insertion
// order for dicts of the template.
func (r *render) keys(v any) []any {
	switch v := v.(type) {
	case map[string]any:
		names := r.sortedNames(v)
		keys := make([]any, len(names))
		for i, name := range names {
			keys[i] = name
		}
		return keys
	case *dict:
		r.list(len(v.entries))
		keys := make([]any, len(v.entries))
		for i := range v.entries {
			keys[i] = v.entries[i].key
		}
		return keys
	}
	r.fail("a %s is not a dict", typeName(v))
	return nil
}

func (r *render) sortedNames(m map[string]any) []string {
	r.list(2 * len(m))
	names := make([]string, 0, len(m))
	for name := range m {
		names = append(names, name)
	}
	sort.Strings(names)
	return names
}

// entries returns the keys and values of a dict.
func (r *render) entries(v any) []entry {
	if d, ok := v.(*dict); ok {
		r.list(len(d.entries))
		return slices.Clone(d.entries)
	}
	keys := r.keys(v)
	list := make([]entry, len(keys))
	for i, key := range keys {
		value, _ := r.lookup(v, key)
		list[i] = entry{key, value}
	}
	return list
}

// pairs returns the entries of a dict as tuples.
func (r *render) pairs(v any) []any {
	entries := r.entries(v)
	r.list(2 * len(entries))
	items := make([]any, len(entries))
	for i, e := range entries {
		items[i] = &tuple{items: []any{e.key, e.value}}
	}
	return items
}

// view returns the result of keys(), values() or items().
func (r *render) view(v any, kind string) *view {
	switch kind {
	case "keys":
		return &view{kind, r.keys(v)}
	case "items":
		return &view{kind, r.pairs(v)}
	}
	entries := r.entries(v)
	items := make([]any, len(entries))
	for i, e := range entries {
		items[i] = e.value
	}
	return &view{kind, items}
}
