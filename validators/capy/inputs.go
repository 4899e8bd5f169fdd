package capy

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/internal/reading"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A sidecar is a JSON file that belongs to an output.
type sidecar struct {
	name string // "" where it is not known
	text []byte
}

// sidecars returns the files of the option. A map whose keys all end in .json has files by
// their names.
func sidecars(v any) ([]sidecar, error) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	plain, err := schema.Plain(v)
	if err != nil {
		return nil, fmt.Errorf("sidecars: %w", err)
	}
	switch v := plain.(type) {
	case nil:
		return nil, nil
	case string:
		if inner, err := schema.Parse([]byte(v)); err == nil {
			if m, ok := inner.(map[string]any); ok && named(m) {
				return files(m)
			}
		}
		return []sidecar{{text: []byte(v)}}, nil
	case map[string]any:
		if named(v) {
			return files(v)
		}
	case []any:
		var list []sidecar
		for i, one := range v {
			some, err := sidecars(one)
			if _, nested := one.([]any); nested || err != nil {
				return nil, fmt.Errorf("sidecars[%d]: want a JSON text or an object", i)
			}
			list = append(list, some...)
		}
		return list, nil
	}
	text, err := json.Marshal(plain)
	return []sidecar{{text: text}}, err
}

// named says that a map is one of files by their names.
func named(v map[string]any) bool {
	for name := range v {
		if !strings.HasSuffix(strings.ToLower(name), ".json") {
			return false
		}
	}
	return len(v) > 0
}

// files are those of a map, in the order of their names.
func files(v map[string]any) ([]sidecar, error) {
	var list []sidecar
	for _, name := range sortedKeys(v) {
		one, err := sidecars(v[name])
		if err != nil || len(one) != 1 {
			return nil, fmt.Errorf("sidecars: %s: want the text or the value of one JSON file", name)
		}
		list = append(list, sidecar{name, one[0].text})
	}
	return list, nil
}

// priorNumbers returns the values of earlier stages.
func (p *policy) priorNumbers(v any) (list []float64, err error) {
	if b, ok := v.([]byte); ok {
		v = string(b)
	}
	plain, err := schema.Plain(v)
	if err != nil {
		return nil, fmt.Errorf("prior: %w", err)
	}
	var values []any
	switch v := plain.(type) {
	case nil:
		return nil, nil
	case string:
		return p.stated(v)
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
		return nil, fmt.Errorf("prior: a %T: want a text, a number, or a map or list of these", v)
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

// stated returns the number that a text is, or the values that an output states and some
// stage must not state.
func (p *policy) stated(text string) ([]float64, error) {
	if n := reading.Numbers(text); len(n) == 1 && n[0].In(text) == strings.TrimSpace(text) {
		return []float64{n[0].Value}, nil
	}
	d, err := p.vocabulary.read(context.Background(), text)
	if err != nil {
		return nil, fmt.Errorf("prior: %w", err)
	}
	var list []float64
	for _, f := range p.vocabulary.facts(d) {
		forbids := func(s stage) bool {
			return slices.ContainsFunc(s.Forbids, func(one forbidden) bool { return one.Value == f.value })
		}
		if f.figure != nil && slices.ContainsFunc(p.Stages, forbids) {
			list = append(list, f.figure.Value)
		}
	}
	return list, nil
}
