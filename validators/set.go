package validators

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Set holds validators by name. The zero value is empty and ready for use. A
// Set never changes, so it is safe for concurrent use.
type Set struct{ byName map[string]Validator }

// NewSet returns a set of the validators. If two have the same name, the later
// one wins.
func NewSet(list ...Validator) Set {
	s := Set{make(map[string]Validator, len(list))}
	for _, v := range list {
		s.byName[v.Name] = v
	}
	return s
}

// With returns a copy of the set with more validators. They replace validators
// of the same name.
func (s Set) With(list ...Validator) Set {
	return NewSet(append(s.List(), list...)...)
}

// Find returns the validator with a name. An unknown name is an error.
func (s Set) Find(name string) (Validator, error) {
	if v, ok := s.byName[name]; ok {
		return v, nil
	}
	return Validator{}, fmt.Errorf("no validator is called %q", name)
}

// List returns the validators, sorted by name.
func (s Set) List() []Validator {
	return slices.SortedFunc(maps.Values(s.byName), func(a, b Validator) int { return strings.Compare(a.Name, b.Name) })
}

// Names returns the names of the validators, sorted.
func (s Set) Names() []string {
	list := s.List()
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	return names
}
