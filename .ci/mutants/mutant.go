package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strconv"
	"strings"
)

// A mutant is one fault: a range of bytes in a file and its replacement.
type mutant struct {
	file, function    string
	line              int
	from, to          int
	original, becomes string
	again             int    // the number of equal changes before it in the function
	body, end         int    // the body of the function, with its braces
	results           string // of the function
	number            int    // from 1, among those that are planted together
}

// key returns a name for a mutant that does not depend on its line.
func (m mutant) key() string {
	key := fmt.Sprintf("%s:%s %s => %s", m.file, m.function, short(m.original), short(m.becomes))
	if m.again > 0 {
		key += fmt.Sprintf(" (%d)", m.again+1)
	}
	return key
}

func (m mutant) String() string { return fmt.Sprintf("%d  %s", m.line, m.key()) }

// in reports whether the mutant is at FILE or FILE:FUNCTION. Only the base name
// of the file counts.
func (m mutant) in(place string) bool {
	file, function, of := strings.Cut(place, ":")
	return (m.file == file || strings.HasSuffix(m.file, "/"+file)) && (!of || m.function == function)
}

func short(text string) string {
	text = strings.Join(strings.Fields(text), " ")
	if text == "" {
		return "nothing"
	}
	if len(text) > 90 {
		return text[:60] + " … " + text[len(text)-25:]
	}
	return text
}

// mutantsIn returns all possible faults in a file.
func mutantsIn(file string) ([]mutant, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, file, text, 0)
	if err != nil {
		return nil, err
	}
	var all []mutant
	for _, d := range tree.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || f.Body == nil {
			continue
		}
		s := surgeon{set: set, text: text, file: file, of: f, seen: map[string]int{}}
		ast.Inspect(f.Body, s.visit)
		all = append(all, s.found...)
	}
	return all, nil
}

// A surgeon collects the mutants of one function.
type surgeon struct {
	set     *token.FileSet
	text    []byte
	file    string
	of      *ast.FuncDecl
	found   []mutant
	seen    map[string]int
	decided ast.Expr // the whole condition of the current if statement
}

// becomes adds a mutant that replaces a range by a text.
func (s *surgeon) becomes(from, to token.Pos, text string) {
	a, b := s.set.Position(from), s.set.Position(to)
	m := mutant{file: s.file, function: s.of.Name.Name, line: a.Line, from: a.Offset, to: b.Offset,
		original: string(s.text[a.Offset:b.Offset]), becomes: text,
		body: s.set.Position(s.of.Body.Pos()).Offset, end: s.set.Position(s.of.Body.End()).Offset}
	if s.of.Type.Results != nil {
		m.results = s.source(s.of.Type.Results)
	}
	first := m.key()
	m.again = s.seen[first]
	s.seen[first]++
	s.found = append(s.found, m)
}

func (s *surgeon) source(n ast.Node) string {
	return string(s.text[s.set.Position(n.Pos()).Offset:s.set.Position(n.End()).Offset])
}

// turned lists pairs of operators that are often confused.
var turned = map[token.Token]string{
	token.EQL: "!=", token.NEQ: "==", token.LSS: "<=", token.LEQ: "<", token.GTR: ">=", token.GEQ: ">",
	token.LAND: "||", token.LOR: "&&", token.ADD: "-", token.SUB: "+", token.MUL: "/", token.QUO: "*",
}

func (s *surgeon) visit(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.CallExpr:
		if !s.hints(n) {
			return true
		}
		for _, arg := range n.Args[:len(n.Args)-1] {
			ast.Inspect(arg, s.visit)
		}
		return false
	case *ast.IfStmt:
		s.condition(n.Cond)
		s.decided = ast.Unparen(n.Cond)
	case *ast.ForStmt:
		if n.Cond != nil {
			s.becomes(n.Cond.Pos(), n.Cond.End(), "("+s.source(n.Cond)+") && false")
		}
	case *ast.BinaryExpr:
		if with, ok := turned[n.Op]; ok && !s.redundant(n) {
			s.whole(n, s.source(n.X)+" "+with+" "+s.source(n.Y))
		}
	case *ast.UnaryExpr:
		if n.Op == token.NOT {
			s.whole(n, s.source(n.X))
		}
	case *ast.ExprStmt, *ast.IncDecStmt, *ast.DeferStmt, *ast.SendStmt:
		s.whole(n, "")
	case *ast.AssignStmt:
		if n.Tok != token.DEFINE {
			s.whole(n, "")
		}
	case *ast.BranchStmt:
		s.branch(n)
	case *ast.ReturnStmt:
		s.result(n)
	case *ast.CompositeLit:
		s.fields(n)
	case *ast.BasicLit:
		if i, err := strconv.Atoi(n.Value); err == nil && n.Kind == token.INT {
			s.whole(n, strconv.Itoa(i+1))
		}
	case *ast.Ident:
		switch n.Name {
		case "true":
			s.whole(n, "false")
		case "false":
			s.whole(n, "true")
		}
	}
	return true
}

// hints reports whether the last argument is only a capacity, which does not
// change the behaviour.
func (s *surgeon) hints(n *ast.CallExpr) bool {
	name := s.source(n.Fun)
	if name != "make" || len(n.Args) < 2 {
		return name == "slices.Grow"
	}
	_, isMap := n.Args[0].(*ast.MapType)
	return isMap || len(n.Args) == 3
}

// redundant reports whether a changed operator repeats another fault or does
// not compile: an equation that is the whole condition, or a concatenation of
// texts.
func (s *surgeon) redundant(n *ast.BinaryExpr) bool {
	switch n.Op {
	case token.EQL, token.NEQ:
		return s.decided == ast.Expr(n)
	case token.ADD:
		return strings.Contains(s.source(n), `"`)
	}
	return false
}

func (s *surgeon) whole(n ast.Node, text string) { s.becomes(n.Pos(), n.End(), text) }

// condition makes a condition always false, or always true.
func (s *surgeon) condition(c ast.Expr) {
	s.whole(c, "("+s.source(c)+") && false")
	s.whole(c, "("+s.source(c)+") || true")
}

func (s *surgeon) branch(n *ast.BranchStmt) {
	switch {
	case n.Tok == token.BREAK && n.Label == nil:
		s.whole(n, "continue")
	case n.Tok == token.CONTINUE && n.Label == nil:
		s.whole(n, "break")
	}
}

// result drops the returned error.
func (s *surgeon) result(n *ast.ReturnStmt) {
	if len(n.Results) == 0 {
		return
	}
	last := n.Results[len(n.Results)-1]
	text := s.source(last)
	if text == "err" || strings.HasPrefix(text, "fmt.Errorf(") || strings.HasPrefix(text, "errors.") {
		s.whole(last, "nil")
	}
}

// fields removes a field with its comma.
func (s *surgeon) fields(n *ast.CompositeLit) {
	for i, e := range n.Elts {
		kv, ok := e.(*ast.KeyValueExpr)
		if !ok {
			return
		}
		if _, ok := kv.Key.(*ast.Ident); !ok {
			return
		}
		from, to := kv.Pos(), kv.End()
		switch {
		case s.text[s.set.Position(to).Offset] == ',':
			to++
		case i > 0:
			from = n.Elts[i-1].End()
		}
		s.becomes(from, to, "")
	}
}
