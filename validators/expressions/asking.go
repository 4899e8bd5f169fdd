package expressions

import (
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"

	"github.com/seed61713e19/capstan/validators/patterns"
)

// An asking is what a sweep asks, while it is made of the tree. Values that are
// the same for every piece, an input or a list of texts, are made once, before:
// nothing can break off there. What they have to be is seen then.
type asking struct {
	source file.Source
	given  []ast.Node
	kinds  []reflect.Type
}

// gives is a part of a question: what it gives for a piece.
type gives[T bool | string | int] func(*piece) T

// shared gives the place of a part that is the same for every piece, and has to be of
// a type; -1 for any other.
func (q *asking) shared(node ast.Node, kind reflect.Type) (at int) {
	switch n := node.(type) {
	case *ast.IdentifierNode:
	case *ast.MemberNode: // of a map, that has the name or has not
		of, ok := n.Node.(*ast.IdentifierNode)
		if _, named := n.Property.(*ast.StringNode); !ok || !named || of.Type().Kind() != reflect.Map {
			return -1
		}
	case *ast.ArrayNode: // made here: the library counts the lists that it makes
		list := make([]any, len(n.Nodes))
		for i, element := range n.Nodes {
			text, ok := element.(*ast.StringNode)
			if !ok {
				return -1
			}
			list[i] = text.Value
		}
		node = &ast.ConstantNode{Value: list}
	default:
		return -1
	}
	q.given, q.kinds = append(q.given, node), append(q.kinds, kind)
	return len(q.given) - 1
}

// given is a part that is the same for every piece, nil for any other.
func given[T string | int](q *asking, node ast.Node) gives[T] {
	at := q.shared(node, reflect.TypeFor[T]())
	if at < 0 {
		return nil
	}
	return func(p *piece) T { return p.given[at].(T) }
}

// A lookup is a list that texts are looked up in. It is weighed, and made ready,
// where it is first asked for: each is paid for there.
type lookup struct {
	list  []any
	units int      // what it costs to go through it, 0 before
	few   []string // its texts, where they are no more than fewTexts
	has   map[string]bool
}

// fewTexts are compared one by one, which is less than to hash what is looked up.
const fewTexts = 8

func (l *lookup) ready() {
	var texts []string
	for _, v := range l.list {
		if text, ok := v.(string); ok { // nothing else is the same as a text
			texts = append(texts, text)
		}
	}
	if len(texts) <= fewTexts {
		l.few = texts
		return
	}
	l.has = make(map[string]bool, len(texts))
	for _, text := range texts {
		l.has[text] = true
	}
}

func (l *lookup) holds(text string) bool {
	if l.has != nil {
		return l.has[text]
	}
	return slices.Contains(l.few, text)
}

// breaking breaks off at a place, as a call there does that has an error.
func (q *asking) breaking(at file.Location) func(error) {
	return func(err error) {
		broken := &file.Error{Location: at, Message: err.Error(), Prev: err}
		panic(broken.Bind(q.source))
	}
}

// A payment is made at a place, and breaks off there where too much was spent.
type payment struct{ breaking func(error) }

func (q *asking) paying(at file.Location) payment { return payment{q.breaking(at)} }

func (y payment) pay(p *piece, units int) {
	if err := p.meter.spend(units); err != nil {
		y.breaking(err)
	}
}

// truth is a question as a function; nil where a part of it has none.
func (q *asking) truth(node ast.Node) gives[bool] {
	switch n := node.(type) {
	case *ast.BoolNode:
		return func(*piece) bool { return n.Value }
	case *ast.UnaryNode:
		if of := q.truth(n.Node); of != nil && (n.Operator == "not" || n.Operator == "!") {
			return func(p *piece) bool { return !of(p) }
		}
	case *ast.BinaryNode:
		return q.joined(n)
	case *ast.CallNode:
		switch {
		case isCall(n, "tick"):
			return q.ticked(n)
		case isCall(n, "compare"):
			return q.compared(n)
		case isCall(n, "matches"):
			return q.matched(n)
		}
	}
	return nil
}

func (q *asking) ticked(n *ast.CallNode) gives[bool] {
	units, of, due := n.Arguments[1].(*ast.IntegerNode).Value, q.truth(n.Arguments[2]), q.paying(n.Location())
	if of == nil {
		return nil
	}
	return func(p *piece) bool {
		yes := of(p)
		due.pay(p, units)
		return yes
	}
}

func (q *asking) joined(n *ast.BinaryNode) gives[bool] {
	switch n.Operator {
	case "and", "&&", "or", "||":
		left, right := q.truth(n.Left), q.truth(n.Right)
		if left == nil || right == nil {
			return nil
		}
		if n.Operator == "and" || n.Operator == "&&" {
			return func(p *piece) bool { return left(p) && right(p) }
		}
		return func(p *piece) bool { return left(p) || right(p) }
	}
	return q.held(textOperators[n.Operator], n.Left, n.Right)
}

