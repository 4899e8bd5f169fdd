package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades/documents"
	"github.com/seed61713e19/capstan/validators/schema"
)

// A reader reads the files that flags name, "-" from what it has.
type reader struct{ stdin io.Reader }

// input is a run's, as capstan run reads it: a file's object with name=text,
// name:=JSON and name=@file over it.
func (r reader) input(file string, list []string) (map[string]any, error) {
	input, given := map[string]any{}, map[string]any{}
	if file != "" {
		text, err := r.text(file)
		if err != nil {
			return nil, fmt.Errorf("--input-file: %w", err)
		}
		v, err := schema.Parse(documents.Unmarked(text))
		if err != nil {
			return nil, fmt.Errorf("--input-file %s: %w", file, err)
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, fmt.Errorf("--input-file %s: want a JSON object", file)
		}
		input = object
	}
	for _, one := range list {
		name, value, err := r.assigned(one)
		if err != nil {
			return nil, err
		}
		if _, twice := given[name]; twice {
			return nil, fmt.Errorf("%s is given twice", name)
		}
		given[name] = value
	}
	maps.Copy(input, given)
	return input, nil
}

func (r reader) assigned(one string) (string, any, error) {
	name, value, ok := strings.Cut(one, "=")
	name, asJSON := strings.CutSuffix(name, ":")
	if !ok || name == "" {
		return "", nil, fmt.Errorf("--input %s: want NAME=TEXT, NAME:=JSON or NAME=@FILE", one)
	}
	if file, isFile := strings.CutPrefix(value, "@"); isFile {
		text, err := r.text(file)
		if err != nil {
			return "", nil, fmt.Errorf("%s: %w", name, err)
		}
		value = string(text)
	}
	if !asJSON {
		return name, value, nil
	}
	v, err := schema.Parse([]byte(value))
	if err != nil {
		return "", nil, fmt.Errorf("%s: %w", name, err)
	}
	return name, v, nil
}

func (r reader) text(file string) (text []byte, err error) {
	if file == "-" {
		text, err = io.ReadAll(r.stdin)
	} else {
		text, err = os.ReadFile(file)
	}
	if err == nil && !utf8.Valid(text) {
		err = fmt.Errorf("%s is not UTF-8 text", file)
	}
	return text, err
}

// chosen is a [cascades.Chosen] of the models that the flags name, the last default
// first, or of the environment's.
func chosen(models []string, file string) string {
	if len(models) == 0 {
		models = []string{os.Getenv("CAPSTAN_MODEL")}
	}
	var lines []string
	for _, name := range slices.Backward(models) {
		if name == "scripted" {
			name = "scripted:" + strings.TrimSuffix(file, filepath.Ext(file)) + ".scripted.yaml"
		}
		lines = append(lines, name)
	}
	return strings.Join(lines, "\n")
}
