package expressions

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// constantPattern compiles the pattern of a "matches" once if it is a literal. The
// inspection has checked that it compiles.
func constantPattern(node ast.Node) ast.Node {
	text, ok := node.(*ast.StringNode)
	if !ok {
		return node
	}
	p, err := patterns.Compile(text.Value)
	if err != nil {
		return node
	}
	constant := &ast.ConstantNode{Value: p}
	constant.SetLocation(node.Location())
	return constant
}

// matches implements the operator "matches". No pattern matches nil.
func matches(m meter, args []any) (any, error) {
	if args[0] == nil || args[1] == nil {
		return false, nil
	}
	text, ok := args[0].(string)
	if !ok {
		return nil, fmt.Errorf("matches looks into a string, not %s", kindOf(args[0]))
	}
	p, ok := args[1].(patterns.Pattern)
	if !ok {
		source, err := arg[string](args, 1)
		if err != nil {
			return nil, err
		}
		if err := m.spend(20 * (100 + patterns.Effort(source))); err != nil {
			return nil, err
		}
		if p, err = patterns.Compile(source); err != nil {
			return nil, err
		}
		if err := m.spend(20 * p.Size()); err != nil {
			return nil, err
		}
	}
	return p.MatchWithin(m, text)
}
