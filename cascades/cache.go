package cascades

import (
	"encoding/json"
	"strings"

	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/templates"
)

// A Cache caches the compiled templates, expressions and schemas of a file that
// is parsed repeatedly, such as in an editor. The zero value is ready for use.
// A Cache is for one file, and must not be used concurrently. It only contains the
// values that the last two readings used.
type Cache struct {
	templates   memory[*templates.Template]
	expressions memory[*expressions.Expression]
	schemas     memory[*schema.Schema]
}

// turn starts a new reading.
func (m *Cache) turn() {
	if m != nil {
		m.templates.turn()
		m.expressions.turn()
		m.schemas.turn()
	}
}

func (m *Cache) template(source string) (*templates.Template, error) {
	if m == nil {
		return templates.Parse(source)
	}
	return m.templates.of(source, func() (*templates.Template, error) { return templates.Parse(source) })
}

func (m *Cache) expression(source string, locals []string) (*expressions.Expression, error) {
	if m == nil {
		return expressions.Parse(source, locals...)
	}
	return m.expressions.of(strings.Join(locals, " ")+"\n"+source, func() (*expressions.Expression, error) {
		return expressions.Parse(source, locals...)
	})
}

func (m *Cache) schema(source any) (*schema.Schema, error) {
	if m == nil {
		return schema.Compile(source)
	}
	key, err := json.Marshal(source)
	if err != nil {
		return schema.Compile(source)
	}
	return m.schemas.of(string(key), func() (*schema.Schema, error) { return schema.Compile(source) })
}

// A memory caches compiled texts of one kind for the current and the previous
// reading.
type memory[V any] struct{ now, before map[string]compilation[V] }

type compilation[V any] struct {
	value V
	err   error
}

// turn removes the values that the last reading did not use. If that reading
// used no values, such as for invalid YAML, turn removes nothing.
func (m *memory[V]) turn() {
	if len(m.now) > 0 {
		m.now, m.before = map[string]compilation[V]{}, m.now
	}
}

func (m *memory[V]) of(key string, compile func() (V, error)) (V, error) {
	c, ok := m.now[key]
	if !ok {
		if c, ok = m.before[key]; !ok {
			c.value, c.err = compile()
		}
		if m.now == nil {
			m.now = map[string]compilation[V]{}
		}
		m.now[key] = c
	}
	return c.value, c.err
}
