package main

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
)

// platforms are the platforms of a release, as in .ci/goreleaser.yaml.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// legal matches the files of a module that must be distributed with the
// program.
var legal = regexp.MustCompile(`(?i)^(LICEN[CS]E|COPYING|NOTICE|PATENTS|UNLICENSE)([-.].*)?$`)

// TestNotices checks that the program contains the notices of Go, of every
// linked module on any platform, and of the page's libraries.
func TestNotices(t *testing.T) {
	want := notices(t)
	if *update {
		if err := os.WriteFile("notices.txt", []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if thirdParty != want {
		t.Error("notices.txt is of other modules than go.mod has: go test ./cmd/capstan -run TestNotices -update")
	}
}

// notices returns each text once, below the modules that it belongs to.
func notices(t *testing.T) string {
	t.Helper()
	of := map[string][]string{} // modules by text
	add := func(name, dir string) {
		entries, err := os.ReadDir(dir)
		if err != nil {
			t.Fatal(err)
		}
		found := false
		for _, e := range entries {
			if e.IsDir() || !legal.MatchString(e.Name()) || strings.HasSuffix(e.Name(), ".go") {
				continue
			}
			text, err := os.ReadFile(filepath.Join(dir, e.Name()))
			if err != nil {
				t.Fatal(err)
			}
			found = true
			key := strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n"))
			of[key] = append(of[key], name)
		}
		if !found {
			t.Errorf("%s has no licence", name)
		}
	}
	for module, dir := range modules(t) {
		add(module, dir)
		if strings.HasPrefix(module, "golang.org/x/sys ") { // the same authors and the same text
			add("Go's standard library", dir)
		}
	}
	page, err := os.ReadFile("../../runner/serve/internal/pages/static/THIRD_PARTY.md")
	if err != nil {
		t.Fatal(err)
	}
	of[strings.TrimSpace(string(page))] = []string{"the page of capstan serve"}
	license, err := os.ReadFile("../../LICENSE")
	if err != nil {
		t.Fatal(err)
	}
	mit := regexp.MustCompile(`(?m)^Copyright .*$`).ReplaceAllString(string(license), "Copyright (c) 2019 Zachary Rice")
	of[strings.TrimSpace(mit)] = []string{"gitleaks, after whose rules secrets are known"}

	texts := make([]string, 0, len(of))
	for text, names := range of {
		slices.Sort(names)
		texts = append(texts, text)
	}
	slices.SortFunc(texts, func(a, b string) int { return cmp.Or(cmp.Compare(of[a][0], of[b][0]), cmp.Compare(a, b)) })
	var out bytes.Buffer
	for _, text := range texts {
		fmt.Fprintf(&out, "%s\n%s\n\n%s\n\n", strings.Repeat("=", 78), strings.Join(of[text], "\n"), text)
	}
	return out.String()
}

// modules returns the folders of the modules that have packages in the program
// on any platform.
func modules(t *testing.T) map[string]string {
	t.Helper()
	dirs, lists := map[string]string{}, make([]string, len(platforms))
	var all sync.WaitGroup
	for i, p := range platforms {
		if p == linux { // deps lists them
			continue
		}
		all.Go(func() {
			out, err := goTool(p, "list", "-deps", "-f", "{{with .Module}}{{if not .Main}}{{.Path}} {{.Version}}\t{{.Dir}}{{end}}{{end}}", ".").Output()
			if err != nil {
				t.Errorf("%s: %v", p, err)
			}
			lists[i] = string(out)
		})
	}
	for _, p := range deps(t) {
		if m := p.Module; m.Path != "" && !m.Main {
			dirs[m.Path+" "+m.Version] = m.Dir
		}
	}
	all.Wait()
	for line := range strings.Lines(strings.Join(lists, "")) {
		if name, dir, ok := strings.Cut(strings.TrimSpace(line), "\t"); ok {
			dirs[name] = dir
		}
	}
	return dirs
}
