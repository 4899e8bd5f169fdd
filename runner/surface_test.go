package runner_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// promised is what other programs may use and nobody here does, by the reason why
// it is there.
var promised = map[string]string{
	"a built-in validator is a value, which a program may give to runner.WithValidators by itself": `
		validators/builtins.Cites validators/builtins.Contains validators/builtins.Excludes validators/builtins.JSON validators/builtins.KeywordValidator
		validators/builtins.Keywords validators/builtins.Language validators/builtins.LengthCheck validators/builtins.LinksKept validators/builtins.Markdown validators/builtins.MatchesSchema
		validators/builtins.MaxLength validators/builtins.MinLength validators/builtins.NonEmpty
		validators/builtins.Regexp validators/builtins.SimilarToInput`,
	"a store may implement it": "runner/serve.Drafter",
	"a caller tells errors apart by it": `runner/signatures.ErrUntrusted
		runner/tool/mcp.ErrClosed validators/capy.ErrStage validators/schedule.Refusal validators/schema.ErrWork`,
	"the gate as a library, where no cascade is": "validators/capy.New validators/schedule.Save",
	"a value of Options.Browser":                 "validators/request/inspectors.NoBrowser",
}

// A surface is what the packages of this repository offer each other: names as
// "runner/model.Usage".
type surface struct {
	offered map[string]token.Position
	used    map[string]bool
}

// Every exported name is used by another package, by a page or by an example, or
// stands among the promised ones with a reason; a type may also be exported for
// what another exported thing is made of.
func TestSurface(t *testing.T) {
	s := surface{map[string]token.Position{}, map[string]bool{}}
	files := token.NewFileSet()
	err := filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") {
			return err
		}
		f, err := parser.ParseFile(files, name, nil, parser.SkipObjectResolution)
		if err == nil {
			s.read(f)
			if f.Name.Name != "main" && !strings.HasSuffix(name, "_test.go") && !beside(filepath.Dir(name)) {
				s.offer(files, strings.TrimPrefix(filepath.ToSlash(filepath.Dir(name)), "../"), f)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	s.readPages(t)
	var known []string
	for _, names := range promised {
		known = append(known, strings.Fields(names)...)
	}
	for _, name := range slices.Sorted(maps.Keys(s.offered)) {
		if !s.used[name] && !slices.Contains(known, name) {
			t.Errorf("%s: %s is exported, and used nowhere else: unexport it, or say in promised for whom it is there", s.offered[name], name)
		}
	}
	for _, name := range known {
		if _, there := s.offered[name]; !there || s.used[name] {
			t.Errorf("%s is gone, or used: it need not be promised", name)
		}
	}
}

// beside tells of a folder of a module that stands beside this one: it uses, and
// offers nothing that is promised here.
func beside(dir string) bool {
	for ; dir != ".."; dir = filepath.Dir(dir) {
		if otherModule(dir) {
			return true
		}
	}
	return false
}

// read notes what a file uses of other packages.
func (s *surface) read(f *ast.File) {
	imports := map[string]string{} // name in the file → package
	for _, i := range f.Imports {
		at, _ := strconv.Unquote(i.Path.Value)
		own, ours := strings.CutPrefix(at, module)
		if !ours {
			continue
		}
		name := path.Base(own)
		if i.Name != nil {
			name = i.Name.Name
		}
		imports[name] = own
	}
	ast.Inspect(f, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && imports[x.Name] != "" {
				s.used[imports[x.Name]+"."+n.Sel.Name] = true
			}
		case *ast.Ident:
			if own := imports["."]; own != "" {
				s.used[own+"."+n.Name] = true
			}
		}
		return true
	})
}

// offer notes what a file of a package offers, and the types that it is made of.
func (s *surface) offer(files *token.FileSet, dir string, f *ast.File) {
	name := func(id *ast.Ident, made ...ast.Node) {
		if !id.IsExported() {
			return
		}
		s.offered[dir+"."+id.Name] = files.Position(id.Pos())
		for _, n := range made {
			s.madeOf(dir, id.Name, n)
		}
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv == nil {
				name(d.Name, d.Type)
			} else if d.Name.IsExported() {
				s.madeOf(dir, "", d.Type)
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					name(t.Name, t.Type)
				}
				v, ok := spec.(*ast.ValueSpec)
				for i := 0; ok && i < len(v.Names); i++ {
					name(v.Names[i], v.Type)
					// Of several constants one may be used: they are offered together.
					s.used[dir+"."+v.Names[i].Name] = s.used[dir+"."+v.Names[i].Name] || d.Tok == token.CONST && len(d.Specs) > 1
				}
			}
		}
	}
}

// madeOf notes the types of the package that another exported thing shows.
func (s *surface) madeOf(dir, by string, n ast.Node) {
	if n == nil {
		return
	}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && id.Name != by && id.IsExported() {
			s.used[dir+"."+id.Name] = true
		}
		return true
	})
}

// readPages marks the names that the pages for people contain as used: `runner.New`.
func (s *surface) readPages(t *testing.T) {
	pages, err := filepath.Glob("../*.md")
	if err != nil {
		t.Fatal(err)
	}
	err = filepath.WalkDir("../docs", func(name string, _ fs.DirEntry, err error) error {
		if filepath.Ext(name) == ".md" {
			pages = append(pages, name)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, page := range pages {
		read, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		text := string(read)
		for name := range s.offered {
			if !s.used[name] && strings.Contains(text, path.Base(name)) {
				s.used[name] = true
			}
		}
	}
}
