package capy

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/seed61713e19/capstan/validators/capy/reading"
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
		return []sidecar{{text: []byte(v)}}, nil
	case []byte:
		return []sidecar{{text: v}}, nil
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

// priorNumbers turns the option into the values that earlier stages stated.
func priorNumbers(v any) ([]float64, error) {
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
	case []float64:
		return v, nil
	case map[string]float64:
		var list []float64
		for _, name := range slices.Sorted(maps.Keys(v)) {
			list = append(list, v[name])
		}
		return list, nil
	case string:
		return stated(v), nil
	case []byte:
		return stated(string(v)), nil
	case []string:
		var list []float64
		for _, s := range v {
			list = append(list, stated(s)...)
		}
		return list, nil
	case []any:
		return priorList(v)
	case map[string]any:
		values := make([]any, 0, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			values = append(values, v[name])
		}
		return priorList(values)
	}
	return nil, fmt.Errorf("prior: a %T: want a text, a number, or a map or list of these", v)
}

func priorList(values []any) ([]float64, error) {
	var list []float64
	for _, one := range values {
		numbers, err := priorNumbers(one)
		if err != nil {
			return nil, err
		}
		list = append(list, numbers...)
	}
	return list, nil
}

// stated gives the values of IVPS, E[IVPS] and E[IRR] that a text states, or
// the number that it is.
func stated(text string) []float64 {
	if n, ok := reading.Number(text); ok {
		return []float64{n}
	}
	var list []float64
	for _, s := range reading.Read(reading.Request{Text: []byte(text)}).Statements {
		if !s.Has(reading.Absent) && (s.Metric.PerShare() || s.Metric == reading.EIRR) {
			list = append(list, s.Value)
		}
	}
	return list
}
