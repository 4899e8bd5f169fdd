package expressions

import (
	"errors"
	"slices"

	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"

	"github.com/seed61713e19/capstan/internal/patterns"
)

// inspection is the result of [inspect] for a tree.
type inspection struct {
	source  []rune
	nodes   int
	output  bool
	content bool
	reads   []string // the phases whose outputs it names
	fields  []Field
	err     *file.Error

	patterns patterns.Group
}

// maxNodes limits the tree during a walk. The parser limits its nodes, but it
// shares the middle of a < b < c, so nested comparisons double.
const maxNodes = 10_000

// inspect rejects functions that an expression may not call.
func inspect(tree *parser.Tree) (f *inspection, err error) {
	f = &inspection{source: []rune(tree.Source.String())}
	defer func() {
		if r := recover(); r != nil {
			f, err = nil, errors.New("the expression is too complex")
		}
	}()
	ast.Walk(&tree.Node, f)
	if f.err != nil {
		return nil, f.err.Bind(tree.Source)
	}
	return f, nil
}

// Visit implements [ast.Visitor].
func (f *inspection) Visit(node *ast.Node) {
	if f.nodes++; f.nodes > maxNodes {
		panic(maxNodes)
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		f.output, f.content = f.output || n.Value == "output", f.content || n.Value == "content"
		if n.Value == "$env" {
			f.refuse(n, "$env is not available in expressions")
		}
	case *ast.MemberNode:
		of, _ := n.Node.(*ast.IdentifierNode)
		if name, ok := n.Property.(*ast.StringNode); ok && of != nil && of.Value == "outputs" {
			f.reads = append(f.reads, name.Value)
		}
		if path := chain(n); path != nil {
			line, column := f.place(n.Property.Location().From)
			f.fields = append(f.fields, Field{path, line, column})
		}
	case *ast.FloatNode:
		if at := n.Location(); at.To <= len(f.source) {
			if text := string(f.source[at.From:at.To]); !written(n.Value, text) {
				f.refuse(n, "the number "+text+` has more digits than a float: write fromJSON("`+text+`")`)
			}
		}
	case *ast.BinaryNode:
		if text, ok := n.Right.(*ast.StringNode); ok && n.Operator == "matches" { // before the type check, which has no limit
			if _, err := f.patterns.Compile(text.Value); errors.Is(err, patterns.ErrLarge) {
				f.refuse(text, err.Error())
			}
		}
	case *ast.BuiltinNode:
		if _, ok := builtins[n.Name]; !ok {
			f.refuse(n, n.Name+" is not available in expressions")
		}
	case *ast.CallNode:
		if _, ok := n.Callee.(*ast.IdentifierNode); !ok {
			f.refuse(n, "only the functions of the language can be called"+insteadOf(n))
		}
	}
}

// chain returns the path of a member, or nil if a part is not a name.
func chain(n ast.Node) []string {
	switch n := n.(type) {
	case *ast.IdentifierNode:
		return []string{n.Value}
	case *ast.ChainNode:
		return chain(n.Node)
	case *ast.MemberNode:
		of := chain(n.Node)
		if name, ok := n.Property.(*ast.StringNode); ok && of != nil && len(of) < maxFieldPath {
			return append(slices.Clip(of), name.Value)
		}
	}
	return nil
}

// maxFieldPath is the maximum number of names in a path.
const maxFieldPath = 20

// place returns the line and the column of a character of the source.
func (f *inspection) place(at int) (line, column int) {
	before := f.source[:min(at, len(f.source))]
	line, column = 1, 1
	for _, r := range before {
		if column++; r == '\n' {
			line, column = line+1, 1
		}
	}
	return line, column
}

func (f *inspection) refuse(node ast.Node, message string) {
	if f.err == nil {
		f.err = &file.Error{Location: node.Location(), Message: message}
	}
}
