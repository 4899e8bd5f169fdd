package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/convert"
	"github.com/seed61713e19/capstan/runner"
)

// TestWindlassWords holds what becomes of each word of Windlass and of LARS, in
// small cascades: whether one runs to its end as it stands and as convert writes
// it, and what is told on which line. The last file of an archive has it all.
func TestWindlassWords(t *testing.T) {
	archives, err := filepath.Glob("testdata/windlass/*.txtar")
	if err != nil || len(archives) == 0 {
		t.Fatal(archives, err)
	}
	r, err := (&Command{Stdout: os.Stdout, Stderr: os.Stderr}).reader()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string, source []byte) cascades.Diagnostics { return wrong(r.Parse(name, source)) }
	for _, name := range archives {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			files := archive.Files
			if last := len(files) - 1; files[last].Name == "told" {
				files = files[:last]
			}
			dir := t.TempDir()
			for _, f := range files {
				if err := os.WriteFile(filepath.Join(dir, f.Name), f.Data, 0o644); err != nil {
					t.Fatal(err)
				}
			}
			var told strings.Builder
			for _, f := range files {
				file := filepath.Join(dir, f.Name)
				found, failed := tried(t, r, file)
				outcome(&told, strings.TrimSuffix(f.Name, ".yaml"), dir, found, failed)
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
				outcome(&told, "  converted", dir, mistakes(found), failed)
				again, err := convert.File(file, result.Text, read)
				if err != nil || again.Changed {
					t.Errorf("%s: what convert writes is written otherwise again: %v %v", f.Name, err, again.Notes)
				}
			}
			got := []byte(told.String())
			want := archive.Files[len(archive.Files)-1]
			switch {
			case *update:
				archive.Files = append(files, txtar.File{Name: "told", Data: got})
				if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
					t.Fatal(err)
				}
			case want.Name != "told" || !bytes.Equal(got, want.Data):
				t.Errorf("otherwise than in %s; go test ./cmd/capstan -run TestWindlassWords -update writes it:\n%s", name, got)
			}
		})
	}
}

// tried loads a cascade, and runs it where it names no program: those of the files
// here are yet to be written.
func tried(t *testing.T, r *runner.Runner, file string) (cascades.Diagnostics, string) {
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

// outcome writes what became of a cascade, and what is told of it.
func outcome(b *strings.Builder, name, dir string, found cascades.Diagnostics, failed string) {
	end := "runs"
	if found.Broken() {
		end = "does not load"
	} else if failed != "" {
		end = "loads; " + short(strings.ReplaceAll(failed, dir, "."))
	}
	fmt.Fprintf(b, "%s: %s\n", name, end)
	for _, d := range found {
		fmt.Fprintf(b, "    %d: %s%s [%s]\n", d.Line, map[bool]string{true: "", false: "warning: "}[d.Severity == cascades.Wrong], short(strings.ReplaceAll(d.Told(), dir, ".")), d.Code)
	}
}

// short is a message as far as it says which word it is of and what it is here.
func short(s string) string {
	s, _, _ = strings.Cut(s, "\n")
	if r := []rune(s); len(r) > 150 {
		s = string(r[:150]) + "…"
	}
	return s
}

// mistakes are those among diagnostics.
func mistakes(found cascades.Diagnostics) (list cascades.Diagnostics) {
	for _, d := range found {
		if d.Severity == cascades.Wrong {
			list = append(list, d)
		}
	}
	return list
}
