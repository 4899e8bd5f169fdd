package expressions

import (
	"reflect"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
)

// A sweep asks one question of each piece of a text that was split. The library's
// machine takes some 500 ns for a piece, most of it in making arguments for calls
// that pay; so where a question is made of plain parts alone it is made a Go
// function, out of the tree that pays: what is paid, when, and where it breaks off
// stay the tree's.
type sweep struct {
	name  string // of the library's function whose place it takes
	split bool   // what it looks at surely is
	asks  gives[bool]
	given []reflect.Type // what the values that it asks with have to be
}

// A piece is what a sweep looks at.
type piece struct {
	meter meter
	text  string
	given []any // what is the same for every piece, see [asking]
}

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
	q := &asking{source: w.source}
	asks := q.truth(asked.Node)
	if asks == nil {
		return
	}
	at, given := n.Location(), q.given
	made := &ast.ConstantNode{Value: &sweep{n.Name, pieces == nil, asks, q.kinds}}
	var swept ast.Node = metered("sweep "+n.Name, at, append([]ast.Node{n.Arguments[0], made}, given...)...)
	if n.Name == "filter" { // the library counts what a list takes where it makes one
		listed := &ast.BuiltinNode{Name: "map", Arguments: []ast.Node{swept, &ast.PredicateNode{Node: &ast.PointerNode{}}}}
		listed.SetLocation(at)
		swept = listed
	}
	list := ast.Node(&ast.NilNode{})
	if pieces != nil {
		list = pieces
	}
	if pieces != nil || len(given) > 0 {
		suited := metered("suits", at, append([]ast.Node{list, made}, given...)...)
		either := &ast.ConditionalNode{Cond: suited, Exp1: swept, Exp2: n}
		either.SetLocation(at)
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

// suits tells whether the sweep in its second argument can look at the list in its
// first, and ask with the values behind it.
func suits(_ meter, args []any) (any, error) {
	s := args[1].(*sweep)
	if _, ok := args[0].([]string); !ok && !s.split {
		return false, nil
	}
	for i, kind := range s.given {
		if reflect.TypeOf(args[2+i]) != kind {
			return false, nil
		}
	}
	return true, nil
}

// run is the function of the library that the sweep stands for.
func (s *sweep) run(m meter, list []string, given []any) any {
	count, found := 0, []any(nil)
	if s.name == "filter" {
		found = []any{}
	}
	p := &piece{meter: m, given: given}
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

// sweepOver runs the sweep in its second argument over the list in its first, with
// the values behind it.
func sweepOver(m meter, args []any) (any, error) {
	given := slices.Clone(args[2:])
	for i := range given {
		if list, ok := given[i].([]any); ok {
			given[i] = &lookup{list: list}
		}
	}
	return args[1].(*sweep).run(m, args[0].([]string), given), nil
}
