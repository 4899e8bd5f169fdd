package validators

import (
	"fmt"
	"regexp"
	"regexp/syntax"

	"github.com/expr-lang/expr/ast"
)

// A pattern is a compiled regular expression and what it costs: RE2 takes time
// in proportion to the text's length times the size of the program.
type pattern struct {
	re *regexp.Regexp
	// size is in instructions; each can take 10 ns for a byte of text, and
	// takes a quarter of that on most.
	size    int
	needles []needle // one of them stands in whatever it matches
	byLine  bool     // each line can be matched by itself
}

func newPattern(source string) (pattern, error) {
	re, err := regexp.Compile(source)
	if err != nil {
		return pattern{}, err
	}
	parsed, err := syntax.Parse(source, syntax.Perl)
	if err != nil {
		return pattern{}, err
	}
	found, lines := needles(parsed), byLine(parsed)
	program, err := syntax.Compile(parsed.Simplify())
	if err != nil {
		return pattern{}, err
	}
	return pattern{re, len(program.Inst), found, lines}, nil
}

// constantPattern compiles the pattern of a "matches" once where it is a
// literal. The type check has seen that it compiles.
func constantPattern(node ast.Node) ast.Node {
	text, ok := node.(*ast.StringNode)
	if !ok {
		return node
	}
	p, err := newPattern(text.Value)
	if err != nil {
		return node
	}
	constant := &ast.ConstantNode{Value: p}
	constant.SetLocation(node.Location())
	return constant
}

// matches is the operator of that name: nil matches nothing.
func matches(m meter, args []any) (any, error) {
	if args[0] == nil || args[1] == nil {
		return false, nil
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("matches looks into a string, not %s", kindOf(args[0]))
	}
	p, ok := args[1].(pattern)
	if !ok {
		source, err := arg[string](args, 1)
		if err != nil {
			return nil, err
		}
		if err := m.spend(100 * (1 + len(source))); err != nil {
			return nil, err
		}
		if p, err = newPattern(source); err != nil {
			return nil, err
		}
		if err := m.spend(20 * p.size); err != nil {
			return nil, err
		}
	}
	if err := m.spend(p.cost(text)); err != nil {
		return nil, err
	}
	return p.match(text), nil
}

// cost is what looking for the pattern in a text costs.
func (p pattern) cost(text string) int { return 1 + len(text)*p.size/40 }
