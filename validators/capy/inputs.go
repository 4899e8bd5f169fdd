package capy

import (
	"encoding/json"
	"fmt"
)

// sidecars turns the option into texts.
func sidecars(v any) ([][]byte, error) {
	switch v := v.(type) {
	case nil:
		return nil, nil
	case string:
		return [][]byte{[]byte(v)}, nil
	case []byte:
		return [][]byte{v}, nil
	case []string:
		list := make([][]byte, len(v))
		for i, s := range v {
			list[i] = []byte(s)
		}
		return list, nil
	case []any:
		var list [][]byte
		for i, one := range v {
			if _, nested := one.([]any); nested {
				return nil, fmt.Errorf("sidecars[%d]: a list: want a JSON text or an object", i)
			}
			texts, err := sidecars(one)
			if err != nil {
				return nil, fmt.Errorf("sidecars[%d]: %w", i, err)
			}
			list = append(list, texts...)
		}
		return list, nil
	}
	text, err := json.Marshal(v)
	if err != nil {
		return nil, fmt.Errorf("sidecars: %w", err)
	}
	return [][]byte{text}, nil
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
		for _, n := range v {
			list = append(list, n)
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
		for _, one := range v {
			values = append(values, one)
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
	if n, ok := readNumber([]byte(text), 0); ok && n.end == len(text) {
		return []float64{n.value}
	}
	g := newLedger([]byte(text))
	read([]byte(text), nil, g)
	var list []float64
	for _, s := range g.list {
		if !s.absent && (s.metric.perShare() || s.metric == eirr) {
			list = append(list, s.value)
		}
	}
	return list
}
