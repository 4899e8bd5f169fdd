package schema

import (
	"embed"
	"maps"
	"strings"
	"sync"
)

// A dialect is a draft of JSON Schema.
type dialect struct {
	year int    // 4, 6, 7, 2019 or 2020
	uri  string // address of its metaschema
	file string
	once sync.Once
	made *Schema

	vocabularyOnce sync.Once
	vocabulary     []string // see keywords
}

// metaschema returns the compiled schema of the dialect's schemas. It compiles
// at the first call, because a program that checks nothing must not pay for it.
func (d *dialect) metaschema() *Schema {
	d.once.Do(func() {
		c := newCompiler()
		c.trusted = true
		res, err := c.resource(d.uri)
		if err == nil {
			d.made, err = c.finish(res)
		}
		if err != nil {
			panic("dialect " + d.uri + ": " + err.Error())
		}
	})
	return d.made
}

//go:embed dialects
var dialectFiles embed.FS

var (
	draft4  = &dialect{year: 4, uri: "http://json-schema.org/draft-04/schema", file: "draft-04.json"}
	draft6  = &dialect{year: 6, uri: "http://json-schema.org/draft-06/schema", file: "draft-06.json"}
	draft7  = &dialect{year: 7, uri: "http://json-schema.org/draft-07/schema", file: "draft-07.json"}
	draft19 = &dialect{year: 2019, uri: "https://json-schema.org/draft/2019-09/schema", file: "2019-09/schema.json"}
	draft20 = &dialect{year: 2020, uri: "https://json-schema.org/draft/2020-12/schema", file: "2020-12/schema.json"}

	dialects = []*dialect{draft4, draft6, draft7, draft19, draft20}
)

// dialectOf returns the dialect with the address uri, or nil.
func dialectOf(uri string) *dialect {
	uri = strings.TrimSuffix(uri, "#")
	for _, d := range dialects {
		if _, path, _ := strings.Cut(d.uri, "://"); strings.TrimPrefix(strings.TrimPrefix(uri, "https://"), "http://") == path {
			return d
		}
	}
	return nil
}

// embeddedSchema returns the embedded document at uri and its dialect. ok is
// false if no dialect has one.
func embeddedSchema(uri string) (any, *dialect, bool) {
	for _, d := range dialects {
		file := d.file
		if uri != d.uri {
			name, ok := strings.CutPrefix(uri, strings.TrimSuffix(d.uri, "schema"))
			if !ok || d.year < 2019 || strings.Contains(name, "..") {
				continue
			}
			file = strings.TrimSuffix(d.file, "schema.json") + name + ".json"
		}
		text, err := dialectFiles.ReadFile("dialects/" + file)
		if err != nil {
			continue
		}
		v, err := Parse(text)
		if err != nil {
			panic(file + ": " + err.Error())
		}
		return v, d, true
	}
	return nil, nil, false
}

// A keywordKind is the form in which a keyword holds schemas.
type keywordKind int

const (
	one       keywordKind = iota + 1 // a schema
	list                             // a list of schemas
	named                            // schemas by name
	oneOrList                        // one schema or a list
	notLists                         // schemas or lists of names, by name
)

// subschemaKeywords returns the keywords of the dialect that hold schemas.
func (d *dialect) subschemaKeywords() map[string]keywordKind {
	return subschemaKeywordsByYear()[d.year]
}

var subschemaKeywordsByYear = sync.OnceValue(func() map[int]map[string]keywordKind {
	all := map[int]map[string]keywordKind{}
	known := map[string]keywordKind{
		"definitions": named, "not": one, "allOf": list, "anyOf": list, "oneOf": list, "properties": named, "additionalProperties": one,
		"patternProperties": named, "items": oneOrList, "additionalItems": one, "dependencies": notLists,
	}
	for _, more := range []struct {
		year  int
		words map[string]keywordKind
	}{
		{4, nil},
		{6, map[string]keywordKind{"propertyNames": one, "contains": one}},
		{7, map[string]keywordKind{"if": one, "then": one, "else": one}},
		{2019, map[string]keywordKind{"$defs": named, "dependentSchemas": named, "unevaluatedProperties": one, "unevaluatedItems": one, "contentSchema": one}},
		{2020, map[string]keywordKind{"prefixItems": list}},
	} {
		words := map[string]keywordKind{}
		maps.Copy(words, known)
		for k, v := range more.words {
			words[k], known[k] = v, v
		}
		all[more.year] = words
	}
	return all
})
