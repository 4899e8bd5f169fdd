package capy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/internal/schema"
)

// A sidecar is a JSON file that belongs to an output.
type sidecar struct {
	name string // "" where it is not known
	text string
}

// plainly returns a parameter as plain values.
func plainly(v any) (any, error) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	return schema.Plain(v)
}

// sidecars returns the files of the parameter. A map whose keys all end in .json has files
// by their names.
func sidecars(name string, v any) (list []sidecar, err error) {
	plain, err := plainly(v)
	if err != nil || plain == nil {
		return nil, err
	}
	if text, ok := plain.(string); ok {
		if plain, _ = schema.Parse([]byte(text)); !byName(plain) || name != "" {
			return []sidecar{{name, text}}, nil
		}
	}
	add := func(name string, v any) {
		more, wrong := sidecars(name, v)
		list, err = append(list, more...), cmp.Or(err, wrong)
	}
	switch v := plain.(type) {
	case []any:
		for _, one := range v {
			add(name, one)
		}
	case map[string]any:
		if !byName(v) {
			text, err := json.Marshal(v)
			return []sidecar{{name, string(text)}}, err
		}
		for _, file := range sortedKeys(v) {
			add(file, v[file])
		}
	default:
		err = fmt.Errorf("a %T: want a JSON text, an object, or a list of these", v)
	}
	return list, err
}

func byName(v any) bool {
	files, _ := v.(map[string]any)
	for name := range files {
		if !strings.HasSuffix(strings.ToLower(name), ".json") {
			return false
		}
	}
	return len(files) > 0
}

// priorNumbers returns the values of earlier stages.
func (p *policy) priorNumbers(v any) (list []float64, err error) {
	plain, err := plainly(v)
	var values []any
	switch v := plain.(type) {
	case nil:
		return nil, err
	case string:
		return p.valuesIn(v)
	case int:
		return []float64{float64(v)}, nil
	case float64:
		return []float64{v}, nil
	case json.Number:
		n, err := v.Float64()
		return []float64{n}, err
	case []any:
		values = v
	case map[string]any:
		for _, name := range sortedKeys(v) {
			values = append(values, v[name])
		}
	default:
		return nil, fmt.Errorf("a %T: want a text, a number, or a map or list of these", v)
	}
	for _, one := range values {
		numbers, err := p.priorNumbers(one)
		if err != nil {
			return nil, err
		}
		list = append(list, numbers...)
	}
	return list, nil
}

// valuesIn returns the number if the text is one number. Otherwise it returns
// the values in the text that one of the stages must not state.
func (p *policy) valuesIn(text string) ([]float64, error) {
	if n := reading.Numbers(text); len(n) == 1 && n[0].In(text) == strings.TrimSpace(text) {
		return []float64{n[0].Value}, nil
	}
	d, err := p.vocabulary.read(context.Background(), text)
	if err != nil {
		return nil, err
	}
	var list []float64
	for _, f := range p.vocabulary.facts(d) {
		if f.figure != nil && slices.ContainsFunc(p.Stages, func(s stage) bool { return s.forbids(f.value) }) {
			list = append(list, f.figure.Value)
		}
	}
	return list, nil
}
