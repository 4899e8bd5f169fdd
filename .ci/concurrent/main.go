// Concurrent prints the packages in which something can run at the same time: those
// that start goroutines, in their tests too, and those that import one of ours which
// does. In others the race detector has nothing to find: what they share they are
// asked for by these, whose tests look into them too.
//
//	go run ./.ci/concurrent
//
// A goroutine is started by a go statement, by a method that is called Go, by timers
// and contexts (AfterFunc), by parallel tests, and by servers.
package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
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
}

func main() {
	found, err := concurrent()
	if err != nil {
		fmt.Fprintln(os.Stderr, "concurrent:", err)
		os.Exit(2)
	}
	for _, path := range found {
		fmt.Println(path)
	}
}

func concurrent() (found []string, err error) {
	all, err := list()
	if err != nil {
		return nil, err
	}
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
			found = append(found, p.ImportPath)
		}
	}
	return found, nil
}

func list() (all []listed, err error) {
	text, err := exec.Command("go", "list", "-json=ImportPath,Dir,GoFiles,TestGoFiles,XTestGoFiles,Imports,TestImports,XTestImports", "./...").Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	for packages := json.NewDecoder(bytes.NewReader(text)); ; {
		var p listed
		if err := packages.Decode(&p); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, p)
	}
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
