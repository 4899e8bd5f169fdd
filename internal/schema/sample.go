package schema

import (
	"maps"
	"math/big"
	"slices"
	"strings"
	"unicode/utf8"
)

// Sampling are the options of [Schema.Sample].
type Sampling struct {
	Text   string // the text of strings, cut or repeated to the required length
	High   bool   // the largest numbers, the last choices and two items instead of the smallest, the first and one
	Sparse bool   // only required members, and only as many items as required
}

// Limits of a sample. A schema may refer to itself, or require a text that is
// too long for a sample.
const (
	sampleDepth  = 12
	sampleItems  = 50
	sampleText   = 20_000
	sampleValues = 2_000
)

// Sample returns a value for the schema. It uses the schema's examples,
// defaults and constants, and otherwise fills in the properties. The value may
// be invalid, so the caller must check it: Sample merges allOf, takes one
// branch of anyOf and oneOf, and ignores conditions and negations. The result
// depends only on the schema and the options.
func (s *Schema) Sample(with Sampling) any {
	m := sampler{Sampling: with, whole: s.source, left: sampleValues}
	return m.value(s.source, 0)
}

type sampler struct {
	Sampling
	whole any
	left  int // how many more values may be made
}

// samples are texts for the formats.
var samples = map[string]string{
	"date": "2025-01-31", "time": "12:00:00Z", "date-time": "2025-01-31T12:00:00Z", "duration": "P1D",
	"email": "ada@example.org", "idn-email": "ada@example.org", "hostname": "example.org", "idn-hostname": "example.org",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "uri": "https://example.org/", "iri": "https://example.org/",
	"uri-reference": "/", "iri-reference": "/", "uri-template": "/{name}", "uuid": "123e4567-e89b-12d3-a456-426614174000",
	"json-pointer": "/name", "relative-json-pointer": "0", "regex": ".*",
	"semver": "1.0.0",
}

func (m *sampler) value(raw any, depth int) any {
	object, ok := raw.(map[string]any)
	if m.left--; !ok || m.left < 0 {
		return m.Text
	}
	object = m.merged(object, depth)
	for _, word := range []string{"const", "default"} {
		if v, ok := object[word]; ok {
			return v
		}
	}
	for _, word := range []string{"examples", "enum"} {
		if list, ok := object[word].([]any); ok && len(list) > 0 {
			return m.choice(list)
		}
	}
	switch kind := m.kind(object); kind {
	case "object":
		return m.object(object, depth)
	case "array":
		return m.array(object, depth)
	case "number", "integer":
		return m.number(object, kind == "integer")
	case "boolean":
		return m.High
	case "null":
		return nil
	}
	return m.string(object)
}

func (m *sampler) choice(list []any) any {
	if m.High {
		return list[len(list)-1]
	}
	return list[0]
}

// merged returns the schema merged with its $ref, all of allOf, and one branch
// each of anyOf and oneOf. The schema's own keywords win, but properties and
// required are combined.
func (m *sampler) merged(object map[string]any, depth int) map[string]any {
	var more []any
	if ref, ok := object["$ref"].(string); ok && strings.HasPrefix(ref, "#") {
		if found, ok := lookUp(m.whole, ref[1:]); ok {
			more = append(more, found)
		}
	}
	if all, ok := object["allOf"].([]any); ok {
		more = append(more, all...)
	}
	for _, word := range []string{"anyOf", "oneOf"} {
		if list, ok := object[word].([]any); ok && len(list) > 0 {
			more = append(more, m.choice(list))
		}
	}
	if m.left -= len(more); len(more) == 0 || m.left < 0 || depth >= 2*sampleDepth {
		return object
	}
	out := maps.Clone(object)
	for _, raw := range more {
		other, ok := raw.(map[string]any)
		if !ok {
			continue
		}
		for word, v := range m.merged(other, depth+1) {
			out[word] = mergedKeyword(word, out[word], v)
		}
	}
	return out
}

func mergedKeyword(word string, near, far any) any {
	switch near := near.(type) {
	case nil:
		return far
	case map[string]any:
		if more, ok := far.(map[string]any); ok && word == "properties" {
			out := maps.Clone(more)
			maps.Copy(out, near)
			return out
		}
	case []any:
		if more, ok := far.([]any); ok && word == "required" {
			return append(slices.Clone(near), more...)
		}
	}
	return near
}

// kind returns the type of the sample. Without the keyword type, it infers the
// type from other keywords.
func (m *sampler) kind(object map[string]any) string {
	switch kind := object["type"].(type) {
	case string:
		return kind
	case []any:
		for _, k := range kind {
			if k, ok := k.(string); ok && k != "null" {
				return k
			}
		}
		return "null"
	}
	for _, of := range []struct {
		kind  string
		words []string
	}{
		{"object", []string{"properties", "required", "additionalProperties", "minProperties", "patternProperties"}},
		{"array", []string{"items", "prefixItems", "minItems", "contains"}},
		{"number", []string{"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"}},
	} {
		if slices.ContainsFunc(of.words, func(word string) bool { return object[word] != nil }) {
			return of.kind
		}
	}
	return "string"
}

