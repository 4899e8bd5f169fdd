package schema

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// A builder compiles the keywords of one schema into its node. err is the first
// error.
type builder struct {
	*compiler
	n    *node
	raw  map[string]any
	year int
	err  error
}

func (f *builder) build() {
	if ref, ok := f.raw["$ref"].(string); ok {
		f.n.ref = f.refer(ref)
		if f.year < 2019 {
			return
		}
	}
	f.dynamic()
	f.generic()
	f.conditions()
	f.numbers()
	f.texts()
	f.objects()
	f.arrays()
	if f.year >= 2019 {
		f.n.unevaluatedProperties, f.n.unevaluatedItems = f.one("unevaluatedProperties"), f.one("unevaluatedItems")
		f.traits.unevaluated = f.traits.unevaluated || f.n.unevaluatedProperties != nil || f.n.unevaluatedItems != nil
	}
}

func (f *builder) refer(ref string) *node {
	if f.err != nil {
		return nil
	}
	n, err := f.target(f.n.res, ref)
	if err != nil {
		f.err = err
		return nil
	}
	n.target = true
	return n
}

func (f *builder) dynamic() {
	if ref, ok := f.raw["$recursiveRef"].(string); ok && f.year == 2019 {
		f.n.recursiveRef, f.traits.dynamic = f.refer(ref), true
	}
	if ref, ok := f.raw["$dynamicRef"].(string); ok && f.year == 2020 {
		f.n.dynamicRef, f.traits.dynamic = f.refer(ref), true
		if f.err == nil {
			for name := range f.n.dynamicRef.res.dynamic {
				if f.n.dynamicRef.res.anchors[name] == f.n.dynamicRef.at && endsIn(ref, name) {
					f.n.dynamicName = name
				}
			}
		}
	}
}

func endsIn(ref, anchor string) bool {
	return len(ref) > len(anchor) && ref[len(ref)-len(anchor)-1:] == "#"+anchor
}

func (f *builder) generic() {
	switch t := f.raw["type"].(type) {
	case string:
		f.n.typeList = []string{t}
	case []any:
		f.n.typeList = stringsIn(t)
	}
	for _, name := range f.n.typeList {
		f.n.types |= typeNames[name]
	}
	f.n.typeList = typeList(f.n.types)
	if list, ok := f.raw["enum"].([]any); ok {
		f.n.enum = newEnum(list)
	}
	if v, ok := f.raw["const"]; ok && f.year >= 6 {
		f.n.constant = &constant{v, canonical(v)}
	}
	if name, ok := f.raw["format"].(string); ok {
		f.n.format, f.n.check = name, formats[name]
	}
}

func (f *builder) conditions() {
	f.n.allOf, f.n.anyOf, f.n.oneOf, f.n.not = f.many("allOf"), f.many("anyOf"), f.many("oneOf"), f.one("not")
	if f.year >= 7 && f.raw["if"] != nil {
		f.n.ifs, f.n.thens, f.n.elses = f.one("if"), f.one("then"), f.one("else")
	}
}

func (f *builder) numbers() {
	r := numberRules{minimum: f.raw["minimum"], maximum: f.raw["maximum"], multipleOf: f.raw["multipleOf"]}
	r.above, r.below = f.raw["exclusiveMinimum"], f.raw["exclusiveMaximum"]
	if f.year == 4 { // in draft 4 they are booleans beside minimum and maximum
		for adverb, limit := range map[*any]*any{&r.above: &r.minimum, &r.below: &r.maximum} {
			if *adverb == true {
				*adverb, *limit = *limit, nil
			} else {
				*adverb = nil
			}
		}
	}
	if r != (numberRules{}) {
		f.n.number = &r
	}
}

func (f *builder) texts() {
	r := textRules{min: f.count("minLength"), max: f.count("maxLength")}
	if source, ok := f.raw["pattern"].(string); ok {
		r.pattern = f.regexp("pattern", source)
	}
	if r.min >= 0 || r.max >= 0 || r.pattern != nil {
		f.n.text = &r
	}
}

func (f *builder) regexp(word, source string) patterns.Matcher {
	p, err := f.patterns.CompileECMA(source)
	if err != nil && f.err == nil {
		f.err = fmt.Errorf("schema %s: %w", pathOf(append(stepsOf(f.n.at), step{word, -1})), err)
	}
	return p
}

