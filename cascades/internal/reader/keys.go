package reader

import "slices"

// cascade.schema.json declares the keys of the language with their types, defaults and
// descriptions. A test generates keys_declared.go from it, because parsing the schema takes
// longer than parsing most cascades. Another test compares the declared keys with the keys that
// the parser reads.

// A key is a key that a mapping may have.
type key struct {
	name   string
	beside []string // forms with this key; nil for all forms
}

// Declares reports whether a kind of mapping may have a key.
func Declares(kind, name string) bool {
	return slices.ContainsFunc(declared()[kind], func(k key) bool { return k.name == name })
}

// takes reports whether the mapping may have the key. If the key belongs to forms, the
// mapping must have one of them.
func (o *Object) takes(k key) bool {
	return k.beside == nil || o.Formless || slices.ContainsFunc(k.beside, o.Has)
}

// known returns the keys that the mapping may have.
func (o *Object) known() (names []string) {
	for _, k := range declared()[o.Kind] {
		if o.takes(k) {
			names = append(names, k.name)
		}
	}
	return names
}
