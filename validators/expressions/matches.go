package expressions

import (
	"fmt"

	"github.com/expr-lang/expr/ast"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// constantPattern compiles the pattern of a "matches" once where it is a
// literal. The type check has seen that it compiles.
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

// matches is the operator of that name: nil matches nothing.
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
		if err := m.spend(100 * (1 + len(source))); err != nil {
			return nil, err
		}
		if p, err = patterns.Compile(source); err != nil {
			return nil, err
		}
		if err := m.spend(20 * p.Size()); err != nil {
			return nil, err
		}
	}
	if err := m.spend(cost(p, text)); err != nil {
		return nil, err
	}
	return p.Match(text), nil
}

// cost is what looking for a pattern in a text costs.
func cost(p patterns.Pattern, text string) int { return 1 + len(text)*p.Size()/40 }
