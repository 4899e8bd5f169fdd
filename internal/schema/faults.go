package schema

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Faults returns the violations of a schema against its dialect. Each path
// leads into the schema, as [Schema.Check] has it for a value. The list is
// empty for other mistakes, such as a reference that leads nowhere;
// [BrokenReferences] returns those.
func Faults(source any) []Violation {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return nil
	}
	broken, _ := d.metaschema().Check(nil, source)
	return broken
}

// MemberPath returns the path of a member of the object at path.
func MemberPath(path, name string) string {
	return path + strings.TrimPrefix(pathOf([]step{{name: name, index: -1}}), "$")
}

// ItemPath returns the path of an item of the array at path. The index is from
// 0.
func ItemPath(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// An UnknownKey is a key of a schema that its dialect does not define: a note
// of the author, or a misspelt keyword.
type UnknownKey struct {
	Path string // path of the schema that contains it
	Key  string
}

// UnknownKeys returns the keys of a schema and its subschemas that the dialect
// does not define, in no order.
func UnknownKeys(source any) []UnknownKey {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return nil
	}
	s := unknownKeys{dialect: d, known: d.keywords()}
	s.in("$", source, 0)
	return s.found
}

// Keywords returns the keywords of the schema's dialect, sorted.
func Keywords(source any) []string {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return nil
	}
	return d.keywords()
}

// Types returns the possible values of the keyword type.
func Types() []string {
	return []string{"array", "boolean", "integer", "null", "number", "object", "string"}
}

type unknownKeys struct {
	dialect *dialect
	known   []string
	found   []UnknownKey
}

// maxDeep is the maximum depth at which subschemas are searched.
const maxDeep = 200

func (s *unknownKeys) in(at string, raw any, depth int) {
	object, ok := raw.(map[string]any)
	if !ok || depth > maxDeep {
		return
	}
	words := s.dialect.subschemaKeywords()
	for key, held := range object {
		below := MemberPath(at, key)
		what := words[key]
		if key == "$defs" { // a $ref may lead there in any dialect
			what = named
		}
		switch {
		case what != 0:
			for step, raw := range what.subschemas(held) {
				at := below
				switch step := step.(type) {
				case int:
					at = ItemPath(below, step)
				case string:
					at = MemberPath(below, step)
				}
				s.in(at, raw, depth+1)
			}
		case !slices.Contains(s.known, key):
			s.found = append(s.found, UnknownKey{at, key})
		}
	}
}

// keywords returns the keywords of the dialect: the properties of its
// metaschemas.
func (d *dialect) keywords() []string {
	d.vocabularyOnce.Do(func() {
		files := []string{d.file}
		if parts, err := dialectFiles.ReadDir("dialects/" + path.Dir(d.file) + "/meta"); err == nil {
			for _, part := range parts {
				files = append(files, path.Dir(d.file)+"/meta/"+part.Name())
			}
		}
		all := map[string]bool{}
		for _, file := range files {
			text, _ := dialectFiles.ReadFile("dialects/" + file)
			v, err := Parse(text)
			if err != nil {
				panic(file + ": " + err.Error())
			}
			properties, _ := v.(map[string]any)["properties"].(map[string]any)
			for word := range properties {
				all[word] = true
			}
		}
		d.vocabulary = slices.Sorted(maps.Keys(all))
	})
	return d.vocabulary
}
