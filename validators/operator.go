package validators

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	"github.com/seed61713e19/capstan/internal/schema"
)

// Operator marks parameters that are reserved for an operator, such as a policy, a database or a
// key. The author of a cascade and the user of the command line are operators. A client that asks
// a server for a verdict is not, see [Validator.Fixed].
func Operator(names ...string) Option {
	return func(v *Validator) { v.Operator = names }
}

// Fixed returns the validator as a server offers it: with has fixed values. Parameters in with,
// and the operator's parameters, are neither shown nor accepted. The values are checked when the
// validator is bound.
func (v Validator) Fixed(with map[string]any) Validator {
	closed := slices.Concat(v.Operator, slices.Collect(maps.Keys(with)))
	if len(closed) == 0 {
		return v
	}
	open := v
	open.Operator, open.opens = nil, v.opensBeyond(with)
	open.params = sync.OnceValue(func() map[string]any { return schema.WithoutProperties(v.params(), closed) })
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
