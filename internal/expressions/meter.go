package expressions

import (
	"errors"
	"fmt"
	"reflect"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/seed61713e19/capstan/internal/schema"
)

// budget limits the work of an evaluation. A unit corresponds to 100 ns. The library limits
// neither time nor memory, so this package rewrites the tree before it is compiled. Operands
// whose size decides the cost go through charge, and the body of a loop through tick. Operations
// with large results for small operands are replaced (functions).
const budget = 10_000_000

var errBudget = errors.New("too much work for one expression")

// A meter counts down the work of an evaluation and regularly calls its stop
// function.
type meter struct{ *account }

type account struct {
	left, next int // the meter calls stop at next units or fewer
	stop       schema.Stop
}

// askEvery is the number of units between two calls of stop: some milliseconds.
const askEvery = 20_000

func newMeter(stop schema.Stop) meter { return meter{&account{budget, budget - askEvery, stop}} }

// spend is short enough for inlining.
func (m meter) spend(units int) error {
	if uint(units) < uint(m.left-m.next) { // as uint, a negative number is large
		m.left -= units
		return nil
	}
	return m.asks(units)
}

// Spend implements [patterns.Meter].
func (m meter) Spend(units int) error { return m.spend(units) }

func (m meter) asks(units int) error {
	if units < 0 || units > m.left {
		m.left = 0
		return errBudget
	}
	m.left -= units
	if m.next = max(m.left-askEvery, 0); m.stop != nil {
		return m.stop()
	}
	return nil
}

// A price is the number of bytes of an operand that one unit pays for. It is a power of two.
type price int

const (
	free  price = 0
	read  price = 32
	each  price = 8 // a list whose elements are all read
	build price = 4 // a new text
)

// operators are the binary operators whose operands cost by their size.
var operators = map[string]price{
	"==": read, "!=": read, "<": read, "<=": read, ">": read, ">=": read, "in": each,
	"contains": read, "startsWith": read, "endsWith": read, "+": build,
}

// builtins are the library's functions that expressions may call. Their results depend only on
// their arguments, and charge and tick count all their work. Other useful functions are in
// functions.
var builtins = map[string]price{
	"all": free, "any": free, "one": free, "none": free, "filter": free, "map": free,
	"find": free, "findIndex": free, "findLast": free, "findLastIndex": free,
	"first": free, "last": free, "get": free, "take": free, "type": free,
	"abs": free, "ceil": free, "floor": free, "round": free,
	"len": read, "int": read, "float": read,
	"hasPrefix": read, "hasSuffix": read,
	"count": each, "sum": each, "min": each, "max": each, "mean": each, "median": each,
	"lower": build, "upper": build, "string": build,
}

// skimmed are functions whose cost depends only on a text's length.
var skimmed = map[string]bool{"len": true, "int": true, "float": true}

// metering rewrites a tree that has been checked.
type metering struct{ nodes int }

// Visit implements [ast.Visitor]. Children come before their parents.
func (w metering) Visit(node *ast.Node) {
	switch n := (*node).(type) {
	case *ast.PredicateNode:
		// The body runs once more per iteration. It pays its other costs
		// itself.
		n.Node = metered("tick", n.Node.Location(), &ast.IntegerNode{Value: 2 + w.nodes/4}, n.Node)
	case *ast.BinaryNode:
		if n.Operator == ".." {
			n.Left, n.Right = position(n.Left), position(n.Right)
		}
		if w.operator(node, n); *node == ast.Node(n) {
			numeric(node, n)
		}
	case *ast.UnaryNode:
		if n.Operator == "-" && mayHold(n.Node) {
			*node = operation("compute", "-", n.Location(), &ast.IntegerNode{}, n.Node)
		}
	case *ast.SliceNode:
		sliced(node, n)
	case *ast.MemberNode:
		indexed(node, n)
	case *ast.BuiltinNode:
		w.builtin(node, n)
	case *ast.CallNode:
		if name := n.Callee.(*ast.IdentifierNode).Value; functions[name].call != nil {
			*node = metered(name, n.Location(), n.Arguments...)
		}
	}
}

func (w metering) operator(node *ast.Node, n *ast.BinaryNode) {
	if n.Operator == "matches" {
		*node = metered("matches", n.Location(), n.Left, constantPattern(n.Right))
		return
	}
	if n.Operator == "==" || n.Operator == "!=" {
		n.Left, n.Right = filled(n.Left, n.Right), filled(n.Right, n.Left)
	}
	p, ok := operators[n.Operator]
	switch {
	case !ok:
	case n.Operator == "in":
		n.Left, n.Right = charged("charge", n.Left, p), charged("probe", n.Right, p)
	case !fixed(n.Left) && !fixed(n.Right): // else the sizes do not matter
		n.Left, n.Right = charged("charge", n.Left, p), charged("charge", n.Right, p)
	}
}

// filled wraps an operand that is compared with "". In such a comparison, nil counts as empty,
// because outputs.x != "" means that there is a text.
func filled(node, other ast.Node) ast.Node {
	text, ok := other.(*ast.StringNode)
	if !ok || text.Value != "" || node.Type().Kind() != reflect.Interface {
		return node
	}
	or := &ast.BinaryNode{Operator: "??", Left: node, Right: &ast.StringNode{}}
	or.SetLocation(node.Location())
	or.SetType(node.Type())
	return or
}

