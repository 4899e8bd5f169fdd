package cascades

import (
	"cmp"
	"errors"
	"fmt"
	"path"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/internal/reader"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/schema"
)

// maxSchemaFiles is the maximum number of files that the references of a schema may name.
const maxSchemaFiles = 100

// schemaSource reads a schema from the cascade file, or from the file in @file.json.
func (p *parser) schemaSource(n *yaml.Node) (source any, file string) {
	if word := p.Resolve(n); word.Kind == yaml.ScalarNode && word.Tag == "!!str" {
		if name, ok := ownFile(word.Value); ok {
			file = p.beside(name)
			source, err := p.schemaFile(file)
			if err != nil {
				p.Error(n, codes.File, "%v", err)
			}
			return source, file
		}
	}
	return p.Plain(n, reader.Verbatim), ""
}

func (p *parser) schemaFile(file string) (any, error) {
	text, err := p.readFile(file)
	if err != nil {
		return nil, err
	}
	source, err := schema.Parse(text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return source, nil
}

// unwrapped returns the schema in a json_schema object of OpenAI's response_format, and the
// path of the schema. The path is "" if the source is another value.
func unwrapped(source any) (inner any, at string) {
	object, _ := source.(map[string]any)
	if object["type"] == "json_schema" && object["json_schema"] != nil {
		inner, at = unwrapped(object["json_schema"])
		return inner, strings.Replace(at, "$", "$.json_schema", 1)
	}
	for key := range object {
		switch key {
		case "name", "strict", "schema", "description":
		default:
			return nil, ""
		}
	}
	inner, ok := object["schema"].(map[string]any)
	if !ok || object["name"] == nil && object["strict"] == nil {
		return nil, ""
	}
	return inner, "$.schema"
}

// A bundle copies the files in the references of a schema to its $defs. The schema then needs
// no files.
type bundle struct {
	p     *parser
	own   string            // file of the schema; "" for a schema in the cascade file
	names map[string]string // names under $defs, by file
	defs  map[string]any
	err   error
}

// bundled returns a schema whose file references point to its $defs. A file name is relative
// to the file with the reference. bundled reports files that it cannot read.
func (p *parser) bundled(n *yaml.Node, source any, own string) any {
	object, ok := source.(map[string]any)
	if !ok {
		return source
	}
	b := &bundle{p: p, own: own, names: map[string]string{}, defs: map[string]any{}}
	made, _ := b.walk(object, cmp.Or(own, p.File.Name), "", false).(map[string]any)
	if b.err != nil {
		p.Error(n, codes.File, "$ref %v", b.err)
	}
	if len(b.defs) == 0 {
		return made
	}
	defs, _ := made["$defs"].(map[string]any)
	for name, one := range defs {
		b.defs[name] = one
	}
	made["$defs"] = b.defs
	return made
}

// walk copies a part of a schema. file contains the part, and self is the name of that file
// under $defs. If named is true, the keys of v are names and not keywords.
func (b *bundle) walk(v any, file, self string, named bool) any {
	switch v := v.(type) {
	case []any:
		list := make([]any, len(v))
		for i, one := range v {
			list[i] = b.walk(one, file, self, false)
		}
		return list
	case map[string]any:
		made := make(map[string]any, len(v))
		for key, value := range v {
			ref, isText := value.(string)
			switch {
			case !named && key == "$ref" && isText:
				made[key] = b.refer(ref, file, self)
			case !named && (key == "enum" || key == "const" || key == "default" || key == "examples"):
				made[key] = value
			default:
				made[key] = b.walk(value, file, self, !named && (strings.HasSuffix(strings.ToLower(key), "properties") ||
					key == "$defs" || key == "definitions" || key == "dependentSchemas"))
			}
		}
		return made
	}
	return v
}

// refer returns a reference in its form within the bundle.
func (b *bundle) refer(ref, file, self string) string {
	name, fragment, _ := strings.Cut(ref, "#")
	if strings.Contains(name, ":") || path.IsAbs(name) {
		return ref // reported later, unless it is a dialect
	}
	to := self
	if name != "" {
		var err error
		if to, err = b.load(path.Join(path.Dir(file), name)); err != nil && b.err == nil {
			b.err = fmt.Errorf("%s: %w", ref, err)
		}
	}
	if to == "" || fragment != "" && fragment[0] != '/' {
		return "#" + fragment
	}
	return "#/$defs/" + to + fragment
}

// load reads a file into the bundle once and returns its name under $defs. The name is "" for
// the file of the schema.
func (b *bundle) load(file string) (string, error) {
	if file == b.own {
		return "", nil
	}
	if name, ok := b.names[file]; ok {
		return name, nil
	}
	if len(b.names) == maxSchemaFiles {
		return "", errors.New("a schema refers to more than 100 files")
	}
	source, err := b.p.schemaFile(file)
	if err != nil {
		return "", err
	}
	name := fmt.Sprintf("%s_%d", strings.NewReplacer("/", "_", "~", "_", "%", "_", "#", "_").Replace(path.Base(file)), len(b.names)+1)
	b.names[file] = name
	made := b.walk(source, file, name, false)
	if object, ok := made.(map[string]any); ok {
		delete(object, "$id") // the bundle resolves its references
		delete(object, "$schema")
	}
	b.defs[name] = made
	return name, nil
}
