package validators

import (
	"maps"
	"slices"
)

// Opens marks a validator that opens files or folders named by its parameters.
// names must return their names. Parameters whose values are not known yet are
// missing from with.
func Opens(names func(with map[string]any) []string) Option {
	return func(v *Validator) { v.opens = names }
}

// Within returns a set whose validators open only the files and folders that
// check accepts. Binding returns an error for others, see [Opens]. Within does
// not check parameters that the operator has fixed.
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

// opensBeyond returns v.opens without the names that come from the fixed
// parameters alone.
func (v Validator) opensBeyond(fixed map[string]any) func(with map[string]any) []string {
	if v.opens == nil {
		return nil
	}
	own := v.opens(fixed)
	return func(with map[string]any) []string {
		all := maps.Clone(fixed)
		if all == nil {
			return v.opens(with)
		}
		maps.Copy(all, with)
		return slices.DeleteFunc(v.opens(all), func(name string) bool { return slices.Contains(own, name) })
	}
}
