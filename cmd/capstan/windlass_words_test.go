package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/windlass/convert"
	"github.com/seed61713e19/capstan/runner"
)

// TestWindlassWords checks the result of each word of Windlass and of LARS in
// small cascades: whether the file runs to its end, unchanged and converted,
// and the diagnostics per line. The last file of an archive has the expected
// output.
func TestWindlassWords(t *testing.T) {
	archives, err := filepath.Glob("testdata/windlass/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	r, err := (&Command{Stdout: os.Stdout, Stderr: os.Stderr}).reader()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string, source []byte) syntax.Diagnostics { return wrong(r.Parse(name, source)) }
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := archive.Files
			if last := len(files) - 1; files[last].Name == "result" {
				files = files[:last]
			}
			dir := t.TempDir()
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var outcomes strings.Builder
			for _, f := range files {
				file := filepath.Join(dir, f.Name)
				found, failed := tried(t, r, file)
				outcome(&outcomes, strings.TrimSuffix(f.Name, ".yaml"), dir, found, failed)
				for _, d := range untold(found) {
					t.Errorf("says nothing of what to do: %s", d)
				}
				result, err := convert.File(file, f.Data, read)
				if err != nil || !result.Changed {
					continue
				}
				if err := os.WriteFile(file, result.Text, 0o644); err != nil {
					t.Fatal(err)
				}
				found, failed = tried(t, r, file)
				outcome(&outcomes, "  converted", dir, mistakes(found), failed)
				again, err := convert.File(file, result.Text, read)
				if err != nil || again.Changed {
					t.Errorf("%s: what convert writes is written otherwise again: %v %v", f.Name, err, again.Notes)
				}
			}
			got := []byte(outcomes.String())
			want := archive.Files[len(archive.Files)-1]
			switch {
			case *update:
				archive.Files = append(files, txtar.File{Name: "result", Data: got})
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			case want.Name != "result" || !bytes.Equal(got, want.Data):
				t.Errorf("otherwise than in %s; go test ./cmd/capstan -run TestWindlassWords -update writes it:\n%s", name, got)
			}
		})
	}
}

// tried loads a cascade, and runs it if it names no programs. The programs do
// not exist here.
func tried(t *testing.T, r *runner.Runner, file string) (syntax.Diagnostics, string) {
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(source, []byte("exec:")) {
		c, err := r.Load(file)
		return wrong(c, err), "a program is to be written"
	}
	return rehearse(t, r, file)
}

// outcome writes the result of a cascade and its diagnostics.
func outcome(b *strings.Builder, name, dir string, found syntax.Diagnostics, failed string) {
	end := "runs"
	if found.Broken() {
		end = "does not load"
	} else if failed != "" {
		end = "loads; " + short(strings.ReplaceAll(failed, dir, "."))
	}
	fmt.Fprintf(b, "%s: %s\n", name, end)
	for _, d := range found {
		fmt.Fprintf(b, "    %d: %s%s [%s]\n", d.Line, map[bool]string{true: "", false: "warning: "}[d.Severity == syntax.Wrong], short(strings.ReplaceAll(d.Text(), dir, ".")), d.Code)
	}
}

// short returns the beginning of a message: at most 150 characters of its first
// line.
func short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 150 {
		s = string(r[:150]) + "…"
	}
	return s
}

// mistakes returns the errors among diagnostics.
func mistakes(found syntax.Diagnostics) (list syntax.Diagnostics) {
	for _, d := range found {
		if d.Severity == syntax.Wrong {
			list = append(list, d)
		}
	}
	return list
}
