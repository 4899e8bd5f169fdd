package expressions

import (
	"math"
	"reflect"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/vm/runtime"
)

// The library slices a text by bytes, but its len counts characters. This package uses characters
// everywhere: text[a:b], text[i], indexOf and lastIndexOf agree with len.

// sliced replaces a slice of a value that may be a text by a slice by
// characters. The value is evaluated first, because a chain that ends at a nil
// leaves only the nil on the stack.
func sliced(node *ast.Node, n *ast.SliceNode) {
	n.From, n.To = position(n.From), position(n.To)
	if !mayBeText(n.Node) {
		return
	}
	from, to := n.From, n.To
	if from == nil {
		from = &ast.IntegerNode{}
	}
	if to == nil {
		to = &ast.IntegerNode{Value: math.MaxInt}
	}
	replaced(node, "slice", n.Node, from, to)
}

// indexed replaces an index of a value that may be a text by an index by
// characters. Names are fields and stay unchanged.
func indexed(node *ast.Node, n *ast.MemberNode) {
	n.Property = position(n.Property)
	if _, named := n.Property.(*ast.StringNode); !named && !n.Optional && n.Node.Type().Kind() == reflect.Interface {
		replaced(node, "at", n.Node, n.Property)
	}
}

// position wraps a node whose value is an index or an end of a slice or range.
// Without it, the library would cut off a fraction.
func position(node ast.Node) ast.Node {
	switch node.(type) {
	case nil, *ast.IntegerNode, *ast.StringNode:
		return node
	}
	return metered("position", node.Location(), node)
}

func mayBeText(node ast.Node) bool {
	k := node.Type().Kind()
	return k == reflect.String || k == reflect.Interface
}

func replaced(node *ast.Node, name string, arguments ...ast.Node) {
	call := &ast.CallNode{Callee: &ast.IdentifierNode{Value: " " + name}, Arguments: append(arguments, &ast.IdentifierNode{Value: " meter"})}
	call.SetLocation((*node).Location())
	*node = call
}

func slice(args ...any) (any, error) {
	text, ok := args[0].(string)
	if !ok {
		return runtime.Slice(args[0], args[1], args[2]), nil
	}
	m, from, to := args[3].(meter), runtime.ToInt(args[1]), runtime.ToInt(args[2])
	if err := m.spend(1 + (reach(text, from)+reach(text, to))/int(read)); err != nil {
		return nil, err
	}
	end := place(text, to)
	return text[min(place(text, from), end):end], nil
}

func element(args ...any) (any, error) {
	text, ok := args[0].(string)
	if !ok {
		return runtime.Fetch(args[0], args[1]), nil
	}
	m, i := args[2].(meter), runtime.ToInt(args[1])
	if err := m.spend(1 + reach(text, i)/int(read)); err != nil {
		return nil, err
	}
	from := place(text, i)
	if from == len(text) || i < 0 && from == 0 && utf8.RuneCountInString(text) < -i {
		return runtime.Fetch([]any{}, i), nil // it reports an index out of range
	}
	_, size := utf8.DecodeRuneInString(text[from:])
	return text[from : from+size], nil
}

// reach returns the maximum number of bytes that are read to find a character.
func reach(text string, n int) int {
	if n < 0 {
		n = -max(n, -len(text))
	}
	return min(len(text), utf8.UTFMax*min(n, len(text)))
}

// place returns the byte position of the n-th character of a text. A negative n counts from the
// end.
func place(text string, n int) int {
	if n < 0 {
		at := len(text)
		for ; n < 0 && at > 0; n++ {
			_, size := utf8.DecodeLastRuneInString(text[:at])
			at -= size
		}
		return at
	}
	at := 0
	for ; n > 0 && at < len(text); n-- {
		_, size := utf8.DecodeRuneInString(text[at:])
		at += size
	}
	return at
}

// indexOf and lastIndexOf return the position of a text in characters, or -1.
func indexOf(m meter, args []any) (any, error)     { return sought(m, args, strings.Index) }
func lastIndexOf(m meter, args []any) (any, error) { return sought(m, args, strings.LastIndex) }

func sought(m meter, args []any, find func(text, part string) int) (any, error) {
	t, err := texts(args, 2)
	if err != nil {
		return nil, err
	}
	if err := m.spend(2 + (2*len(t[0])+len(t[1]))/int(read)); err != nil {
		return nil, err
	}
	at := find(t[0], t[1])
	if at < 0 {
		return at, nil
	}
	return utf8.RuneCountInString(t[0][:at]), nil
}
