package validators

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// A Set is validators by name. The zero value is empty and ready for use; a
// Set is not changed while others read it.
type Set struct{ byName map[string]Validator }

// NewSet makes a set; of two validators with one name the later wins.
func NewSet(list ...Validator) Set {
	s := Set{make(map[string]Validator, len(list))}
	for _, v := range list {
		s.byName[v.Name] = v
	}
	return s
}

// With is a copy of the set with more validators, which win over those that
// have the same name.
func (s Set) With(list ...Validator) Set {
	return NewSet(append(s.List(), list...)...)
}

// Find gives the validator of that name.
func (s Set) Find(name string) (Validator, error) {
	if v, ok := s.byName[name]; ok {
		return v, nil
	}
	return Validator{}, fmt.Errorf("no validator is called %q", name)
}

// List gives the validators sorted by name.
func (s Set) List() []Validator {
	return slices.SortedFunc(maps.Values(s.byName), func(a, b Validator) int { return strings.Compare(a.Name, b.Name) })
}

// Names gives the names, sorted.
func (s Set) Names() []string {
	list := s.List()
	names := make([]string, len(list))
	for i, v := range list {
		names[i] = v.Name
	}
	return names
}
