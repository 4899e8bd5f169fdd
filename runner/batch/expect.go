package batch

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/seed61713e19/capstan/validators"
	"github.com/seed61713e19/capstan/validators/expressions"
	"github.com/seed61713e19/capstan/validators/patterns"
	"github.com/seed61713e19/capstan/validators/schema"
)

// An Expect is what a row's output should be: a value, or an expression that must
// hold of it.
type Expect struct {
	expr  *expressions.Expression
	value any
	same  *schema.Schema
}

// newExpect reads what a row expects: {expr: …} is an expression and {value: …} a
// value. A text that is an expression about the output, that is one that compiles
// and names it, is an expression, anything else a value.
func newExpect(said any) (*Expect, error) {
	if o, isObject := said.(map[string]any); isObject && len(o) == 1 {
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
	if source, isText := said.(string); isText && names().MatchString(source) {
		if e, err := expressions.Parse(source); err == nil {
			return &Expect{expr: e}, nil
		}
	}
	return newValue(said)
}

// names finds what an expression about an output names.
var names = patterns.Lazy(`\b(output|content)\b`)

func newValue(v any) (*Expect, error) {
	same, err := schema.Compile(map[string]any{"const": v})
	if err != nil {
		return nil, fmt.Errorf("expect: %w", err)
	}
	return &Expect{value: v, same: same}, nil
}

// Met tells whether the output is what is expected; nil where the expression
// cannot be answered of it. A text that is JSON is taken for what it is too, and
// texts are compared without the blanks around them.
func (e *Expect) Met(output any, input map[string]any) *bool {
	said, isText := output.(string)
	if !isText {
		encoded, err := json.Marshal(output)
		if err != nil {
			return nil
		}
		said = string(encoded)
	}
	met, err := e.holds(said, output, input)
	if parsed, bad := schema.Parse([]byte(said)); isText && bad == nil && !met {
		if also, e := e.holds(said, parsed, input); e == nil {
			met, err = also, nil
		}
	}
	if err != nil {
		return nil
	}
	return &met
}

// holds tells whether the output, which reads as said, is what is expected.
func (e *Expect) holds(said string, output any, input map[string]any) (bool, error) {
	if e.expr != nil {
		return e.expr.Eval(validators.Subject{Content: said, Input: input, Output: output})
	}
	broken, err := e.same.Check(nil, output)
	want, wantsText := e.value.(string)
	return err == nil && len(broken) == 0 || wantsText && strings.TrimSpace(want) == strings.TrimSpace(said), err
}
