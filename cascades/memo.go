package cascades

import (
	"encoding/json"
	"strings"

	"github.com/seed61713e19/capstan/templates"
	"github.com/seed61713e19/capstan/validators/expressions"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A Memo keeps what the templates, expressions and schemas of a file were compiled
// to, so that a file that is read again and again, as an editor does, compiles
// what has changed. The zero Memo is ready. It is for one file, read by one
// goroutine at a time, and holds no more than the last two readings needed.
type Memo struct {
	templates   memory[*templates.Template]
	expressions memory[*expressions.Expression]
	schemas     memory[*schema.Schema]
}

// turn begins a reading.
func (m *Memo) turn() {
	if m != nil {
		m.templates.turn()
		m.expressions.turn()
		m.schemas.turn()
	}
}

func (m *Memo) template(source string) (*templates.Template, error) {
	if m == nil {
		return templates.Parse(source)
	}
	return m.templates.of(source, func() (*templates.Template, error) { return templates.Parse(source) })
}

func (m *Memo) expression(source string, locals []string) (*expressions.Expression, error) {
	if m == nil {
		return expressions.Parse(source, locals...)
	}
	return m.expressions.of(strings.Join(locals, " ")+"\n"+source, func() (*expressions.Expression, error) {
		return expressions.Parse(source, locals...)
	})
}

func (m *Memo) schema(source any) (*schema.Schema, error) {
	if m == nil {
		return schema.Compile(source)
	}
	key, err := json.Marshal(source)
	if err != nil {
		return schema.Compile(source)
	}
	return m.schemas.of(string(key), func() (*schema.Schema, error) { return schema.Compile(source) })
}

// A memory is of what one kind of text was compiled to, in this reading and in
// the one before.
type memory[V any] struct{ now, before map[string]compilation[V] }

type compilation[V any] struct {
	value V
	err   error
}

// turn forgets what the last reading did not need. One that needed nothing, of a
// text that is not YAML while it is being typed, makes nothing be forgotten.
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
