package inputs

import (
	"bytes"
	"fmt"
	"maps"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/internal/schema"
)

// Assignments parses name=text, name:=JSON, name=@file and name:=@file. A name
// may occur once.
func (f Files) Assignments(list []string) (map[string]any, error) {
	out := map[string]any{}
	for _, a := range list {
		name, value, ok := strings.Cut(a, "=")
		name, asJSON := strings.CutSuffix(name, ":")
		if !ok || name == "" {
			return nil, fmt.Errorf("%q: want name=text, name:=JSON or name=@file", a)
		}
		if _, twice := out[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		v, err := f.value(value, asJSON)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = v
	}
	return out, nil
}

func (f Files) value(text string, asJSON bool) (any, error) {
	if file, isFile := strings.CutPrefix(text, "@"); isFile {
		var err error
		if text, err = f.Text(file); err != nil {
			return nil, err
		}
	}
	if asJSON {
		return schema.Parse([]byte(text))
	}
	return text, nil
}

// Inputs returns a run's input: the object in a JSON file, if file is not
// empty, overwritten by the assignments in list.
func (f Files) Inputs(file string, list []string) (map[string]any, error) {
	input := map[string]any{}
	if file != "" {
		text, err := f.Bytes(file)
		if err == nil && !utf8.Valid(text) {
			err = fmt.Errorf("%s is not UTF-8 text", file)
		}
		if err != nil {
			return nil, fmt.Errorf("--input-file: %w", err)
		}
		v, err := schema.Parse(bytes.TrimPrefix(text, []byte("\ufeff")))
		if err != nil {
			return nil, fmt.Errorf("--input-file %s: %w", file, err)
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("--input-file %s: want a JSON object", file)
		}
		input = object
	}
	given, err := f.Assignments(list)
	if err != nil {
		return nil, err
	}
	maps.Copy(input, given)
	return input, nil
}