func (w metering) builtin(node *ast.Node, n *ast.BuiltinNode) {
	switch n.Name {
	case "sum":
		w.sum(node, n)
		return
	case "findLast", "findLastIndex":
		w.backwards(node, n)
		return
	}
	if n.Name == "len" { // the library counts the bytes of a number's JSON
		n.Arguments[0] = metered("lone", n.Arguments[0].Location(), n.Arguments[0])
	}
	if n.Name == "get" {
		n.Arguments[1] = position(n.Arguments[1])
	}
	how := "charge"
	if skimmed[n.Name] {
		how = "skim"
	}
	for i, arg := range n.Arguments {
		if _, predicate := arg.(*ast.PredicateNode); !predicate && builtins[n.Name] != free {
			n.Arguments[i] = charged(how, arg, builtins[n.Name])
		}
	}
	if ofNumbers[n.Name] != nil {
		*node = metered(n.Name, n.Location(), n.Arguments...)
	}
}

// sum adds the elements of a list, or the results of a predicate.
func (w metering) sum(node *ast.Node, n *ast.BuiltinNode) {
	of := n.Arguments[0]
	if len(n.Arguments) > 1 {
		all := &ast.BuiltinNode{Name: "map", Arguments: n.Arguments}
		all.SetLocation(n.Location())
		of = all
	}
	*node = metered("sum", n.Location(), of)
}

// backwards searches the reversed list from its beginning. The library's loops from the end leave
// a value on its stack, and a call would use this value as an argument.
func (w metering) backwards(node *ast.Node, n *ast.BuiltinNode) {
	at := n.Location()
	turned := metered("reversed", at, n.Arguments[0])
	found := &ast.BuiltinNode{Name: "find", Arguments: []ast.Node{turned, n.Arguments[1]}}
	found.SetLocation(at)
	*node = found
	if n.Name == "findLast" {
		return
	}
	name := &ast.IdentifierNode{Value: fmt.Sprintf(" reversed %d", at.From)}
	found.Name, found.Arguments[0] = "findIndex", name
	let := &ast.VariableDeclaratorNode{Name: name.Value, Value: turned, Expr: metered("mirrored", at, name, found)}
	let.SetLocation(at)
	*node = let
}

// fixed reports whether a node is certainly small: a number, a boolean or nil.
func fixed(node ast.Node) bool {
	if _, ok := node.(*ast.NilNode); ok {
		return true
	}
	switch node.Type().Kind() {
	case reflect.Bool, reflect.Int, reflect.Float64, reflect.Uint8:
		return true
	}
	return false
}

func charged(how string, node ast.Node, p price) ast.Node {
	if fixed(node) {
		return node
	}
	if text, ok := node.(*ast.StringNode); ok && len(text.Value) <= int(read) {
		return node
	}
	return metered(how, node.Location(), &ast.IntegerNode{Value: int(p)}, node)
}

// metered returns a call of a function of this package, with the meter as its first argument. The
// name begins with a blank, so an author cannot write it.
func metered(name string, at file.Location, arguments ...ast.Node) ast.Node {
	call := &ast.CallNode{
		Callee:    &ast.IdentifierNode{Value: " " + name},
		Arguments: append([]ast.Node{&ast.IdentifierNode{Value: " meter"}}, arguments...),
	}
	call.SetLocation(at)
	return call
}

// tick pays for one iteration of a loop.
func tick(m meter, args []any) (any, error) { return args[1], m.spend(args[0].(int)) }

// charge pays for an operand with all its elements.
func charge(m meter, args []any) (any, error) { return args[1], m.weigh(args[1], args[0].(int)) }

// skim pays for the length of a text. Other values have a constant cost.
func skim(m meter, args []any) (any, error) {
	text, _ := args[1].(string)
	return args[1], m.spend(1 + len(text)/args[0].(int))
}

// probe pays for a search in a list.
func probe(m meter, args []any) (any, error) {
	if reflect.ValueOf(args[1]).Kind() == reflect.Map {
		return args[1], m.spend(1)
	}
	return charge(m, args)
}

// weigh pays for a value with all its elements.
func (m meter) weigh(v any, p int) error {
	bytes, err := weight(v, m.left*p, 0)
	if err != nil {
		return err
	}
	return m.spend(weighing(bytes, p))
}

// weighing returns the price of a number of bytes, see [weight].
func weighing(bytes, p int) int { return 1 + bytes/p }

// maxDepth limits nested lists and maps, because printing and comparing
// recurse.
const maxDepth = 10_000

func textWeight(text string) int { return 16 + len(text) }

// weight returns the approximate size of v in bytes. It stops counting above limit.
func weight(v any, limit, depth int) (int, error) {
	if text, ok := v.(string); ok {
		return textWeight(text), nil
	}
	if depth > maxDepth {
		return 0, fmt.Errorf("a value is nested more than %d deep", maxDepth)
	}
	total := 16
	add := func(v any) error {
		n, err := weight(v, limit-total, depth+1)
		total += n
		return err
	}
	switch v := v.(type) { // the most common types avoid reflection, which would allocate each element
	case []any:
		for i := 0; i < len(v) && total <= limit; i++ {
			if err := add(v[i]); err != nil {
				return total, err
			}
		}
		return total, nil
	case []int:
		for i := 0; i < len(v) && total <= limit; i++ {
			total += 16
		}
		return total, nil
	}
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.String:
		total += r.Len()
	case reflect.Slice, reflect.Array:
		for i := 0; i < r.Len() && total <= limit; i++ {
			if err := add(r.Index(i).Interface()); err != nil {
				return total, err
			}
		}
	case reflect.Map:
		for each := r.MapRange(); total <= limit && each.Next(); {
			if err := errors.Join(add(each.Key().Interface()), add(each.Value().Interface())); err != nil {
				return total, err
			}
		}
	}
	return total, nil
}
