package batch

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/internal/expressions"
	"github.com/seed61713e19/capstan/internal/patterns"
	"github.com/seed61713e19/capstan/internal/schema"
	"github.com/seed61713e19/capstan/validators"
)

// An Expect is the expected output of a row: a value, or an expression that must be true.
type Expect struct {
	expr  *expressions.Expression
	value any
	same  *schema.Schema
}

// newExpect parses an expectation: {expr: …} is an expression, and {value: …} is a value. A text
// that compiles as an expression and names the output is an expression. Anything else is a value.
func newExpect(written any) (*Expect, error) {
	if o, isObject := written.(map[string]any); isObject && len(o) == 1 {
		if source, isText := o["expr"].(string); isText {
			e, err := expressions.Parse(source)
			if err != nil {
				return nil, fmt.Errorf("expect: %w", err)
			}
			return &Expect{expr: e}, nil
		}
		if v, there := o["value"]; there {
			return newValue(v)
		}
	}
	if source, isText := written.(string); isText && outputNames().MatchString(source) {
		if e, err := expressions.Parse(source); err == nil {
			return &Expect{expr: e}, nil
		}
	}
	return newValue(written)
}

// outputNames finds the names of the output in an expression.
var outputNames = patterns.Lazy(`\b(output|content)\b`)

func newValue(v any) (*Expect, error) {
	same, err := schema.Compile(map[string]any{"const": v})
	if err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	return &Expect{value: v, same: same}, nil
}

// Met reports whether the output is as expected, or returns nil if the expression has no result. A
// JSON text is also compared as a value. White space around texts does not count.
func (e *Expect) Met(output any, input map[string]any) *bool {
	written, isText := output.(string)
	if !isText {
		encoded, err := json.Marshal(output)
		if err != nil {
			return nil
		}
		written = string(encoded)
	}
	met, err := e.holds(written, output, input)
	if parsed, bad := schema.Parse([]byte(written)); isText && bad == nil && !met {
		if also, e := e.holds(written, parsed, input); e == nil {
			met, err = also, nil
		}
	}
	if err != nil {
		return nil
	}
	return &met
}

// holds reports whether the output, written as a text, is as expected.
func (e *Expect) holds(written string, output any, input map[string]any) (bool, error) {
	if e.expr != nil {
		return e.expr.Eval(validators.Subject{Content: written, Input: input, Output: output})
	}
	broken, err := e.same.Check(nil, output)
	want, wantsText := e.value.(string)
	return err == nil && len(broken) == 0 || wantsText && strings.TrimSpace(want) == strings.TrimSpace(written), err
}
