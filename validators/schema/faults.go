package schema

import (
	"maps"
	"path"
	"slices"
	"strconv"
	"strings"
)

// Faults lists what the dialect of a schema does not take in it, each with its
// path within the schema, as [Schema.Check] does for a value. It is empty where
// there is something else wrong: a reference that leads nowhere, which [Lost] tells.
func Faults(source any) []Violation {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return nil
	}
	broken, _ := d.compiled().Check(nil, source)
	return broken
}

// Named is the path of what an object at path holds by a name.
func Named(path, name string) string {
	return path + strings.TrimPrefix(pathOf([]step{{name: name, index: -1}}), "$")
}

// Indexed is the path of what an array at path holds at an index, from 0.
func Indexed(path string, index int) string { return path + "[" + strconv.Itoa(index) + "]" }

// A Stray is a key of a schema that its dialect has no meaning for: a note of the
// author's, or a word misspelt.
type Stray struct {
	Path string // of the schema that has it
	Key  string
}

// Strays lists the keys without a meaning in a schema and those within it, in no
// order.
func Strays(source any) []Stray {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return nil
	}
	s := strays{dialect: d, known: d.keywords()}
	s.in("$", source, 0)
	return s.found
}

// Keywords are the words of the dialect that a schema is in, sorted.
func Keywords(source any) []string {
	d, err := dialectIn(source, draft20)
	if err != nil {
		return nil
	}
	return d.keywords()
}

// Types are what the type of a schema may be.
func Types() []string {
	return []string{"array", "boolean", "integer", "null", "number", "object", "string"}
}

type strays struct {
	dialect *dialect
	known   []string
	found   []Stray
}

// maxDeep bounds how far schemas are looked for within schemas.
const maxDeep = 200

func (s *strays) in(at string, raw any, depth int) {
	object, ok := raw.(map[string]any)
	if !ok || depth > maxDeep {
		return
	}
	words := s.dialect.words()
	for key, held := range object {
		below := Named(at, key)
		what := words[key]
		if key == "$defs" { // a $ref leads there in any dialect
			what = named
		}
		switch {
		case what != 0:
			for step, raw := range what.in(held) {
				at := below
				switch step := step.(type) {
				case int:
					at = Indexed(below, step)
				case string:
					at = Named(below, step)
				}
				s.in(at, raw, depth+1)
			}
		case !slices.Contains(s.known, key):
			s.found = append(s.found, Stray{at, key})
		}
	}
}

// keywords are the words of the dialect: the properties of its metaschemas.
func (d *dialect) keywords() []string {
	d.worded.Do(func() {
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
