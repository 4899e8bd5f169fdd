package strictyaml

import (
	"bytes"
	"fmt"
	"maps"
	"slices"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/internal/schema"
)

// valueOf decodes a node whose document was decoded before.
func valueOf(n *yaml.Node) (v any) {
	if n != nil {
		_ = n.Decode(&v)
	}
	return v
}

// Written reports whether two equal values are written in the same way.
func Written(a, b *yaml.Node) bool {
	x, err := yaml.Marshal(a)
	y, other := yaml.Marshal(b)
	return err == nil && other == nil && bytes.Equal(x, y) && a.Value == b.Value
}

// maxDifferences is the most places that are listed.
const maxDifferences = 10

// Differences lists the paths at which the values of two nodes differ, at most
// ten. Texts are also equal if same returns true. The function same is
// optional.
func Differences(at string, a, b *yaml.Node, same func(a, b string) bool) []string {
	d := difference{same: same}
	d.compare(at, valueOf(a), valueOf(b))
	return d.places
}

// A difference lists the paths at which two values differ.
type difference struct {
	same   func(a, b string) bool
	places []string
}

// missing stands for a value that one side does not have.
type missing struct{}

func (d *difference) compare(at string, a, b any) {
	if len(d.places) >= maxDifferences {
		return
	}
	if x, ok := a.(map[string]any); ok {
		if y, ok := b.(map[string]any); ok {
			all := maps.Clone(x)
			maps.Copy(all, y)
			for _, key := range slices.Sorted(maps.Keys(all)) {
				d.compare(at+"."+brief(key), field(x, key), field(y, key))
			}
			return
		}
	}
	if x, ok := a.([]any); ok {
		if y, ok := b.([]any); ok {
			for i := range max(len(x), len(y)) {
				ea, eb := element(x, i), element(y, i)
				d.compare(fmt.Sprintf("%s[%s]", at, named(i, ea, eb)), ea, eb)
			}
			return
		}
	}
	if !d.equal(a, b) {
		d.places = append(d.places, at)
	}
}

// equal compares scalars as values: 010 and 8 are the same number, 1 and "1" are not
// the same value.
func (d *difference) equal(a, b any) bool {
	if x, ok := schema.Digits(a); ok {
		y, number := schema.Digits(b)
		return number && x == y
	}
	x, text := a.(string)
	y, other := b.(string)
	return fmt.Sprintf("%T %v", a, a) == fmt.Sprintf("%T %v", b, b) || d.same != nil && text && other && d.same(x, y)
}

func field(m map[string]any, key string) any {
	if v, ok := m[key]; ok {
		return v
	}
	return missing{}
}

func element(list []any, i int) any {
	if i < len(list) {
		return list[i]
	}
	return missing{}
}

// named returns the common id of two elements, or the number of the element.
func named(i int, a, b any) string {
	x, _ := a.(map[string]any)
	y, _ := b.(map[string]any)
	if id, ok := x["id"].(string); ok && id == y["id"] && id != "" {
		return brief(id)
	}
	return fmt.Sprint(i)
}
