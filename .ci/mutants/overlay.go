package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// chosen is the file that selects the fault. reading is the code that each
// package gets to read it. A variable does not suffice, because a test may
// restart the program with another environment.
const chosen, reading = "chosen", `%s

import (
	"os"
	"strconv"
)

var mutantChosen = func() int {
	text, _ := os.ReadFile(%q)
	n, _ := strconv.Atoi(string(text))
	return n
}()
`

var (
	clause = regexp.MustCompile(`(?m)^package .*`)
	blamed = regexp.MustCompile(`/mutant/(\d+):\d+`)
)

// compiled builds the overlay and returns the mutants that compile.
func compiled(ctx context.Context, all []mutant, folder string) ([]mutant, error) {
	args := []string{"build", "-gcflags=-e", "-overlay", overlay(folder)}
	for _, m := range all {
		if p := "./" + filepath.Dir(m.file); !slices.Contains(args, p) {
			args = append(args, p)
		}
	}
	for {
		if err := lay(all, folder); err != nil {
			return nil, err
		}
		out, err := exec.CommandContext(ctx, "go", args...).CombinedOutput()
		if err == nil {
			return all, nil
		}
		wrong := map[string]bool{}
		for _, at := range blamed.FindAllSubmatch(out, -1) {
			wrong[string(at[1])] = true
		}
		if len(wrong) == 0 {
			return nil, fmt.Errorf("%w:\n%s", err, out)
		}
		all = slices.DeleteFunc(all, func(m mutant) bool { return wrong[strconv.Itoa(m.number)] })
	}
}

func overlay(folder string) string { return filepath.Join(folder, "overlay.json") }

// lay writes the changed files and the overlay.
func lay(all []mutant, folder string) error {
	replace := map[string]string{}
	put := func(at string, text []byte) error {
		at, err := filepath.Abs(at)
		if err != nil {
			return err
		}
		if replace[at] == "" { // all files of a package put the same mutant_chosen.go
			replace[at] = filepath.Join(folder, strconv.Itoa(len(replace))+".go")
		}
		return os.WriteFile(replace[at], text, 0o600)
	}
	files := map[string][]mutant{}
	for _, m := range all {
		files[m.file] = append(files[m.file], m)
	}
	for file, mutants := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		if err := put(file, copies(text, mutants)); err != nil {
			return err
		}
		reads := fmt.Appendf(nil, reading, clause.Find(text), filepath.Join(folder, chosen))
		if err := put(filepath.Join(filepath.Dir(file), "mutant_chosen.go"), reads); err != nil {
			return err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return err
	}
	return os.WriteFile(overlay(folder), text, 0o600)
}

// copies returns a file in which each function begins with a switch between its
// mutants, followed by the original body.
func copies(text []byte, mutants []mutant) []byte {
	choices := map[int]*bytes.Buffer{}
	for _, m := range mutants {
		choice := choices[m.body]
		if choice == nil {
			choice = bytes.NewBufferString("\nswitch mutantChosen {")
			choices[m.body] = choice
		}
		body := slices.Concat(text[m.body:m.from], []byte(m.becomes), text[m.to:m.end])
		form := "\ncase %d:\n//line /mutant/%[1]d:1\nreturn func() %[2]s %[3]s()"
		if m.results == "" {
			form = "\ncase %d:\n//line /mutant/%[1]d:1\nfunc() %[3]s()\nreturn"
		}
		fmt.Fprintf(choice, form, m.number, m.results, body)
	}
	var whole bytes.Buffer
	for i, b := range text {
		whole.WriteByte(b)
		if choice := choices[i]; choice != nil {
			choice.WriteString("\n}\n")
			choice.WriteTo(&whole)
		}
	}
	return whole.Bytes()
}
