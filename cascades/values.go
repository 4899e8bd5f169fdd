package cascades

import (
	"fmt"
	"maps"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/jsonvalue"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/templates"
)

// Values are named values whose texts may be templates.
type Values map[string]any

// A valueTemplate is a text among [Values] that is a template.
type valueTemplate struct{ *templates.Template }

// An unread replaces a text whose template has an error.
type unread struct{}

// A Reference is a text among [Values] that is one variable, such as
// outputs.plan.items. Its value is the value of the variable, not a text.
type Reference struct {
	Path []string
	text string
}

var plainVariable = patterns.Lazy(`^\{\{-?\s*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)\s*-?\}\}$`)

// Static reports whether the values read no variables.
func (v Values) Static() bool { return static(map[string]any(v)) }

func static(value any) bool {
	return !jsonvalue.Some(value, func(leaf any) bool {
		switch leaf.(type) {
		case valueTemplate, Reference, unread:
			return true
		}
		return false
	})
}

// Reads reports whether the values read a variable.
func (v Values) Reads(name string) bool {
	return jsonvalue.Some(map[string]any(v), func(leaf any) bool {
		switch leaf := leaf.(type) {
		case valueTemplate:
			return leaf.Reads(name)
		case Reference:
			return leaf.Path[0] == name
		}
		return false
	})
}

// Names returns the variables that the values read.
func (v Values) Names() (names []templates.Name) {
	jsonvalue.Some(map[string]any(v), func(leaf any) bool {
		switch leaf := leaf.(type) {
		case valueTemplate:
			names = append(names, leaf.Names()...)
		case Reference:
			names = append(names, templates.Name{Path: leaf.Path})
		}
		return false
	})
	return names
}

// A valueError is an error of one of the values.
type valueError struct {
	name   string
	listed bool // the name is an index, from 0
	err    error
}

// Error returns the names on the way to the value, without indexes, and the
// error.
func (e *valueError) Error() string {
	if e.listed {
		return e.err.Error()
	}
	return e.name + ": " + e.err.Error()
}

// Unwrap returns the error of the value.
func (e *valueError) Unwrap() error { return e.err }

// Render returns the values as plain values.
func (v Values) Render(vars map[string]any) (map[string]any, error) {
	out := make(map[string]any, len(v))
	for name, value := range v {
		plain, err := render(value, vars)
		if err != nil {
			return nil, &valueError{name, false, err}
		}
		out[name] = plain
	}
	return out, nil
}

func render(value any, vars map[string]any) (any, error) {
	switch value := value.(type) {
	case valueTemplate:
		return value.Render(vars)
	case Reference:
		return value.lookup(vars)
	case []any:
		out := make([]any, len(value))
		for i, e := range value {
			plain, err := render(e, vars)
			if err != nil {
				return nil, &valueError{strconv.Itoa(i), true, err}
			}
			out[i] = plain
		}
		return out, nil
	case map[string]any:
		return Values(value).Render(vars)
	default:
		return value, nil
	}
}

func (r Reference) lookup(vars map[string]any) (any, error) {
	var at any = vars
	for i, name := range r.Path {
		object, ok := at.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("%s: %s has no field %s", r.text, strings.Join(r.Path[:i], "."), name)
		}
		if at, ok = object[name]; !ok {
			return nil, fmt.Errorf("%s: %s is undefined", r.text, strings.Join(r.Path[:i+1], "."))
		}
	}
	if whole, is := at.(map[string]any); is && len(r.Path) == 1 {
		return maps.Clone(whole), nil // the run may change the result
	}
	return at, nil
}

// values reads named values whose texts may be templates.
func (p *parser) values(o *reader.Object, scope variables) Values {
	if o == nil {
		return nil
	}
	out := Values{}
	for _, key := range o.Order {
		out[key] = p.Plain(o.Value[key], func(n *yaml.Node) any { return p.templated(n, scope) })
	}
	return out
}
