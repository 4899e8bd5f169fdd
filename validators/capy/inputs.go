package capy

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
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

// sidecars turns the option into files. A map whose keys all end in .json is
// one of files by their names.
func sidecars(v any) ([]sidecar, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		if plain, err := schema.Parse([]byte(v)); err == nil {
			if m, ok := plain.(map[string]any); ok && named(m) {
				return files(m)
			}
		}
		return []sidecar{{text: []byte(v)}}, nil
	case []byte:
		return sidecars(string(v))
	case []string:
		list := make([]sidecar, len(v))
		for i, s := range v {
			list[i].text = []byte(s)
		}
		return list, nil
	case map[string]string:
		files := make(map[string]any, len(v))
		for name, text := range v {
			files[name] = text
		}
		return sidecars(files)
	case map[string]any:
		if named(v) {
			return files(v)
		}
	case []any:
		var list []sidecar
		for i, one := range v {
			if _, nested := one.([]any); nested {
				return nil, fmt.Errorf("sidecars[%d]: a list: want a JSON text or an object", i)
			}
			some, err := sidecars(one)
			if err != nil {
				return nil, fmt.Errorf("sidecars[%d]: %w", i, err)
			}
			list = append(list, some...)
		}
		return list, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("sidecars: %w", err)
	}
	return []sidecar{{text: text}}, nil
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
	for _, name := range slices.Sorted(maps.Keys(v)) {
		one, err := sidecars(v[name])
		if err != nil || len(one) != 1 {
			return nil, fmt.Errorf("sidecars: %s: want the text or the value of one JSON file", name)
		}
		list = append(list, sidecar{name, one[0].text})
	}
	return list, nil
}

// priorNumbers returns the values of earlier stages.
func (p *policy) priorNumbers(v any) ([]float64, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case int:
		return []float64{float64(v)}, nil
	case float64:
		return []float64{v}, nil
	case json.Number:
		f, err := v.Float64()
		return []float64{f}, err
	case []byte:
		return p.priorNumbers(string(v))
	case string:
		return p.stated(v)
	case []any, map[string]any:
	default: // a typed list or map
		plain, err := schema.Plain(v)
		if err != nil {
			return nil, fmt.Errorf("prior: a %T: want a text, a number, or a map or list of these", v)
		}
		v2, ok := plain.(map[string]any)
		list, isList := plain.([]any)
		if !ok && !isList {
			return nil, fmt.Errorf("prior: a %T: want a text, a number, or a map or list of these", v)
		}
		if isList {
			return p.priorNumbers(list)
		}
		return p.priorNumbers(v2)
	}
	var values []any
	if m, ok := v.(map[string]any); ok {
		for _, name := range slices.Sorted(maps.Keys(m)) {
			values = append(values, m[name])
		}
	} else {
		values = v.([]any)
	}
	var list []float64
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
	d, err := read(context.Background(), text)
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
