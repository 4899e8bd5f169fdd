// Package schema checks plain values against JSON Schemas, decodes JSON into
// the plain values everything else works on, and takes JSON out of the prose a
// model wraps it in.
//
// Plain values are nil, bool, string, int, float64, json.Number, []any and
// map[string]any. A number is an int or a float64 where that encodes again digit
// for digit as it was written, and otherwise a json.Number: an integer of more
// than 64 bits, and 1.0, 1.10, 1e2, -0. [Compare] compares them as the decimal
// numbers that they are.
package schema

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/santhosh-tekuri/jsonschema/v6/kind"
	"golang.org/x/text/language"
	"golang.org/x/text/message"
)

// A Schema is a compiled JSON Schema. It is safe for concurrent use.
type Schema struct {
	source   any
	compiled *jsonschema.Schema
}

// Compile compiles a schema given as a plain value. The dialect is 2020-12
// unless the schema's $schema says otherwise, formats are asserted, and only
// references within the schema itself resolve: nothing is fetched.
func Compile(source any) (*Schema, error) {
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	c.UseLoader(noLoader{})
	if err := c.AddResource(root, source); err != nil {
		return nil, errors.New(compileMessage(err))
	}
	compiled, err := c.Compile(root)
	if err != nil {
		return nil, errors.New(compileMessage(err))
	}
	return &Schema{source: source, compiled: compiled}, nil
}

// root is the address a schema is compiled under; it shows in no message.
const root = "mem:///schema.json"

type noLoader struct{}

func (noLoader) Load(url string) (any, error) {
	return nil, fmt.Errorf("%s is outside the schema, and nothing is fetched", url)
}

func compileMessage(err error) string {
	var invalid *jsonschema.SchemaValidationError
	if errors.As(err, &invalid) {
		if v, ok := invalid.Err.(*jsonschema.ValidationError); ok {
			list := flatten(v)
			return "schema " + list[0].Path + ": " + list[0].Message
		}
	}
	text := strings.ReplaceAll(err.Error(), root, "schema")
	return clip(text, maxMessage)
}

// Source is the schema as it was given to [Compile].
func (s *Schema) Source() any { return s.source }

// MarshalJSON gives the schema's source.
func (s *Schema) MarshalJSON() ([]byte, error) { return json.Marshal(s.source) }

// A Violation is one place where a value breaks a schema.
type Violation struct {
	Path     string `json:"path"`               // where in the value: $.items[0].name
	Rule     string `json:"rule"`               // the keyword that was broken: required, minLength
	Message  string `json:"message"`            // what is wrong, in words
	Expected string `json:"expected,omitempty"` // what the rule asks for
	Got      string `json:"got,omitempty"`      // what stands there, cut to a line
}

// String gives the violation as one line: path, message.
func (v Violation) String() string { return v.Path + ": " + v.Message }

// maxViolations and maxMessage bound what one check reports: a schema error of
// a hostile value can be megabytes, and it goes into a prompt.
const (
	maxViolations = 50
	maxMessage    = 400
)

// Check lists where value breaks the schema, at most 50 places, ordered by
// place and rule, so the same value always gives the same list; none means that
// it is valid.
func (s *Schema) Check(value any) []Violation {
	err := s.compiled.Validate(value)
	if err == nil {
		return nil
	}
	var invalid *jsonschema.ValidationError
	if !errors.As(err, &invalid) {
		return []Violation{{Path: "$", Rule: "schema", Message: clip(err.Error(), maxMessage)}}
	}
	return flatten(invalid)
}

// flatten takes the leaves of the error tree: the rules that were broken,
// without the references and groups on the way to them. The library walks maps,
// so the leaves are put in order: by place, then by rule.
func flatten(e *jsonschema.ValidationError) []Violation {
	var leaves []*jsonschema.ValidationError
	var walk func(e *jsonschema.ValidationError)
	walk = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 {
			leaves = append(leaves, e)
		}
		for _, cause := range e.Causes {
			walk(cause)
		}
	}
	walk(e)
	slices.SortStableFunc(leaves, func(a, b *jsonschema.ValidationError) int {
		return cmp.Or(
			slices.CompareFunc(a.InstanceLocation, b.InstanceLocation, comparePart),
			slices.Compare(a.ErrorKind.KeywordPath(), b.ErrorKind.KeywordPath()),
			strings.Compare(a.SchemaURL, b.SchemaURL))
	})
	out := make([]Violation, 0, min(len(leaves), maxViolations))
	for _, leaf := range leaves[:min(len(leaves), maxViolations)] {
		out = append(out, violation(leaf))
	}
	return out
}

// comparePart orders the parts of a pointer: indexes as numbers.
func comparePart(a, b string) int {
	if isIndex(a) && isIndex(b) {
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	}
	return strings.Compare(a, b)
}

// printers are not safe for concurrent use, so each violation takes its own.
func violation(e *jsonschema.ValidationError) Violation {
	if extra, ok := e.ErrorKind.(*kind.AdditionalProperties); ok {
		slices.Sort(extra.Properties) // these too come from a map
	}
	v := Violation{
		Path:    pathOf(e.InstanceLocation),
		Message: clip(e.ErrorKind.LocalizedString(message.NewPrinter(language.English)), maxMessage),
	}
	if words := e.ErrorKind.KeywordPath(); len(words) > 0 {
		v.Rule = words[0]
	}
	v.Expected, v.Got = expectation(e.ErrorKind)
	return v
}

// pathOf writes a JSON pointer's parts as a JSON path.
func pathOf(parts []string) string {
	var b strings.Builder
	b.WriteByte('$')
	for _, p := range parts {
		switch {
		case isIndex(p):
			b.WriteString("[" + p + "]")
		case isName(p):
			b.WriteString("." + p)
		default:
			quoted, _ := json.Marshal(p)
			b.WriteString("[" + string(quoted) + "]")
		}
	}
	return b.String()
}

func isIndex(s string) bool {
	return s != "" && strings.Trim(s, "0123456789") == ""
}

func isName(s string) bool {
	for i, r := range s {
		letter := r == '_' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z'
		if !letter && (i == 0 || r != '-' && (r < '0' || r > '9')) {
			return false
		}
	}
	return s != ""
}

// clip cuts s to at most n bytes on a rune boundary and says so.
func clip(s string, n int) string {
	if len(s) <= n {
		return s
	}
	return strings.ToValidUTF8(s[:n], "") + "…"
}
