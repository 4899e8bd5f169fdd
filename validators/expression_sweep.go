package validators

import (
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// A sweep asks one question of each piece of a text that was split. The library's
// machine takes some 500 ns for a piece, most of it in making arguments for calls
// that pay; so where a question is made of plain parts alone it is made a Go
// function, out of the tree that pays: what is paid, when, and where it breaks off
// stay the tree's.
type sweep struct {
	name string // of the library's function whose place it takes
	asks gives[bool]
}

// A piece is what a sweep looks at.
type piece struct {
	meter meter
	text  string
}

// gives is a part of a question: what it gives for a piece.
type gives[T bool | string | int] func(*piece) T

// sweeps are the library's functions that a sweep can stand for.
var sweeps = map[string]reflect.Type{
	"all": reflect.TypeFor[bool](), "any": reflect.TypeFor[bool](), "none": reflect.TypeFor[bool](), "one": reflect.TypeFor[bool](),
	"count": reflect.TypeFor[int](), "filter": reflect.TypeFor[[]any](),
}

// sweeping puts sweeps into a tree that has been metered.
type sweeping struct{ source file.Source }

// Visit implements [ast.Visitor].
func (w sweeping) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BuiltinNode)
	if !ok || sweeps[n.Name] == nil || len(n.Arguments) != 2 {
		return
	}
	asked, ok := n.Arguments[1].(*ast.PredicateNode)
	if !ok {
		return
	}
	pieces, ok := splits(n.Arguments[0])
	if !ok {
		return
	}
	asks := w.truth(asked.Node)
	if asks == nil {
		return
	}
	var swept ast.Node = metered("sweep "+n.Name, n.Location(), n.Arguments[0], &ast.ConstantNode{Value: &sweep{n.Name, asks}})
	if n.Name == "filter" { // the library counts what a list takes where it makes one
		made := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{swept, &ast.PredicateNode{Node: &ast.PointerNode{}}}}
		made.SetLocation(n.Location())
		swept = made
	}
	if pieces != nil {
		either := &ast.ConditionalNode{Cond: metered("pieces", n.Location(), pieces), Exp1: swept, Exp2: n}
		either.SetLocation(n.Location())
		swept = either
	}
	*node = swept
}

// splits tells whether a list is one that split gives. Of a name that is only known
// when it is read: pieces is that name.
func splits(list ast.Node) (pieces *ast.IdentifierNode, ok bool) {
	switch n := list.(type) {
	case *ast.IdentifierNode:
		return &ast.IdentifierNode{Value: n.Value}, true
	case *ast.CallNode:
		if isCall(n, "charge") {
			return splits(n.Arguments[2])
		}
		return nil, isCall(n, "split")
	}
	return nil, false
}

// isCall tells whether a node calls one of inner or functions by its name.
func isCall(n *ast.CallNode, name string) bool {
	callee, ok := n.Callee.(*ast.IdentifierNode)
	return ok && callee.Value == " "+name
}

// pieces tells whether a list is one that split gave.
func pieces(_ meter, args []any) (any, error) {
	_, ok := args[0].([]string)
	return ok, nil
}

// run is the function of the library that the sweep stands for.
func (s *sweep) run(m meter, list []string) any {
	count, found := 0, []any(nil)
	if s.name == "filter" {
		found = []any{}
	}
	p := &piece{meter: m}
	for _, p.text = range list {
		yes := s.asks(p)
		switch {
		case yes && s.name == "any":
			return true
		case yes && s.name == "none", !yes && s.name == "all":
			return false
		case yes && s.name == "filter":
			found = append(found, p.text)
		case yes:
			count++
		}
	}
	switch s.name {
	case "count":
		return count
	case "filter":
		return found
	case "one":
		return count == 1
	}
	return s.name != "any"
}

// sweepOver runs the sweep in its second argument over the list in its first.
func sweepOver(m meter, args []any) (any, error) {
	return args[1].(*sweep).run(m, args[0].([]string)), nil
}

// paying is a payment that breaks off at a place, as a call there does.
func (w sweeping) paying(at file.Location) func(*piece, int) {
	return func(p *piece, units int) {
		if err := p.meter.spend(units); err != nil {
			broken := &file.Error{Location: at, Message: err.Error(), Prev: err}
			panic(broken.Bind(w.source))
		}
	}
}

// truth is a question as a function; nil where a part of it has none.
func (w sweeping) truth(node ast.Node) gives[bool] {
	switch n := node.(type) {
	case *ast.BoolNode:
		return func(*piece) bool { return n.Value }
	case *ast.UnaryNode:
		if of := w.truth(n.Node); of != nil && (n.Operator == "not" || n.Operator == "!") {
			return func(p *piece) bool { return !of(p) }
		}
	case *ast.BinaryNode:
		return w.joined(n)
	case *ast.CallNode:
		switch {
		case isCall(n, "tick"):
			return w.ticked(n)
		case isCall(n, "compare"):
			return w.compared(n)
		case isCall(n, "matches"):
			return w.matched(n)
		}
	}
	return nil
}

