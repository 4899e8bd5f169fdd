// Platforms type-checks all packages and their tests for each platform of a
// release except the current one, or for the named platforms:
//
//	go run -C .ci/platforms .
//	go run -C .ci/platforms . windows/amd64
//
// It reads other modules without their function bodies, because those modules
// compile on every platform. So it takes a tenth of the time of a compiler. It
// also vets files for other platforms; go vet has seen the rest. Errors of the
// linker appear only in a release.
//
// The exit status is 1 if a package has an error.
package main

import (
	"flag"
	"fmt"
	"go/ast"
	"go/build"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"golang.org/x/tools/go/analysis/checker"
	"golang.org/x/tools/go/analysis/suite/vet"
	"golang.org/x/tools/go/packages"
	"gopkg.in/yaml.v3"
)

func main() {
	flag.Parse()
	list, err := platforms("../goreleaser.yaml")
	if err != nil {
		fail(err)
	}
	if flag.NArg() > 0 {
		list = flag.Args()
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		fail(err)
	}
	s := sources{root: root + string(filepath.Separator), set: token.NewFileSet(), files: map[string]*file{}}
	wrong := 0
	for _, platform := range list {
		fmt.Println("--", platform)
		complaints, err := s.check(platform)
		if err != nil {
			fail(err)
		}
		for _, c := range complaints {
			fmt.Println(c)
		}
		wrong += len(complaints)
	}
	if wrong > 0 {
		os.Exit(1)
	}
}

func fail(err error) {
	fmt.Fprintln(os.Stderr, "platforms:", err)
	os.Exit(2)
}

// platforms returns the platforms of a release except the current one.
func platforms(path string) (list []string, err error) {
	var config struct {
		Builds []struct{ Goos, Goarch []string }
	}
	text, err := os.ReadFile(path)
	if err == nil {
		err = yaml.Unmarshal(text, &config)
	}
	for _, build := range config.Builds {
		for _, system := range build.Goos {
			for _, arch := range build.Goarch {
				if system != runtime.GOOS || arch != runtime.GOARCH {
					list = append(list, system+"/"+arch)
				}
			}
		}
	}
	return list, err
}

// sources caches files for all platforms.
type sources struct {
	root  string
	set   *token.FileSet
	mu    sync.Mutex
	files map[string]*file
}

type file struct {
	once sync.Once
	tree *ast.File
	err  error
}

// parse omits function bodies of other modules.
func (s *sources) parse(set *token.FileSet, name string, text []byte) (*ast.File, error) {
	s.mu.Lock()
	f := s.files[name]
	if f == nil {
		f = &file{}
		s.files[name] = f
	}
	s.mu.Unlock()
	f.once.Do(func() {
		if f.tree, f.err = parser.ParseFile(set, name, text, parser.ParseComments|parser.SkipObjectResolution); f.tree == nil || strings.HasPrefix(name, s.root) {
			return
		}
		f.tree.Comments = nil
		for _, d := range f.tree.Decls {
			if function, ok := d.(*ast.FuncDecl); ok {
				function.Body = nil
			}
		}
	})
	return f.tree, f.err
}

// check returns the errors for a platform.
func (s *sources) check(platform string) (complaints []string, err error) {
	system, arch, _ := strings.Cut(platform, "/")
	all, err := packages.Load(&packages.Config{
		Mode: packages.LoadAllSyntax | packages.NeedModule, Tests: true, Dir: s.root, Fset: s.set, ParseFile: s.parse,
		Env: append(os.Environ(), "CGO_ENABLED=0", "GOOS="+system, "GOARCH="+arch),
	}, "./...")
	if err != nil {
		return nil, err
	}
	all = slices.DeleteFunc(all, func(p *packages.Package) bool {
		return strings.HasSuffix(p.ID, ".test") // the program of the tests, written by go list
	})
	own := map[*packages.Package]bool{}
	for _, p := range all {
		own[p] = true
	}
	var others []*packages.Package
	for _, p := range all {
		for _, e := range p.Errors {
			complaints = append(complaints, e.Error())
		}
		// Packages without bodies are ill typed, and their imports are unused.
		// Packages that import them are not.
		p.IllTyped = len(p.Errors) > 0
		for path, dep := range p.Imports {
			if !own[dep] {
				delete(p.Imports, path)
			}
		}
		if slices.ContainsFunc(p.GoFiles, elsewhere) {
			others = append(others, p)
		}
	}
	if len(complaints) > 0 {
		return complaints, nil
	}
	graph, err := checker.Analyze(vet.Suite, others, nil)
	if err != nil {
		return nil, err
	}
	for act := range graph.All() {
		if act.Err != nil {
			return nil, fmt.Errorf("%s: %w", act, act.Err)
		}
		for _, d := range act.Diagnostics {
			if at := s.set.Position(d.Pos); act.IsRoot && elsewhere(at.Filename) {
				complaints = append(complaints, fmt.Sprintf("%s: %s", at, d.Message))
			}
		}
	}
	return complaints, nil
}

// elsewhere reports whether a file is excluded on the current platform, so go
// vet has not seen it.
func elsewhere(file string) bool {
	here, err := build.Default.MatchFile(filepath.Split(file))
	return err == nil && !here
}
