package reader

import (
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/codes"
)

// Between returns the number under a key, which must be from low to high. Default: nil.
func (o *Object) Between(key string, low, high float64) *float64 {
	n := o.Get(key)
	if n == nil {
		return nil
	}
	var f float64
	switch {
	case n.Kind != yaml.ScalarNode || n.Tag != "!!int" && n.Tag != "!!float" || n.Decode(&f) != nil:
		o.r.Error(n, codes.Type, "%s must be a number, not %s", key, KindOf(n))
		return nil
	case !(f >= low && f <= high):
		o.r.Error(n, codes.Value, "%s must be from %v to %v, not %s", key, low, high, n.Value)
		return nil
	}
	return &f
}

// Integer returns the whole number under a key. Default: nil.
func (o *Object) Integer(key string) *int64 {
	n := o.Get(key)
	if n == nil {
		return nil
	}
	var i int64
	if n.Kind != yaml.ScalarNode || n.Tag != "!!int" || n.Decode(&i) != nil {
		o.r.Error(n, codes.Type, "%s must be a whole number, not %s", key, KindOf(n))
		return nil
	}
	return &i
}
