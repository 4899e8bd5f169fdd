package main

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"unicode/utf8"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/documents"
	"github.com/seed61713e19/capstan/validators/schema"
)

// maxInput bounds what is read from one file or stream, in bytes.
const maxInput = 512 << 20

// assignments reads k=text, k:=JSON, k=@file and k:=@file.
func (c *Command) assignments(list []string) (map[string]any, error) {
	out := map[string]any{}
	for _, a := range list {
		name, value, ok := strings.Cut(a, "=")
		asJSON := strings.HasSuffix(name, ":")
		name = strings.TrimSuffix(name, ":")
		if !ok || name == "" {
			return nil, usage("%q: want name=text, name:=JSON or name=@file", a)
		}
		if _, twice := out[name]; twice {
			return nil, usage("%s is given twice", name)
		}
		if file, isFile := strings.CutPrefix(value, "@"); isFile {
			text, err := c.readText(file)
			if err != nil {
				return nil, usage("%s: %w", name, err)
			}
			value = text
		}
		out[name] = value
		if asJSON {
			v, err := schema.Parse([]byte(value))
			if err != nil {
				return nil, usage("%s: %w", name, err)
			}
			out[name] = v
		}
	}
	return out, nil
}

// inputs gives a run's input: a JSON file's object with the assignments over
// it.
func (c *Command) inputs(file string, list []string) (map[string]any, error) {
	input := map[string]any{}
	if file != "" {
		text, err := c.readBytes(file)
		if err == nil && !utf8.Valid(text) {
			err = fmt.Errorf("%s is not UTF-8 text", file)
		}
		if err != nil {
			return nil, usage("--input-file: %w", err)
		}
		v, err := schema.Parse(documents.Unmarked(text))
		if err != nil {
			return nil, usage("--input-file %s: %w", file, err)
		}
		object, ok := v.(map[string]any)
		if !ok {
			return nil, usage("--input-file %s: want a JSON object", file)
		}
		input = object
	}
	given, err := c.assignments(list)
	if err != nil {
		return nil, err
	}
	maps.Copy(input, given)
	return input, nil
}

// noteTexts tells of each input that is a text, and would be right as the JSON that it is.
func (c *Command) noteTexts(cascade *cascades.Cascade, input map[string]any) {
	for _, in := range cascade.Inputs {
		text, ok := input[in.Name].(string)
		if !ok || len(text) > 1000 || in.Check(nil, text, true) == nil {
			continue
		}
		if value, err := schema.Parse([]byte(text)); err == nil && in.Check(nil, value, true) == nil {
			fmt.Fprintf(c.Stderr, "note: %s=%s is a text: %[1]s:=%[2]s gives it as JSON\n", in.Name, flatly(text))
		}
	}
}

// readText reads a file, or standard input for "-", that must be text.
func (c *Command) readText(name string) (string, error) {
	var text strings.Builder // of what may be large there is one copy
	err := c.readInto(&text, name)
	if err == nil && !utf8.ValidString(text.String()) {
		err = fmt.Errorf("%s is not UTF-8 text", name)
	}
	return text.String(), err
}

// readBytes is readText for what may be no text.
func (c *Command) readBytes(name string) ([]byte, error) {
	var text bytes.Buffer
	if err := c.readInto(&text, name); err != nil {
		return nil, err
	}
	return text.Bytes(), nil
}

// readInto reads a file, or standard input for "-".
func (c *Command) readInto(to interface {
	io.Writer
	Grow(n int)
}, name string) error {
	r := c.piped
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return err
		}
		defer f.Close()
		if info, err := f.Stat(); err == nil && info.IsDir() {
			return fmt.Errorf("%s is a directory", name)
		} else if err == nil && info.Size() <= maxInput {
			to.Grow(int(info.Size()) + bytes.MinRead)
		}
		r = f
	}
	n, err := io.Copy(to, io.LimitReader(r, maxInput+1))
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", name, err)
	case n > maxInput:
		return fmt.Errorf("%s has more than %d MiB", name, maxInput>>20)
	}
	return nil
}