func (f *builder) objects() {
	r := objectRules{
		min: f.count("minProperties"), max: f.count("maxProperties"), required: f.strings("required"),
		properties: f.byName("properties"), additional: f.one("additionalProperties"),
	}
	byPattern := f.byName("patternProperties")
	for _, source := range slices.Sorted(maps.Keys(byPattern)) {
		r.patterns = append(r.patterns, pattern{f.regexp("patternProperties", source), byPattern[source]})
	}
	if f.year >= 6 {
		r.names = f.one("propertyNames")
	}
	f.depends(&r, "dependencies", "dependency")
	if f.year >= 2019 {
		f.depends(&r, "dependentSchemas", "dependentSchemas")
		f.depends(&r, "dependentRequired", "dependentRequired")
	}
	if r.min >= 0 || r.max >= 0 || len(r.required)+len(r.properties)+len(r.patterns)+len(r.schemas)+len(r.requires) > 0 || r.additional != nil || r.names != nil {
		f.n.object = &r
	}
}

// depends reads a keyword with schemas or lists of names by property. rule is
// the keyword that violations report.
func (f *builder) depends(r *objectRules, word, rule string) {
	object, _ := f.raw[word].(map[string]any)
	for _, property := range slices.Sorted(maps.Keys(object)) {
		if needs, ok := object[property].([]any); ok {
			r.requires = append(r.requires, dependent{word: rule, property: property, needs: stringsIn(needs)})
		} else if n := f.child(object[property], "/"+word+"/"+token(property)); n != nil {
			r.schemas = append(r.schemas, dependent{word: rule, property: property, n: n})
		}
	}
}

func (f *builder) arrays() {
	r := arrayRules{min: f.count("minItems"), max: f.count("maxItems"), unique: f.raw["uniqueItems"] == true, minContains: -1, maxContains: -1}
	_, tuple := f.raw["items"].([]any)
	switch {
	case f.year >= 2020:
		r.prefix, r.rest, r.restWord = f.many("prefixItems"), f.one("items"), "items"
	case tuple:
		r.prefix, r.rest, r.restWord = f.many("items"), f.one("additionalItems"), "additionalItems"
	default:
		r.rest, r.restWord = f.one("items"), "items"
	}
	if f.year >= 6 {
		r.contains, r.marks = f.one("contains"), f.year >= 2020
	}
	if f.year >= 2019 {
		r.minContains, r.maxContains = f.count("minContains"), f.count("maxContains")
	}
	if r.min >= 0 || r.max >= 0 || r.unique || r.prefix != nil || r.rest != nil || r.contains != nil {
		f.n.array = &r
	}
}

// one compiles the schema that is the value of a keyword.
func (f *builder) one(word string) *node {
	raw, ok := f.raw[word]
	if !ok {
		return nil
	}
	return f.child(raw, "/"+token(word))
}

func (f *builder) child(raw any, below string) *node {
	if f.err != nil {
		return nil
	}
	n, err := f.node(f.n.res, f.n.at+below, raw)
	f.err = err
	return n
}

func (f *builder) many(word string) []*node {
	raw, _ := f.raw[word].([]any)
	var nodes []*node
	for i, one := range raw {
		nodes = append(nodes, f.child(one, "/"+word+"/"+strconv.Itoa(i)))
	}
	return nodes
}

func (f *builder) byName(word string) map[string]*node {
	raw, _ := f.raw[word].(map[string]any)
	nodes := make(map[string]*node, len(raw))
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		nodes[name] = f.child(raw[name], "/"+word+"/"+token(name))
	}
	return nodes
}

func (f *builder) strings(word string) []string {
	raw, _ := f.raw[word].([]any)
	return stringsIn(raw)
}

func stringsIn(raw []any) []string {
	var out []string
	for _, v := range raw {
		if s, ok := v.(string); ok {
			out = append(out, s)
		}
	}
	return out
}

// count returns the value of a counting keyword, negative if the keyword is
// missing.
func (f *builder) count(word string) int {
	v, ok := f.raw[word]
	if !ok {
		return -1
	}
	n, ok := Whole(v)
	if !ok || n < 0 {
		return math.MaxInt // more than any count
	}
	return n
}
