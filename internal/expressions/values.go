package expressions

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"

	"github.com/seed61713e19/capstan/internal/clips"
)

// These limits apply to the reason of a false expression: the number of values,
// the length of a text, and the length of a list that is printed whole.
// maxParts limits the computed parts. All parts together have one more budget
// of an evaluation.
const (
	maxShown      = 8
	maxShownText  = 61
	maxShownItems = 5
	maxParts      = 64
)

// A witness evaluates parts of a false expression to explain the result.
type witness struct {
	e     *Expression
	scope scope
	parts int
	notes []string
}

// A way is the path to a part of an expression's tree. It returns a tree with
// only inner of the part and the names around it.
type way func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node

// then extends the path to a part of the part.
func (w way) then(step func(ast.Node) ast.Node) way {
	return func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node {
		return w(root, func(n ast.Node) ast.Node { return inner(step(n)) })
	}
}

// values returns the values that made an expression false, such as
// "len(content) is 312". They are the operands of the deciding part, without
// literals. Parts that cannot be computed in time are left out.
func (e *Expression) values(s scope) (notes []string) {
	w := &witness{e: e, scope: s}
	defer func() {
		if recover() != nil {
			notes = w.notes
		}
	}()
	tree, err := parse(e.source, language())
	if err != nil {
		return nil
	}
	w.explain(tree.Node, func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node { return inner(root) }, false)
	return w.notes
}

// compute returns the value of a part. Compiling changes a tree, so each part
// has its own.
func (w *witness) compute(at way) (any, error) {
	if w.parts++; w.parts > maxParts {
		return nil, errBudget
	}
	config := language()
	config.ExpectAny, config.Expect = true, reflect.Invalid
	tree, err := parse(w.e.source, config)
	if err != nil {
		return nil, err
	}
	tree.Node = at(tree.Node, func(n ast.Node) ast.Node { return n })
	program, _, err := compiled(tree, config, w.e.locals)
	if err != nil {
		return nil, err
	}
	return vm.Run(program, w.scope)
}

// explain finds the operands that decided the result of n, at the path at.
func (w *witness) explain(n ast.Node, at way, result bool) {
	switch n := n.(type) {
	case *ast.VariableDeclaratorNode:
		w.explain(n.Expr, func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node {
			return at(root, func(n ast.Node) ast.Node {
				let := n.(*ast.VariableDeclaratorNode)
				let.Expr = inner(let.Expr)
				return let
			})
		}, result)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			w.explain(n.Node, at.then(func(n ast.Node) ast.Node { return n.(*ast.UnaryNode).Node }), !result)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			w.terms(n, at, result, false)
		case "||", "or":
			w.terms(n, at, result, true)
		default:
			w.operands(n, at)
		}
	case *ast.ConditionalNode:
		w.branch(n, at, result)
	default:
		w.operands(n, at)
	}
}

// A term is an operand of a chain of && or ||.
type term struct {
	node ast.Node
	at   way
}

// terms explains the term that decided a chain. If no single term decided, it
// explains all.
func (w *witness) terms(n *ast.BinaryNode, at way, result, decides bool) {
	list := joinedBy(n.Operator, n, at, nil)
	for _, t := range list {
		if result != decides {
			w.explain(t.node, t.at, result)
			continue
		}
		v, err := w.compute(t.at)
		if err != nil {
			return
		}
		if v == decides {
			w.explain(t.node, t.at, result)
			return
		}
	}
}

func joinedBy(operator string, n ast.Node, at way, list []term) []term {
	b, ok := n.(*ast.BinaryNode)
	if !ok || b.Operator != operator {
		return append(list, term{n, at})
	}
	list = joinedBy(operator, b.Left, at.then(func(n ast.Node) ast.Node { return n.(*ast.BinaryNode).Left }), list)
	return joinedBy(operator, b.Right, at.then(func(n ast.Node) ast.Node { return n.(*ast.BinaryNode).Right }), list)
}

// branch explains the side of a condition that was taken, and the condition.
func (w *witness) branch(n *ast.ConditionalNode, at way, result bool) {
	cond := at.then(func(n ast.Node) ast.Node { return n.(*ast.ConditionalNode).Cond })
	v, err := w.compute(cond)
	taken, ok := v.(bool)
	if err != nil || !ok {
		return
	}
	w.explain(n.Cond, cond, taken)
	if taken {
		w.explain(n.Exp1, at.then(func(n ast.Node) ast.Node { return n.(*ast.ConditionalNode).Exp1 }), result)
	} else {
		w.explain(n.Exp2, at.then(func(n ast.Node) ast.Node { return n.(*ast.ConditionalNode).Exp2 }), result)
	}
}

// operands notes the values of a node's operands.
func (w *witness) operands(n ast.Node, at way) {
	switch n := n.(type) {
	case *ast.BinaryNode:
		w.note(n.Left, at.then(func(n ast.Node) ast.Node { return n.(*ast.BinaryNode).Left }))
		w.note(n.Right, at.then(func(n ast.Node) ast.Node { return n.(*ast.BinaryNode).Right }))
	case *ast.BuiltinNode:
		for i, arg := range n.Arguments {
			w.note(arg, at.then(func(n ast.Node) ast.Node { return n.(*ast.BuiltinNode).Arguments[i] }))
		}
	case *ast.CallNode:
		for i, arg := range n.Arguments {
			w.note(arg, at.then(func(n ast.Node) ast.Node { return n.(*ast.CallNode).Arguments[i] }))
		}
	default:
		w.note(n, at)
	}
}

// note records the value of an operand that is no literal.
func (w *witness) note(n ast.Node, at way) {
	if len(w.notes) == maxShown || literal(n) {
		return
	}
	v, err := w.compute(at)
	if err != nil {
		return
	}
	if line := clips.Chars(n.String(), maxShownText) + " is " + shown(v, true); !slices.Contains(w.notes, line) {
		w.notes = append(w.notes, line)
	}
}

// literal reports whether a node's value is visible in the source.
func literal(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.BytesNode, *ast.ConstantNode,
		*ast.PredicateNode, *ast.PointerNode:
		return true
	case *ast.UnaryNode:
		return literal(n.Node)
	case *ast.BinaryNode: // 1..5
		return literal(n.Left) && literal(n.Right)
	case *ast.ArrayNode:
		return !slices.ContainsFunc(n.Nodes, func(n ast.Node) bool { return !literal(n) })
	case *ast.MapNode:
		return true
	}
	return false
}

// shown returns a short form of a value for a reason.
func shown(v any, whole bool) string {
	if text, ok := v.(string); ok {
		return inQuotes(text)
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.Invalid:
		return "nil"
	case reflect.Map:
		return fmt.Sprintf("an object of %d keys", r.Len())
	case reflect.Slice, reflect.Array:
		if !whole || r.Len() > maxShownItems {
			return fmt.Sprintf("a list of %d", r.Len())
		}
		items := make([]string, r.Len())
		for i := range items {
			items[i] = shown(r.Index(i).Interface(), false)
		}
		return "[" + strings.Join(items, ", ") + "]"
	case reflect.Pointer, reflect.Struct, reflect.Func:
		return kindOf(v)
	}
	return clips.Chars(fmt.Sprint(v), maxShownText)
}

// inQuotes quotes a text. It shortens a long text and adds its length.
func inQuotes(text string) string {
	begin := clips.Chars(text, maxShownText)
	if begin == text {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q (%d characters)", begin, len([]rune(text)))
}
