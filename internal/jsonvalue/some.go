package jsonvalue

import "slices"

// Some reports whether the function holds for a value within another that is neither a list
// nor a mapping.
func Some(value any, holds func(leaf any) bool) bool {
	switch value := value.(type) {
	case []any:
		return slices.ContainsFunc(value, func(e any) bool { return Some(e, holds) })
	case map[string]any:
		for _, e := range value {
			if Some(e, holds) {
				return true
			}
		}
		return false
	}
	return holds(value)
}
