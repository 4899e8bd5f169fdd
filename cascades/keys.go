package cascades

import "slices"

// The JSON Schema declares the language's keys: name, type, default, a description, an
// example, and the edition of the language that introduced the key. Editors show the
// descriptions, and the tables of docs/reference are generated from the schema. The keys
// that the parser knows are generated into keys_declared.go, because reading the schema
// takes longer than reading most cascades. What a key does is the parser's to say, in the one place that reads it;
// a test holds that all are read that are declared, and no others.

// A key is one that a mapping may have.
type key struct {
	name   string
	beside []string // the forms that it is part of; nil where it is of no form
}

// declares tells whether a mapping of a kind may have the key.
func declares(kind, name string) bool {
	return slices.ContainsFunc(declared()[kind], func(k key) bool { return k.name == name })
}

// takes tells whether the key may stand in the mapping: one that is part of forms
// beside one of these, and beside none where that is reported as it is.
func (o *object) takes(k key) bool {
	return k.beside == nil || o.formless || slices.ContainsFunc(k.beside, o.has)
}

// known are the keys that may stand in the mapping.
func (o *object) known() (names []string) {
	for _, k := range declared()[o.kind] {
		if o.takes(k) {
			names = append(names, k.name)
		}
	}
	return names
}
