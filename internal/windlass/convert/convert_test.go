package convert_test

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/windlass/convert"
	"github.com/seed61713e19/capstan/runner/tool"
	"github.com/seed61713e19/capstan/validators/builtins"
)

var update = flag.Bool("update", false, "update the expected files")

// read reads a cascade beside the files of a folder.
func read(dir string) convert.Reader {
	tools := tool.NewSet(tool.Declared("read_file", "Read a file.", nil, nil), tool.Declared("ask_human", "Ask a person.", nil, nil), tool.Declared("run_command", "Run.", nil, nil))
	known := cascades.Known{Validators: builtins.Default(), Tools: tools}
	open := func(name string) ([]byte, error) { return os.ReadFile(path.Join(dir, path.Base(name))) }
	return func(name string, source []byte) syntax.Diagnostics {
		var found syntax.Diagnostics
		c, err := cascades.Parse(name, source, open, known)
		if !errors.As(err, &found) && c != nil {
			found = c.Warnings
		}
		return found
	}
}

// TestCases compares converted files with the expected ones, and checks that a second conversion
// changes nothing.
func TestCases(t *testing.T) {
	cases, err := filepath.Glob("testdata/cases/*.txtar")
	if err != nil || len(cases) == 0 {
		t.Fatal(cases, err)
	}
	for _, name := range cases {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			in := archive.Files[0]
			result, err := convert.File(in.Name, in.Data, read("."))
			if err != nil {
				t.Fatal(err)
			}
			var notes strings.Builder
			for _, n := range result.Notes {
				fmt.Fprintf(&notes, "%d: %s\n", n.Line, n.Text)
			}
			out := []txtar.File{in, {Name: "out.yaml", Data: result.Text}, {Name: "notes", Data: []byte(notes.String())}}
			if got := txtar.Format(&txtar.Archive{Files: out}); *update {
				if err := os.WriteFile(name, got, 0o644); err != nil {
					t.Fatal(err)
				}
			} else if want := txtar.Format(archive); string(got) != string(want) {
				t.Errorf("got\n%s", got)
			}
			again, err := convert.File("out.yaml", result.Text, read("."))
			if err != nil || again.Changed || string(again.Text) != string(result.Text) {
				t.Errorf("the second conversion differs (%v):\n%s", err, again.Text)
			}
			checkComments(t, result)
		})
	}
}

// checkComments checks that a changed file has a comment for each remaining mistake.
func checkComments(t *testing.T, r convert.Result) {
	t.Helper()
	for _, d := range r.Left {
		start, _, _ := strings.Cut(strings.SplitN(d.Message, " at line", 2)[0], "\n") // the comments have moved the line
		if r.Changed && d.Severity == syntax.Wrong && !strings.Contains(string(r.Text), "# lint: "+start[:min(len(start), 60)]) {
			t.Errorf("no comment describes %s", d)
		}
	}
}

// TestOwnFiles checks that cascades of Capstan remain unchanged.
func TestOwnFiles(t *testing.T) {
	for _, dir := range []string{"../../../cascades/examples", "../../../cascades/testdata/good"} {
		names, err := filepath.Glob(dir + "/*.*")
		if err != nil || len(names) == 0 {
			t.Fatal(names, err)
		}
		for _, name := range names {
			source, err := os.ReadFile(name)
			if err != nil || !strings.Contains(string(source), "cascade_id") || strings.Contains(name, ".scripted.") {
				continue
			}
			r, err := convert.File(name, source, func(string, []byte) syntax.Diagnostics { return nil })
			if err != nil || r.Changed || string(r.Text) != string(source) {
				t.Errorf("%s: %v\n%v", name, err, r.Notes)
			}
		}
	}
}

// TestHostile checks that conversion ends and reports texts that are not cascades.
func TestHostile(t *testing.T) {
	bomb := "a: &a [x, x, x, x, x, x, x, x, x]\n"
	for c := 'b'; c < 'm'; c++ {
		bomb += fmt.Sprintf("%c: &%c [%s*%c]\n", c, c, strings.Repeat(fmt.Sprintf("*%c, ", c-1), 8), c-1)
	}
	for name, source := range map[string]string{
		"empty": "", "list": "- a", "text": "cells", "binary": "\x00\xff\xfe", "large": "cells: \"" + strings.Repeat("x", 10<<20) + "\"",
		"deep": strings.Repeat("[", 100_000), "itself": "cells: &a [*a]", "two": "cells: []\n---\ncells: []", "json": `{"cells": [`,
	} {
		if _, err := convert.File(name, []byte(source), read(".")); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	for _, source := range []string{bomb + "cells: [*l, {skills: *l}]", "cells: {a: b}", "cells: [1, null, [], {}]", "cells: [&x {name: a, skills: [say], takes: {}}, *x, {<<: *x}]",
		"? [a]\n: b\ncells: [{? {a: b} : c}]", `{"cells":[{"name":null,"skills":{"a":1},"takes":[],"context":7,"rules":"x","human_input":[],"routing":{"a":[]},"htmx":"x"}],"sql_function":{"args":[1,{}]},"validators":[],"token_budget":3}`} {
		r, err := convert.File("hostile.yaml", []byte(source), read("."))
		if err != nil {
			t.Errorf("%.80q: %v", source, err)
		}
		checkComments(t, r)
	}
}

// FuzzFile checks that no text causes a panic, and that a converted file can be converted again.
func FuzzFile(f *testing.F) {
	names, _ := filepath.Glob("testdata/cases/*.txtar")
	for _, name := range names {
		archive, err := txtar.ParseFile(name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(archive.Files[0].Data)
	}
	f.Add([]byte("cells: [&x {name: a, skills: [say], takes: {}}, *x, {<<: *x}]"))
	f.Fuzz(func(t *testing.T, source []byte) {
		r, err := convert.File("fuzz.yaml", source, read("."))
		var none syntax.Diagnostics
		if err != nil && !errors.As(err, &none) {
			t.Fatal(err)
		}
		if err != nil || !r.Changed {
			return
		}
		if _, err := convert.File("fuzz.yaml", r.Text, read(".")); err != nil {
			t.Fatalf("%v of\n%s", err, r.Text)
		}
	})
}

// TestMerges checks that merge keys keep their usual spelling.
func TestMerges(t *testing.T) {
	source := "cascade_id: a\ncells:\n  - &one {name: one, instructions: hi}\n  - {<<: *one, name: two}\n"
	r, err := convert.File("a.yaml", []byte(source), func(string, []byte) syntax.Diagnostics { return nil })
	if err != nil || strings.Contains(string(r.Text), "!!") || !strings.Contains(string(r.Text), "{<<: *one, name: two}") {
		t.Errorf("%v: %s", err, r.Text)
	}
}
