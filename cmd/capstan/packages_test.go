package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"
)

// telling are the packages of Go that show a capability of the importer.
var telling = []string{"net", "net/http", "os/exec", "plugin", "syscall", "unsafe"}

// A listed package is a package in the program.
type listed struct {
	ImportPath string
	Standard   bool
	Imports    []string
	Module     struct {
		Path, Version, Dir string
		Main               bool
	}
}

// TestPackages compares the packages of the program with packages.txt, so that
// a reviewer sees each new package as a line. -update writes the file.
func TestPackages(t *testing.T) {
	want := packages(t)
	if *update {
		if err := os.WriteFile("packages.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile("packages.txt")
	if err != nil {
		t.Fatal(err)
	}
	if string(got) == want {
		return
	}
	was, is := strings.Split(string(got), "\n"), strings.Split(want, "\n")
	for _, line := range is {
		if !slices.Contains(was, line) {
			t.Errorf("new: %s", line)
		}
	}
	for _, line := range was {
		if !slices.Contains(is, line) {
			t.Errorf("gone: %s", line)
		}
	}
	t.Error("packages.txt is of another program: go test ./cmd/capstan -run TestPackages -update")
}

// TestTemporalStandsBeside checks that nothing in the main module or the
// program depends on Temporal. Its worker is a module of its own.
func TestTemporalStandsBeside(t *testing.T) {
	for _, file := range []string{"../../go.mod", "../../go.sum", "packages.txt"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), "temporal.io") {
			t.Errorf("%s names Temporal", file)
		}
	}
	if _, err := os.Stat("../../go.work"); err == nil {
		t.Error("with a go.work the program is built with what the modules beside it need")
	}
}

// packages lists the packages of other modules in the program for Linux, with
// their capabilities and importers.
func packages(t *testing.T) string {
	t.Helper()
	modules, askers := map[string][]string{}, map[string][]string{}
	all := deps(t)
	for _, p := range all {
		for _, name := range p.Imports {
			if of := all[name].Module.Path; of != p.Module.Path {
				askers[of] = append(askers[of], asker(p))
			}
		}
		if of := p.Module.Path; !p.Standard && !p.Module.Main {
			modules[of] = append(modules[of], p.line())
		}
	}
	var b strings.Builder
	b.WriteString("# Every package of others in the program, by module: who asks for the module, and\n# what of Go shows what a package can do.\n")
	for _, module := range slices.Sorted(maps.Keys(modules)) {
		slices.Sort(askers[module])
		slices.Sort(modules[module])
		fmt.Fprintf(&b, "\n%s < %s\n%s", module, strings.Join(slices.Compact(askers[module]), ", "), strings.Join(modules[module], ""))
	}
	return b.String()
}

// line returns the package within its module, with its capabilities.
func (p listed) line() string {
	can := slices.DeleteFunc(slices.Clone(p.Imports), func(name string) bool { return !slices.Contains(telling, name) })
	name := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, p.Module.Path), "/")
	return strings.TrimRight(fmt.Sprintf("\t/%-32s%s", name, strings.Join(can, " ")), " ") + "\n"
}

// asker returns the importer of another module: one of our packages, or a
// module.
func asker(p listed) string {
	if p.Module.Main {
		return strings.TrimPrefix(p.ImportPath, p.Module.Path+"/")
	}
	return p.Module.Path
}

// deps returns the packages in the program for Linux by name. The result is the
// same on all systems.
func deps(t *testing.T) map[string]listed {
	t.Helper()
	out, err := onLinux()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]listed{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var p listed
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all[p.ImportPath] = p
	}
}

// linux is the platform of packages.txt.
const linux = "linux/amd64"

var onLinux = sync.OnceValues(func() ([]byte, error) {
	return goTool(linux, "list", "-deps", "-json=ImportPath,Standard,Imports,Module", ".").Output()
})

// goTool returns a go command for a platform. It disables the garbage
// collection, which needs a third of the time.
func goTool(platform string, args ...string) *exec.Cmd {
	system, arch, _ := strings.Cut(platform, "/")
	cmd := exec.Command("go", args...)
	cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+arch, "CGO_ENABLED=0", "GOGC=off")
	return cmd
}
