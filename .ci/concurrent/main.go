// Concurrent prints the packages in which something can run at the same time: those
// that start goroutines, in their tests too, and those that import one of ours which
// does. In others the race detector has nothing to find: what they share they are
// asked for by these, whose tests look into them too.
//
//	go run ./.ci/concurrent         all
//	go run ./.ci/concurrent COMMIT  those that differ from it, or use what does
//
// A goroutine is started by a go statement, by a method that is called Go, by timers
// and contexts (AfterFunc), by parallel tests, and by servers.
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

// starters are functions and methods of others that start goroutines.
var starters = []string{
	"Go", "AfterFunc", "Parallel", "RunParallel",
	"NewServer", "NewTLSServer", "NewUnstartedServer", "Serve", "ListenAndServe",
}

// A listed package is what go list says of one.
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
	starts := map[string]bool{} // in the code, not the tests
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

// starts tells whether one of the files starts a goroutine.
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

// uses are the package and all that it and its tests import, and what that imports.
func (p listed) uses(all []listed) []string {
	paths := append(slices.Concat(p.Deps, p.TestImports, p.XTestImports), p.ImportPath)
	for _, q := range all {
		if slices.Contains(p.TestImports, q.ImportPath) || slices.Contains(p.XTestImports, q.ImportPath) {
			paths = append(paths, q.Deps...)
		}
	}
	return paths
}

// A difference is which packages are not as in a commit: in what others get of them,
// or in their tests alone.
type difference struct {
	all         bool
	code, tests map[string]bool
}

// since is the difference from a commit. A file is of the package in the nearest
// folder above it; go.mod is of all.
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
	of := map[string]string{} // packages by their folders
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
		case of[folder] == "": // no package's
		case strings.HasSuffix(file, "_test.go"):
			d.tests[of[folder]] = true
		default:
			d.code[of[folder]] = true
		}
	}
	return d, nil
}
