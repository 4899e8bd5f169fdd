package runner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestPatterns checks that each pattern of internal/patterns compiles, and is
// not compiled before its first use.
func TestPatterns(t *testing.T) {
	folders := map[string][]*ast.File{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && strings.HasPrefix(d.Name(), ".") && name != ".." {
			return fs.SkipDir // tools, which are not part of the program
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		folders[filepath.Dir(name)] = append(folders[filepath.Dir(name)], file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, folder := range slices.Sorted(maps.Keys(folders)) {
		named := constants(folders[folder])
		for _, file := range folders[folder] {
			for _, d := range file.Decls {
				variables, ok := d.(*ast.GenDecl)
				if !ok || variables.Tok != token.VAR {
					continue
				}
				for call := range calls(variables) {
					expr, known := text(call.Args, named)
					switch name := callee(call); {
					case name == "regexp.MustCompile" && !strings.HasSuffix(folder, "test"):
						t.Errorf("%s: %.60s is compiled in every process: patterns.Lazy", folder, expr)
					case name != "patterns.Lazy" && name != "patterns.Sought":
					case !known:
						t.Errorf("%s: a pattern is not made of constants alone", folder)
					default:
						count++
						if _, err := regexp.Compile(expr); err != nil {
							t.Errorf("%s: %v", folder, err)
						}
					}
				}
			}
		}
	}
	if count < 80 {
		t.Errorf("%d patterns were found: are they still written so?", count)
	}
}

// calls returns the calls that run before main, without those in functions.
func calls(n ast.Node) func(func(*ast.CallExpr) bool) {
	return func(yield func(*ast.CallExpr) bool) {
		ast.Inspect(n, func(n ast.Node) bool {
			if call, ok := n.(*ast.CallExpr); ok {
				return yield(call)
			}
			_, deferred := n.(*ast.FuncLit)
			return !deferred
		})
	}
}

func callee(c *ast.CallExpr) string {
	if s, ok := c.Fun.(*ast.SelectorExpr); ok {
		if x, ok := s.X.(*ast.Ident); ok {
			return x.Name + "." + s.Sel.Name
		}
	}
	return ""
}

// constants returns the string constants of a package by name.
func constants(files []*ast.File) map[string]ast.Expr {
	named := map[string]ast.Expr{}
	for _, file := range files {
		for _, d := range file.Decls {
			if g, ok := d.(*ast.GenDecl); ok && g.Tok == token.CONST {
				for _, s := range g.Specs {
					for i, v := range s.(*ast.ValueSpec).Values {
						named[s.(*ast.ValueSpec).Names[i].Name] = v
					}
				}
			}
		}
	}
	return named
}

// text returns the constant argument of a call.
func text(args []ast.Expr, named map[string]ast.Expr) (string, bool) {
	if len(args) != 1 {
		return "", false
	}
	switch x := args[0].(type) {
	case *ast.BasicLit:
		s, err := strconv.Unquote(x.Value)
		return s, err == nil
	case *ast.Ident:
		return text([]ast.Expr{named[x.Name]}, named)
	case *ast.BinaryExpr:
		a, first := text([]ast.Expr{x.X}, named)
		b, second := text([]ast.Expr{x.Y}, named)
		return a + b, first && second
	}
	return "", false
}