// object returns an object with every property. A sparse or deeply nested
// object has only the required properties.
func (m *sampler) object(object map[string]any, depth int) any {
	out := map[string]any{}
	properties, _ := object["properties"].(map[string]any)
	required, _ := object["required"].([]any)
	names := stringsIn(required)
	if depth < sampleDepth/2 && !m.Sparse {
		names = slices.AppendSeq(names, maps.Keys(properties))
	}
	for _, name := range names {
		if properties[name] == false {
			continue
		}
		if depth >= sampleDepth {
			out[name] = nil
			continue
		}
		out[name] = m.value(properties[name], depth+1)
	}
	return out
}

func (m *sampler) array(object map[string]any, depth int) any {
	n := 1
	switch {
	case m.Sparse && object["contains"] == nil:
		n = 0
	case m.High:
		n = 2
	}
	if least, ok := Whole(object["minItems"]); ok {
		n = max(n, least)
	}
	first, _ := object["prefixItems"].([]any)
	if !m.Sparse {
		n = max(n, len(first))
	}
	if most, ok := Whole(object["maxItems"]); ok {
		n = min(n, most)
	}
	if depth >= sampleDepth {
		n = 0
	}
	out := []any{}
	for i := range min(n, sampleItems) {
		item := object["items"]
		if i == 0 && item == nil {
			item = object["contains"]
		}
		if i < len(first) {
			item = first[i]
		}
		out = append(out, m.item(item, i, object["uniqueItems"] == true, depth))
	}
	return out
}

// item returns one item of a list. If items must be unique, texts are numbered
// and the values of an enum are used in turn.
func (m *sampler) item(raw any, i int, unique bool, depth int) any {
	object, _ := raw.(map[string]any)
	if list, ok := object["enum"].([]any); ok && unique && len(list) > 0 {
		return list[i%len(list)]
	}
	v := m.value(raw, depth+1)
	if text, ok := v.(string); ok && unique && i > 0 {
		return strings.TrimRight(text, ".") + " " + strings.Repeat("I", i+1)
	}
	return v
}

// number returns a number within the limits. Without an upper limit, a high
// sample is 100. Without a lower limit, a low sample is 1.
func (m *sampler) number(object map[string]any, whole bool) any {
	one := big.NewRat(1, 1)
	step := one
	if of := rational(object["multipleOf"]); of != nil && of.Sign() > 0 {
		step = of
	} else if !whole {
		step = big.NewRat(1, 100)
	}
	low, high := bound(object, "minimum", "exclusiveMinimum", step), bound(object, "maximum", "exclusiveMaximum", new(big.Rat).Neg(step))
	want := one
	if m.High {
		want = big.NewRat(100, 1)
	}
	switch {
	case low != nil && (want.Cmp(low) < 0 || !m.High):
		want = low
	case high != nil && (want.Cmp(high) > 0 || m.High):
		want = high
	}
	if whole || object["multipleOf"] != nil {
		if !whole {
			one = step
		}
		want = multipleNear(want, rounded(one, step), m.High && high != nil)
	}
	if want.IsInt() && want.Num().IsInt64() {
		return int(want.Num().Int64())
	}
	f, _ := want.Float64()
	return f
}

// rounded returns the step for a number that must be integral and a multiple of
// step.
func rounded(one, step *big.Rat) *big.Rat {
	if step.Cmp(one) < 0 {
		return one
	}
	return step
}

// multipleNear returns the multiple of step next to v: at or below it, or at or
// above it.
func multipleNear(v, step *big.Rat, below bool) *big.Rat {
	n := new(big.Rat).Quo(v, step)
	floor := new(big.Int).Div(n.Num(), n.Denom()) // Euclidean division, which is the floor because the denominator is positive
	if !below && !n.IsInt() {
		floor.Add(floor, big.NewInt(1))
	}
	return new(big.Rat).Mul(new(big.Rat).SetInt(floor), step)
}

func bound(object map[string]any, word, exclusive string, inside *big.Rat) *big.Rat {
	if v := rational(object[exclusive]); v != nil {
		return new(big.Rat).Add(v, inside)
	}
	return rational(object[word])
}

func (m *sampler) string(object map[string]any) string {
	if pattern, ok := object["pattern"].(string); ok {
		if text, ok := Matching(pattern, m.Text); ok {
			return text
		}
	}
	if format, ok := object["format"].(string); ok && samples[format] != "" {
		return samples[format]
	}
	text := m.Text
	if least, ok := Whole(object["minLength"]); ok {
		for text != "" && utf8.RuneCountInString(text) < least && len(text) < sampleText {
			text += " " + text
		}
	}
	if most, ok := Whole(object["maxLength"]); ok {
		text = shortened(text, most)
	}
	return text
}

// shortened returns a text of at most n characters. It cuts between words if it
// can.
func shortened(text string, n int) string {
	runes := []rune(text)
	if len(runes) <= n {
		return text
	}
	text = string(runes[:max(n, 0)])
	if i := strings.LastIndexByte(text, ' '); i > len(text)/2 {
		return text[:i]
	}
	return text
}
