package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// step is one item of a walk: its file and its function.
var step = regexp.MustCompile("(?m)^\\d+\\. `([^`]+)`, `([^`]+)`")

// The walks in CONTRIBUTING.md name at most eight functions each, and every function exists.
func TestWalks(t *testing.T) {
	page, err := os.ReadFile("../../CONTRIBUTING.md")
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(page), "\n## Three walks\n")
	section, _, _ = strings.Cut(section, "\n## ")
	walks := strings.Split(section, "\n### ")[1:]
	if len(walks) != 3 {
		t.Errorf("%d walks, not 3", len(walks))
	}
	for _, walk := range walks {
		title, _, _ := strings.Cut(walk, "\n")
		steps := step.FindAllStringSubmatch(walk, -1)
		if len(steps) < 2 || len(steps) > 8 {
			t.Errorf("%s: %d functions, not 2 to 8", title, len(steps))
		}
		for _, s := range steps {
			if !declares(t, s[1], s[2]) {
				t.Errorf("%s: %s declares no %s", title, s[1], s[2])
			}
		}
	}
}

// declares reports whether a file of the repository declares a function, or a method that is
// written as Type.Name.
func declares(t *testing.T, file, name string) bool {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join("../..", file), nil, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return true
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok {
			continue
		}
		full := f.Name.Name
		if f.Recv != nil {
			full = receiver(f.Recv.List[0].Type) + "." + full
		}
		if full == name {
			return true
		}
	}
	return false
}

// receiver returns the name of a receiver's type without pointer and type parameters.
func receiver(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	case *ast.Ident:
		return e.Name
	}
	return ""
}
