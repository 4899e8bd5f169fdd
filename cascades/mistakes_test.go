package cascades

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"gopkg.in/yaml.v3"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/schema"
)

var update = flag.Bool("update", false, "rewrite what the transcripts compare with")

// TestMistakes compares the diagnostics of each mistake in
// testdata/mistakes.txtar: the place, the advice, the result of --fix, and
// whether the schema reports it.
func TestMistakes(t *testing.T) {
	const name = "testdata/mistakes.txtar"
	archive, err := txtar.ParseFile(name)
	if err != nil {
		t.Fatal(err)
	}
	s := schemaOfKnown(t)
	result := &txtar.Archive{Comment: archive.Comment}
	mistakes := 0
	for i, f := range archive.Files {
		if path.Ext(f.Name) == ".said" {
			continue
		}
		mistakes++
		got := mistakesOf(t, s, f.Name, f.Data)
		result.Files = append(result.Files, f, txtar.File{Name: f.Name + ".said", Data: []byte(got)})
		if i+1 == len(archive.Files) || archive.Files[i+1].Name != f.Name+".said" || string(archive.Files[i+1].Data) != got {
			t.Errorf("%s: got\n%s", f.Name, got)
		}
	}
	if mistakes < 70 {
		t.Errorf("only %d mistakes", mistakes)
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(result), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// TestMistakesWithin checks that an invalid cascade has the same diagnostics
// within another cascade, however the other cascade names it.
func TestMistakesWithin(t *testing.T) {
	const outer = `cascade_id: outer
validators: {judge: {cascade: wrong}}
tools: {named: {cascade: wrong}}
phases:
- {name: a, instructions: x, sub_cascades: [{ref: wrong, context_out: true}], tackle: [named, wrong, tackle/wrong.yaml], wards: {post: [{validator: judge}, {validator: wrong}, {cascade: wrong}]}}
- {name: b, tool: tackle/wrong.yaml, inputs: {odd: 1}}
- {name: c, tool: named, inputs: {odd: 1}}
- {name: d, tool: wrong, inputs: {odd: 1}}
- {name: e, tool: judge}
`
	archive, err := txtar.ParseFile("testdata/mistakes.txtar")
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range archive.Files {
		if path.Ext(f.Name) != ".yaml" {
			continue
		}
		alone := found(t, "tackle/wrong.yaml", string(f.Data))
		_, err := Parse("outer.yaml", []byte(outer), files(map[string]string{"tackle/wrong.yaml": string(f.Data)}), known())
		if alone.Broken() && (err == nil || err.Error() != alone.Error()) {
			t.Errorf("%s: got\n%s\nand within another\n%v", f.Name, alone, err)
		}
	}
}

// TestFixed applies fixes to a text that has changed meanwhile. Only the
// mistakes that remain are fixed, once.
func TestFixed(t *testing.T) {
	list := found(t, "x.yaml", "cascade_id: x\ndescriptio: y\nphases: [{name: a, instructons: x}]\n")
	for text, want := range map[string]string{
		"cascade_id: x\ndescriptio: y\nphases: [{name: a, instructons: x}]\n": "cascade_id: x\ndescription: y\nphases: [{name: a, instructions: x}]\n",
		"\ufeffcascade_id: x\ndescriptio: y":                                  "\ufeffcascade_id: x\ndescription: y",
		"cascade_id: x\ndescriptio: y\nphases: [{name: a, instructon":         "cascade_id: x\ndescription: y\nphases: [{name: a, instructon",
		"cascade_id: x\ndesc\nphases: [{name: a, instructons":                 "cascade_id: x\ndesc\nphases: [{name: a, instructions",
	} {
		got, n := append(slices.Clone(list), list...).Fixed("x.yaml", []byte(text))
		if string(got) != want || n != strings.Count(want, "description:")+strings.Count(want, "instructions") {
			t.Errorf("of %q %d mended: %q", text, n, got)
		}
	}
	if got, n := list.Fixed("y.yaml", []byte("a")); n != 0 || string(got) != "a" {
		t.Errorf("in another file %d mended: %q", n, got)
	}
}

// TestFixedOverlaps checks that the last of several overlapping fixes of a line
// is applied. Adjacent fixes are all applied.
func TestFixedOverlaps(t *testing.T) {
	fix := func(line, from, to int, text string) syntax.Diagnostic {
		return syntax.Diagnostic{Fix: &syntax.Fix{Position: syntax.Position{File: "x", Line: line, Column: from}, EndColumn: to, Text: text, Sure: true}}
	}
	for _, c := range []struct {
		list syntax.Diagnostics
		want string
		made int
	}{
		{syntax.Diagnostics{fix(1, 1, 2, "A"), fix(1, 2, 3, "B")}, "AB\ncd", 2},
		{syntax.Diagnostics{fix(1, 2, 3, ""), fix(2, 1, 3, "C"), fix(3, 1, 1, "no"), fix(2, 1, 4, "no")}, "a\nC", 2},
		{syntax.Diagnostics{fix(2, 1, 3, "C"), fix(1, 1, 3, "no"), fix(1, 2, 3, "B")}, "aB\nC", 2},
		{syntax.Diagnostics{fix(1, 2, 3, "BB"), fix(2, 1, 2, "C"), fix(2, 1, 2, "C")}, "aBB\nCd", 2},
		{syntax.Diagnostics{fix(1, 2, 3, `""`), {}, {Fix: &syntax.Fix{Position: syntax.Position{File: "x", Line: 2, Column: 1}, EndColumn: 2, Text: "no"}}}, "a\"\"\ncd", 1},
	} {
		if got, n := c.list.Fixed("x", []byte("ab\ncd")); string(got) != c.want || n != c.made {
			t.Errorf("%d made: %q, want %q", n, got, c.want)
		}
	}
}

// mistakesOf returns the diagnostics of a file with their fixes, and reports whether the
// schema rejects the file.
func mistakesOf(t *testing.T, s *schema.Schema, name string, source []byte) string {
	t.Helper()
	c, err := Parse(name, source, files(nil), known())
	var list syntax.Diagnostics
	if !errors.As(err, &list) {
		list = c.Warnings
	}
	if len(list) == 0 {
		t.Errorf("%s has no diagnostics", name)
	}
	var b strings.Builder
	for _, d := range list {
		fmt.Fprintln(&b, strings.TrimPrefix(d.String(), name+":"))
		if f := d.Fix; f != nil && !f.Sure {
			fmt.Fprintf(&b, "  perhaps %d:%d-%d: %q\n", f.Line, f.Column, f.EndColumn, f.Text)
		}
	}
	fixed, _ := list.Fixed(name, source)
	before := strings.Split(string(source), "\n")
	for i, line := range strings.Split(string(fixed), "\n") {
		if line != before[i] {
			fmt.Fprintf(&b, "--fix: %s\n", line)
		}
	}
	var v any
	switch {
	case yaml.Unmarshal(source, &v) != nil:
	case s.Validate(nil, v) != nil:
		b.WriteString("schema: sees it\n")
	default:
		b.WriteString("schema: does not see it\n")
	}
	return b.String()
}

// TestMistakenEncodings checks the diagnostics of files in other encodings, and
// of files with a byte order mark.
func TestMistakenEncodings(t *testing.T) {
	right := "cascade_id: x\nphases:\n- {name: a, instructions: x, nme: y}\n"
	for source, want := range map[string]string{
		"\xef\xbb\xbf" + right:                   `x.yaml:3:30: phase a has no key "nme", did you mean "name"? [unknown-key]`,
		"\xef\xbb\xbfcascade_i: x\nphases: []\n": `x.yaml:1:1: the cascade has no key "cascade_i", did you mean "cascade_id"? [unknown-key]`,
		"\xef\xbb\xbf" + `{cascade_id: x, phases: [{name: a, instructions: "\t\t{{ nope }}"}]}`: `x.yaml:1:58: template: no variable is called "nope"`,
		"\xff\xfec\x00a\x00":                    "x.yaml:1:1: the file is not UTF-8 text: it is UTF-16; save it as UTF-8 [syntax]",
		"cascade_id: \x80\n":                    "x.yaml:1:13: the file is not UTF-8 text [syntax]",
		"\x00\x01\x02":                          "control characters are not allowed [syntax]",
		strings.ReplaceAll(right, "\n", "\r\n"): `x.yaml:3:30: phase a has no key "nme"`,
		strings.ReplaceAll(right, "\n", "\r"):   `x.yaml:3:30: phase a has no key "nme"`,
	} {
		if got := found(t, "x.yaml", source).Error(); !strings.Contains(got, want) {
			t.Errorf("%q: got\n%s\nwant\n%s", source, got, want)
		}
	}
}

// TestMistakeInATemplateFile checks that a mistake in a template file is fixed
// in that file.
func TestMistakeInATemplateFile(t *testing.T) {
	const source, other = "First.\nOf my firts {{ inputs.topic }}.\n", "First.\nOf {{ outputs.firts }}.\n"
	_, err := Parse("c.yaml", []byte("cascade_id: c\nphases: [{name: first, instructions: \"@b.md\"}, {name: a, instructions: \"@a.md\"}]\n"), files(map[string]string{"a.md": source, "b.md": other}), known())
	var list syntax.Diagnostics
	if !errors.As(err, &list) {
		t.Fatalf("got %v", err)
	}
	if fixed, n := list.Fixed("a.md", []byte(source)); n != 1 || string(fixed) != "First.\nOf my firts {{ input.topic }}.\n" {
		t.Errorf("%d mended: %s\n%v", n, fixed, list)
	}
	if len(list) != 2 || list[1].Suggestion != "first" || list[1].Fix != nil {
		t.Errorf("a file that is not read any more: got %+v", list)
	}
}
