package runner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// maxExports is the maximum number of exported functions, types, variables, constants and
// methods of all public packages of the module.
const maxExports = 860

// TestSurface checks that the page about Go lists exactly the packages that other modules
// can import, and counts what these export. A package that only this repository needs is
// below a folder internal.
func TestSurface(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/go.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(page), "\n## Packages\n")
	table, _, _ = strings.Cut(table, "\n## ")
	listed := regexp.MustCompile("`([a-z/]+)`").FindAllStringSubmatch(table, -1)
	exports := exportsByPackage(t)
	total := 0
	for name, n := range exports {
		total += n
		if !slices.ContainsFunc(listed, func(cell []string) bool { return cell[1] == name }) {
			t.Errorf("%s is public: move it below internal, or list it in docs/reference/go.md", name)
		}
	}
	for _, cell := range listed {
		if _, public := exports[cell[1]]; !public && cell[1] != "runner/temporal" { // a module of its own
			t.Errorf("docs/reference/go.md lists %s, which is no public package", cell[1])
		}
	}
	if total > maxExports {
		t.Errorf("the public packages export %d names, more than %d", total, maxExports)
	}
}

// exportsByPackage returns the number of exported names of each public package.
func exportsByPackage(t *testing.T) map[string]int {
	exports := map[string]int{}
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() && name != ".." && (otherModule(name) || slices.Contains([]string{"internal", "testdata", ".ci", ".git"}, d.Name())) {
			return fs.SkipDir
		}
		if err != nil || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return err
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.SkipObjectResolution)
		if err != nil || f.Name.Name == "main" {
			return err
		}
		folder := strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../")
		for _, declared := range f.Decls {
			exports[folder] += countExports(declared)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return exports
}

// countExports returns the number of exported names in a declaration. A method counts if
// its type is exported too.
func countExports(d ast.Decl) (n int) {
	count := func(names ...*ast.Ident) {
		for _, name := range names {
			if name.IsExported() {
				n++
			}
		}
	}
	switch d := d.(type) {
	case *ast.FuncDecl:
		if d.Recv == nil || receiver(d.Recv.List[0].Type).IsExported() {
			count(d.Name)
		}
	case *ast.GenDecl:
		for _, spec := range d.Specs {
			switch spec := spec.(type) {
			case *ast.TypeSpec:
				count(spec.Name)
			case *ast.ValueSpec:
				count(spec.Names...)
			}
		}
	}
	return n
}

// receiver returns the name of a method's type.
func receiver(e ast.Expr) *ast.Ident {
	switch e := e.(type) {
	case *ast.StarExpr:
		return receiver(e.X)
	case *ast.IndexExpr:
		return receiver(e.X)
	default:
		return e.(*ast.Ident)
	}
}
