package validators

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/validators/schema"
)

// Operator marks parameters by which a validator decides, such as a policy, a
// database or a key, as the operator's alone: the author of a cascade and
// whoever runs a command may give them, one who only asks a server for a
// verdict may not, see [Validator.Fixed].
func Operator(names ...string) Option {
	return func(v *Validator) { v.Operator = names }
}

// Fixed gives the validator as a server offers it: the parameters of with hold,
// and neither they nor those that are the operator's alone can be seen or
// given. with is checked when the validator is bound.
func (v Validator) Fixed(with map[string]any) Validator {
	closed := slices.Concat(v.Operator, slices.Collect(maps.Keys(with)))
	if len(closed) == 0 {
		return v
	}
	open := v
	open.Operator, open.opens = nil, v.opening(with)
	open.params = sync.OnceValue(func() map[string]any { return schema.Without(v.params(), closed) })
	open.bind = func(given map[string]any) (Check, error) {
		for _, name := range closed {
			if _, ok := given[name]; ok {
				return nil, fmt.Errorf("%s is the operator's to set", name)
			}
		}
		whole := maps.Clone(given)
		if whole == nil {
			whole = map[string]any{}
		}
		maps.Copy(whole, with)
		return v.bind(whole)
	}
	return open
}