func (w sweeping) ticked(n *ast.CallNode) gives[bool] {
	units, of, pay := n.Arguments[1].(*ast.IntegerNode).Value, w.truth(n.Arguments[2]), w.paying(n.Location())
	if of == nil {
		return nil
	}
	return func(p *piece) bool {
		yes := of(p)
		pay(p, units)
		return yes
	}
}

func (w sweeping) joined(n *ast.BinaryNode) gives[bool] {
	switch n.Operator {
	case "and", "&&", "or", "||":
		left, right := w.truth(n.Left), w.truth(n.Right)
		if left == nil || right == nil {
			return nil
		}
		if n.Operator == "and" || n.Operator == "&&" {
			return func(p *piece) bool { return left(p) && right(p) }
		}
		return func(p *piece) bool { return left(p) || right(p) }
	}
	return w.held(textOperators[n.Operator], n.Left, n.Right)
}

// held is one text held against another.
func (w sweeping) held(holds func(a, b string) bool, a, b ast.Node) gives[bool] {
	left, right := w.text(a), w.text(b)
	if holds == nil || left == nil || right == nil {
		return nil
	}
	return func(p *piece) bool {
		text := left(p)
		return holds(text, right(p))
	}
}

var textOperators = map[string]func(a, b string) bool{
	"==": func(a, b string) bool { return a == b }, "!=": func(a, b string) bool { return a != b },
	"contains": strings.Contains, "startsWith": strings.HasPrefix, "endsWith": strings.HasSuffix,
}

func (w sweeping) compared(n *ast.CallNode) gives[bool] {
	operator, ok := n.Arguments[1].(*ast.StringNode)
	left, right := w.whole(n.Arguments[2]), w.whole(n.Arguments[3])
	if !ok {
		return nil
	}
	if left == nil || right == nil {
		return w.held(textOperators[operator.Value], n.Arguments[2], n.Arguments[3])
	}
	switch operator.Value {
	case "==":
		return func(p *piece) bool { return left(p) == right(p) }
	case "!=":
		return func(p *piece) bool { return left(p) != right(p) }
	case "<":
		return func(p *piece) bool { return left(p) < right(p) }
	case "<=":
		return func(p *piece) bool { return left(p) <= right(p) }
	case ">":
		return func(p *piece) bool { return left(p) > right(p) }
	case ">=":
		return func(p *piece) bool { return left(p) >= right(p) }
	}
	return nil
}

func (w sweeping) matched(n *ast.CallNode) gives[bool] {
	constant, ok := n.Arguments[2].(*ast.ConstantNode)
	in, pay := w.text(n.Arguments[1]), w.paying(n.Location())
	if !ok || in == nil {
		return nil
	}
	pattern, ok := constant.Value.(pattern)
	if !ok {
		return nil
	}
	return func(p *piece) bool {
		text := in(p)
		pay(p, pattern.cost(text))
		return pattern.match(text)
	}
}

// whole is a part that gives an integer.
func (w sweeping) whole(node ast.Node) gives[int] {
	switch n := node.(type) {
	case *ast.IntegerNode:
		return func(*piece) int { return n.Value }
	case *ast.BuiltinNode:
		if n.Name == "len" {
			if of := w.text(n.Arguments[0]); of != nil {
				return func(p *piece) int { return utf8.RuneCountInString(of(p)) }
			}
		}
	}
	return nil
}

// text is a part that gives a text.
func (w sweeping) text(node ast.Node) gives[string] {
	switch n := node.(type) {
	case *ast.StringNode:
		return func(*piece) string { return n.Value }
	case *ast.PointerNode:
		if n.Name == "" {
			return func(p *piece) string { return p.text }
		}
	case *ast.BinaryNode:
		if n.Operator == "??" { // a text is there
			return w.text(n.Left)
		}
	case *ast.BuiltinNode:
		change := map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper}[n.Name]
		if change == nil {
			return nil
		}
		if of := w.text(n.Arguments[0]); of != nil {
			return func(p *piece) string { return change(of(p)) }
		}
	case *ast.CallNode:
		return w.called(n)
	}
	return nil
}

// called is a call that pays for a text and gives it on.
func (w sweeping) called(n *ast.CallNode) gives[string] {
	of, pay := w.text(n.Arguments[len(n.Arguments)-1]), w.paying(n.Location())
	if of == nil {
		return nil
	}
	units := func(string) int { return 0 }
	switch {
	case isCall(n, "lone"):
		return of
	case isCall(n, "trim") && len(n.Arguments) == 2:
		return func(p *piece) string {
			text := of(p)
			pay(p, len(text)/int(read))
			return strings.TrimSpace(text)
		}
	case isCall(n, "charge"):
		price := n.Arguments[1].(*ast.IntegerNode).Value
		units = func(text string) int { return weighing(textWeight(text), price) }
	case isCall(n, "skim"):
		price := n.Arguments[1].(*ast.IntegerNode).Value
		units = func(text string) int { return skimming(text, price) }
	default:
		return nil
	}
	return func(p *piece) string {
		text := of(p)
		pay(p, units(text))
		return text
	}
}