// held is one text held against another.
func (q *asking) held(holds func(a, b string) bool, a, b ast.Node) gives[bool] {
	left, right := q.text(a), q.text(b)
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

func (q *asking) compared(n *ast.CallNode) gives[bool] {
	operator, ok := n.Arguments[1].(*ast.StringNode)
	if !ok {
		return nil
	}
	if operator.Value == "in" {
		return q.listed(n)
	}
	before := len(q.given)
	left, right := q.whole(n.Arguments[2]), q.whole(n.Arguments[3])
	if left == nil || right == nil {
		q.given, q.kinds = q.given[:before], q.kinds[:before]
		return q.held(textOperators[operator.Value], n.Arguments[2], n.Arguments[3])
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

// listed is a text looked up in a list.
func (q *asking) listed(n *ast.CallNode) gives[bool] {
	probed, ok := n.Arguments[3].(*ast.CallNode)
	if !ok || !isCall(probed, "probe") {
		return nil
	}
	text, at := q.text(n.Arguments[2]), q.shared(probed.Arguments[2], reflect.TypeFor[[]any]())
	if text == nil || at < 0 {
		return nil
	}
	price, due := probed.Arguments[1].(*ast.IntegerNode).Value, q.paying(probed.Location())
	return func(p *piece) bool {
		item, l := text(p), p.given[at].(*lookup)
		if l.units == 0 {
			bytes, err := weight(l.list, p.meter.left*price, 0)
			if err != nil {
				due.breaking(err)
			}
			l.units = weighing(bytes, price)
			l.ready()
		}
		due.pay(p, l.units)
		return l.holds(item)
	}
}

func (q *asking) matched(n *ast.CallNode) gives[bool] {
	constant, ok := n.Arguments[2].(*ast.ConstantNode)
	in, due := q.text(n.Arguments[1]), q.paying(n.Location())
	if !ok || in == nil {
		return nil
	}
	pattern, ok := constant.Value.(patterns.Pattern)
	if !ok {
		return nil
	}
	return func(p *piece) bool {
		yes, err := pattern.MatchWithin(p.meter, in(p))
		if err != nil {
			due.breaking(err)
		}
		return yes
	}
}

// whole is a part that gives an integer.
func (q *asking) whole(node ast.Node) gives[int] {
	switch n := node.(type) {
	case *ast.IntegerNode:
		return func(*piece) int { return n.Value }
	case *ast.IdentifierNode, *ast.MemberNode:
		return given[int](q, n)
	case *ast.BuiltinNode:
		if n.Name == "len" {
			if of := q.text(n.Arguments[0]); of != nil {
				return func(p *piece) int { return utf8.RuneCountInString(of(p)) }
			}
		}
	}
	return nil
}

// text is a part that gives a text.
func (q *asking) text(node ast.Node) gives[string] {
	switch n := node.(type) {
	case *ast.StringNode:
		return func(*piece) string { return n.Value }
	case *ast.IdentifierNode, *ast.MemberNode:
		return given[string](q, n)
	case *ast.PointerNode:
		if n.Name == "" {
			return func(p *piece) string { return p.text }
		}
	case *ast.BinaryNode:
		if n.Operator == "??" { // a text is there
			return q.text(n.Left)
		}
	case *ast.BuiltinNode:
		change := map[string]func(string) string{"lower": strings.ToLower, "upper": strings.ToUpper}[n.Name]
		if change == nil {
			return nil
		}
		if of := q.text(n.Arguments[0]); of != nil {
			return func(p *piece) string { return change(of(p)) }
		}
	case *ast.CallNode:
		return q.called(n)
	}
	return nil
}

// called is a call that pays for a text and gives it on.
func (q *asking) called(n *ast.CallNode) gives[string] {
	of, due := q.text(n.Arguments[len(n.Arguments)-1]), q.paying(n.Location())
	if of == nil {
		return nil
	}
	switch {
	case isCall(n, "lone"):
		return of
	case isCall(n, "trim") && len(n.Arguments) == 2:
		return func(p *piece) string {
			text := of(p)
			due.pay(p, len(text)/int(read))
			return strings.TrimSpace(text)
		}
	case isCall(n, "charge"), isCall(n, "skim"):
		own := 0 // what charge pays for beside the text, and skim does not
		if isCall(n, "charge") {
			own = textWeight("")
		}
		// A division would take a tenth of what is done for a piece.
		shift := bits.TrailingZeros(uint(n.Arguments[1].(*ast.IntegerNode).Value))
		return func(p *piece) string {
			text := of(p)
			due.pay(p, 1+(own+len(text))>>shift)
			return text
		}
	}
	return nil
}
