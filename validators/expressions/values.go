package expressions

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm"
)

// What a no tells of values: so many of them, a text cut to so many characters,
// a list given whole up to so many elements, and so many parts of the expression
// computed to find them. Telling has one more budget of an evaluation and no more.
const (
	maxTold      = 8
	maxToldText  = 60
	maxToldItems = 5
	maxParts     = 64
)

// A witness computes parts of an expression that was false, to tell why.
type witness struct {
	e     *Expression
	scope scope
	parts int
	told  []string
}

// A way leads from an expression's tree to one of its parts: it gives the tree
// of which only inner of the part is left, and the names around it.
type way func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node

// then goes on to a part of the part.
func (w way) then(step func(ast.Node) ast.Node) way {
	return func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node {
		return w(root, func(n ast.Node) ast.Node { return inner(step(n)) })
	}
}

// values are what a false expression saw, as "len(content) is 312": of the part
// that decided, its operands that are not written out. None where that cannot be
// computed in time.
func (e *Expression) values(s scope) (told []string) {
	w := &witness{e: e, scope: s}
	defer func() {
		if recover() != nil {
			told = w.told
		}
	}()
	tree, err := parse(e.source, language())
	if err != nil {
		return nil
	}
	w.explain(tree.Node, func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node { return inner(root) }, false)
	return w.told
}

// compute gives the value of a part. Compiling changes a tree, so that each part
// has one of its own.
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

// explain tells why n, found at a way, came out as it did.
func (w *witness) explain(n ast.Node, at way, came bool) {
	switch n := n.(type) {
	case *ast.VariableDeclaratorNode:
		w.explain(n.Expr, func(root ast.Node, inner func(ast.Node) ast.Node) ast.Node {
			return at(root, func(n ast.Node) ast.Node {
				let := n.(*ast.VariableDeclaratorNode)
				let.Expr = inner(let.Expr)
				return let
			})
		}, came)
	case *ast.UnaryNode:
		if n.Operator == "not" || n.Operator == "!" {
			w.explain(n.Node, at.then(func(n ast.Node) ast.Node { return n.(*ast.UnaryNode).Node }), !came)
		}
	case *ast.BinaryNode:
		switch n.Operator {
		case "&&", "and":
			w.terms(n, at, came, false)
		case "||", "or":
			w.terms(n, at, came, true)
		default:
			w.operands(n, at)
		}
	case *ast.ConditionalNode:
		w.branch(n, at, came)
	default:
		w.operands(n, at)
	}
}

// A term is one of what && or || joins.
type term struct {
	node ast.Node
	at   way
}

// terms explains what is joined: where one term decided, that one, else all.
func (w *witness) terms(n *ast.BinaryNode, at way, came, decides bool) {
	list := joinedBy(n.Operator, n, at, nil)
	for _, t := range list {
		if came != decides {
			w.explain(t.node, t.at, came)
			continue
		}
		v, err := w.compute(t.at)
		if err != nil {
			return
		}
		if v == decides {
			w.explain(t.node, t.at, came)
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
func (w *witness) branch(n *ast.ConditionalNode, at way, came bool) {
	cond := at.then(func(n ast.Node) ast.Node { return n.(*ast.ConditionalNode).Cond })
	v, err := w.compute(cond)
	taken, ok := v.(bool)
	if err != nil || !ok {
		return
	}
	w.explain(n.Cond, cond, taken)
	if taken {
		w.explain(n.Exp1, at.then(func(n ast.Node) ast.Node { return n.(*ast.ConditionalNode).Exp1 }), came)
	} else {
		w.explain(n.Exp2, at.then(func(n ast.Node) ast.Node { return n.(*ast.ConditionalNode).Exp2 }), came)
	}
}

// operands tells the values of what a question is about.
func (w *witness) operands(n ast.Node, at way) {
	switch n := n.(type) {
	case *ast.BinaryNode:
		w.tell(n.Left, at.then(func(n ast.Node) ast.Node { return n.(*ast.BinaryNode).Left }))
		w.tell(n.Right, at.then(func(n ast.Node) ast.Node { return n.(*ast.BinaryNode).Right }))
	case *ast.BuiltinNode:
		for i, arg := range n.Arguments {
			w.tell(arg, at.then(func(n ast.Node) ast.Node { return n.(*ast.BuiltinNode).Arguments[i] }))
		}
	case *ast.CallNode:
		for i, arg := range n.Arguments {
			w.tell(arg, at.then(func(n ast.Node) ast.Node { return n.(*ast.CallNode).Arguments[i] }))
		}
	default:
		w.tell(n, at)
	}
}

// tell notes the value of one operand, unless it is written out.
func (w *witness) tell(n ast.Node, at way) {
	if len(w.told) == maxTold || plainlySaid(n) {
		return
	}
	v, err := w.compute(at)
	if err != nil {
		return
	}
	if line := shortened(n.String(), maxToldText) + " is " + shown(v, true); !slices.Contains(w.told, line) {
		w.told = append(w.told, line)
	}
}

// plainlySaid tells whether a part says its own value, or has none alone.
func plainlySaid(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.NilNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.StringNode, *ast.BytesNode, *ast.ConstantNode,
		*ast.PredicateNode, *ast.PointerNode:
		return true
	case *ast.UnaryNode:
		return plainlySaid(n.Node)
	case *ast.BinaryNode: // 1..5
		return plainlySaid(n.Left) && plainlySaid(n.Right)
	case *ast.ArrayNode:
		return !slices.ContainsFunc(n.Nodes, func(n ast.Node) bool { return !plainlySaid(n) })
	case *ast.MapNode:
		return true
	}
	return false
}

// shown is a value for a reason: short, whatever it is.
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
		if !whole || r.Len() > maxToldItems {
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
	return shortened(fmt.Sprint(v), maxToldText)
}

// inQuotes is a text in quotation marks, its end cut off and its length told where
// it is long.
func inQuotes(text string) string {
	begin := shortened(text, maxToldText)
	if begin == text {
		return strconv.Quote(text)
	}
	return fmt.Sprintf("%q (%d characters)", begin, len([]rune(text)))
}

// shortened is a text of at most so many characters, with … where it was longer.
func shortened(text string, most int) string {
	count := 0
	for i := range text {
		if count == most {
			return text[:i] + "…"
		}
		count++
	}
	return text
}
