package validators

import (
	"maps"
	"slices"
)

// Opens marks a validator that opens files or folders which its parameters name.
// Names must return these names; parameters that are not known yet are not among with.
func Opens(names func(with map[string]any) []string) Option {
	return func(v *Validator) { v.opens = names }
}

// Within returns the set with validators that bind only parameters whose files and
// folders check accepts, see [Opens]. Parameters that the operator has fixed are not
// checked.
func (s Set) Within(check func(name string) error) Set {
	confined := Set{maps.Clone(s.byName)}
	for name, v := range s.byName {
		if v.opens != nil {
			confined.byName[name] = v.within(check)
		}
	}
	return confined
}

func (v Validator) within(check func(name string) error) Validator {
	confined := v
	confined.bind = func(with map[string]any) (Check, error) {
		for _, name := range v.opens(with) {
			if err := check(name); err != nil {
				return nil, err
			}
		}
		return v.bind(with)
	}
	return confined
}

// opening returns v.opens for calls that give parameters besides the fixed ones: the
// names that those alone bring.
func (v Validator) opening(fixed map[string]any) func(given map[string]any) []string {
	if v.opens == nil {
		return nil
	}
	own := v.opens(fixed)
	return func(given map[string]any) []string {
		whole := maps.Clone(fixed)
		if whole == nil {
			return v.opens(given)
		}
		maps.Copy(whole, given)
		return slices.DeleteFunc(v.opens(whole), func(name string) bool { return slices.Contains(own, name) })
	}
}
