// Concurrent lists the packages that may be concurrent: packages that start
// goroutines, in their code or their tests, and packages that import such a
// package of the module. In other packages, the race detector cannot find
// races.
//
//	go run ./.ci/concurrent         all
//	go run ./.ci/concurrent COMMIT  those that differ from it, or import a package that does
//
// A goroutine is started by a go statement, a method named Go, timers and
// contexts (AfterFunc), parallel tests, and servers.
package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// starters are functions and methods of other modules that start goroutines.
var starters = []string{
	"Go", "AfterFunc", "Parallel", "RunParallel",
	"NewServer", "NewTLSServer", "NewUnstartedServer", "Serve", "ListenAndServe",
}

// A listed package is an element of the output of go list.
type listed struct {
	ImportPath, Dir                    string
	GoFiles, TestGoFiles, XTestGoFiles []string
	Imports, TestImports, XTestImports []string
	Deps                               []string
}

func main() {
	all, err := list()
	if err != nil {
		fail(err)
	}
	found, err := concurrent(all)
	if err != nil {
		fail(err)
	}
	differs := difference{all: true}
	if len(os.Args) > 1 {
		if differs, err = since(os.Args[1], all); err != nil {
			fail(err)
		}
	}
	for _, p := range found {
		if differs.all || differs.tests[p.ImportPath] || slices.ContainsFunc(p.uses(all), func(path string) bool { return differs.code[path] }) {
			fmt.Println(p.ImportPath)
		}
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "concurrent:", err)
	os.Exit(2)
}

func concurrent(all []listed) (found []listed, err error) {
	starts := map[string]bool{} // in the code, without the tests
	for _, p := range all {
		if starts[p.ImportPath], err = p.starts(p.GoFiles); err != nil {
			return nil, err
		}
	}
	for _, p := range all {
		tests, err := p.starts(slices.Concat(p.TestGoFiles, p.XTestGoFiles))
		if err != nil {
			return nil, err
		}
		used := slices.Concat(p.Imports, p.TestImports, p.XTestImports, []string{p.ImportPath})
		if tests || slices.ContainsFunc(used, func(path string) bool { return starts[path] }) {
			found = append(found, p)
		}
	}
	return found, nil
}

func list() (all []listed, err error) {
	format := "{{.ImportPath}}\t{{.Dir}}"
	for _, name := range []string{"GoFiles", "TestGoFiles", "XTestGoFiles", "Imports", "TestImports", "XTestImports", "Deps"} {
		format += "\t{{join ." + name + ` " "}}`
	}
	text, err := exec.Command("go", "list", "-f", format, "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for line := range strings.Lines(string(text)) {
		values := strings.Split(strings.TrimSuffix(line, "\n"), "\t")
		p := listed{ImportPath: values[0], Dir: values[1]}
		for i, into := range []*[]string{&p.GoFiles, &p.TestGoFiles, &p.XTestGoFiles, &p.Imports, &p.TestImports, &p.XTestImports, &p.Deps} {
			*into = strings.Fields(values[2+i])
		}
		all = append(all, p)
	}
	return all, nil
}

// starts reports whether one of the files starts a goroutine.
func (p listed) starts(files []string) (found bool, err error) {
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			return false, err
		}
		ast.Inspect(file, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.GoStmt:
				found = true
			case *ast.SelectorExpr:
				found = found || slices.Contains(starters, n.Sel.Name)
			}
			return !found
		})
	}
	return found, nil
}

// uses returns the package and all packages that it and its tests import,
// directly or not.
func (p listed) uses(all []listed) []string {
	paths := append(slices.Concat(p.Deps, p.TestImports, p.XTestImports), p.ImportPath)
	for _, q := range all {
		if slices.Contains(p.TestImports, q.ImportPath) || slices.Contains(p.XTestImports, q.ImportPath) {
			paths = append(paths, q.Deps...)
		}
	}
	return paths
}

// A difference is a set of packages that differ from a commit. The difference
// may be in tests only.
type difference struct {
	all         bool
	code, tests map[string]bool
}

// since returns the difference from a commit. A file belongs to the package in
// the nearest folder above it; go.mod affects all.
func since(commit string, all []listed) (d difference, err error) {
	changed, err := exec.Command("git", "diff", "--name-only", "--no-renames", commit).Output()
	if err != nil {
		return d, fmt.Errorf("git diff %s: %w", commit, err)
	}
	added, err := exec.Command("git", "ls-files", "--others", "--exclude-standard").Output()
	if err != nil {
		return d, fmt.Errorf("git ls-files: %w", err)
	}
	root, err := os.Getwd()
	if err != nil {
		return d, err
	}
	of := map[string]string{} // packages by folder
	for _, p := range all {
		of[p.Dir] = p.ImportPath
	}
	d = difference{code: map[string]bool{}, tests: map[string]bool{}}
	for _, file := range strings.Fields(string(changed) + string(added)) {
		folder := filepath.Dir(filepath.Join(root, file))
		for of[folder] == "" && len(folder) > len(root) {
			folder = filepath.Dir(folder)
		}
		switch {
		case file == "go.mod":
			d.all = true
		case of[folder] == "": // belongs to no package
		case strings.HasSuffix(file, "_test.go"):
			d.tests[of[folder]] = true
		default:
			d.code[of[folder]] = true
		}
	}
	return d, nil
}
