package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/seed61713e19/capstan/cascades"
	"github.com/seed61713e19/capstan/cascades/syntax"
	"github.com/seed61713e19/capstan/internal/codes"
	"github.com/seed61713e19/capstan/internal/measures/scripts"
	"github.com/seed61713e19/capstan/internal/windlass/convert"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A theirs is the result for one cascade of another project.
type theirs struct {
	name                   string
	lars                   bool
	loads, runs            bool // as it is
	spared, sparedRuns     bool // as it is, if tools may be missing
	converted              bool // the output of convert loads
	convertedRuns          bool
	untold                 []string // mistakes without advice
	wrong, convertedWrong  syntax.Diagnostics
	failed, failedConverts string
}

// TestWindlass reports for each cascade of a folder whether it loads and runs
// to its end, unchanged and converted. The model replies as requested and calls
// ask_human once. The environment variable WINDLASS is the folder, a checkout
// of Windlass or of LARS.
//
// In any folder, nothing may panic, and each mistake about a word of Windlass
// must have advice. Convert must write every mistake into a comment, and must
// be idempotent.
func TestWindlass(t *testing.T) {
	dir := os.Getenv("WINDLASS")
	known := dir == ""
	if known {
		dir = "../../../shared/data/windlass"
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skip("no checkout of Windlass: set WINDLASS to its folder")
	}
	names := cascadesOf(t, dir)
	out := t.TempDir()
	for _, name := range names {
		copyAs(t, filepath.Join(dir, name), filepath.Join(out, name))
	}
	r, err := (&Command{Stdout: os.Stdout, Stderr: os.Stderr}).reader()
	if err != nil {
		t.Fatal(err)
	}
	sparing, err := (&Command{Stdout: os.Stdout, Stderr: os.Stderr, names: nameFlags{missing: true}}).reader()
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string, source []byte) syntax.Diagnostics { return wrong(r.Parse(name, source)) }
	for _, name := range names {
		writeConverted(t, filepath.Join(out, name), read)
	}
	var all []*theirs
	for _, name := range names {
		source, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			t.Fatal(err)
		}
		one := &theirs{name: name, lars: strings.Contains(string(source), "\ncells:") || strings.Contains(string(source), `"cells"`)}
		one.wrong, one.failed = rehearse(t, r, filepath.Join(dir, name))
		one.convertedWrong, one.failedConverts = rehearse(t, r, convert.Name(filepath.Join(out, name)))
		found, failed := rehearse(t, sparing, filepath.Join(dir, name))
		one.spared, one.sparedRuns = !found.Broken(), failed == ""
		one.loads, one.converted = !one.wrong.Broken(), !one.convertedWrong.Broken()
		one.runs, one.convertedRuns = one.loads && one.failed == "", one.converted && one.failedConverts == ""
		one.untold = untold(one.wrong)
		all = append(all, one)
	}
	report(t, all)
	if !known {
		return
	}
	var loads, converted int
	for _, one := range all {
		if !one.lars {
			loads, converted = loads+tally(one.loads), converted+tally(one.converted)
		}
	}
	if loads < 21 || converted < 33 {
		t.Errorf("%d examples of Windlass load, and %d after convert; want 21 and 33", loads, converted)
	}
}

// cascadesOf returns the cascades below a folder.
func cascadesOf(t *testing.T, dir string) []string {
	var names []string
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) {
			return err
		}
		source, err := os.ReadFile(name)
		rel, _ := filepath.Rel(dir, name)
		if text := string(source); strings.Contains(text, "cascade_id") && (strings.Contains(text, "cells") || strings.Contains(text, "phases")) {
			names = append(names, rel)
		}
		return err
	})
	if err != nil || len(names) == 0 {
		t.Fatalf("%s has no cascades (%v)", dir, err)
	}
	return names
}

func copyAs(t *testing.T, from, to string) {
	t.Helper()
	text, err := os.ReadFile(from)
	if err == nil {
		err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, text, 0o644))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// writeConverted writes the converted cascade next to its file.
func writeConverted(t *testing.T, name string, read convert.Reader) {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	result, err := convert.File(name, source, read)
	if err != nil {
		result.Text = source // lint reports the reason
	}
	if err := os.WriteFile(convert.Name(name), result.Text, 0o644); err != nil {
		t.Fatal(err)
	}
	again, err := convert.File(convert.Name(name), result.Text, read)
	if err == nil && (again.Changed || string(again.Text) != string(result.Text)) {
		t.Errorf("%s: what convert writes is written otherwise again: %v", name, again.Notes)
	}
	for _, d := range result.Left {
		start := strings.SplitN(d.Message, " at line", 2)[0]
		if result.Changed && d.Severity == syntax.Wrong && filepath.Base(d.File) == filepath.Base(convert.Name(name)) &&
			!strings.Contains(string(result.Text), "# lint: "+start[:min(len(start), 40)]) {
			t.Errorf("%s: no comment tells of %s", name, d)
		}
	}
}

// untold returns the findings about unknown tools and keys that have no advice.
func untold(found syntax.Diagnostics) (list []string) {
	for _, d := range found {
		if slices.Contains([]string{codes.UnknownKey, codes.Tool}, d.Code) && d.Suggestion == "" && !strings.Contains(d.Message, ": ") {
			list = append(list, d.String())
		}
	}
	return list
}

// rehearse loads and runs a cascade. It returns the diagnostics of the file,
// and the reason if the run failed.
func rehearse(t *testing.T, r *runner.Runner, file string) (syntax.Diagnostics, string) {
	t.Helper()
	c, err := r.Load(file)
	found := wrong(c, err)
	if err != nil {
		return found, "does not load"
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	replies, err := scripts.Draft(ctx, c)
	if err != nil {
		return found, err.Error()
	}
	text, err := scripted.Format("", replies)
	if err != nil {
		return found, err.Error()
	}
	script, err := scripted.Parse("script.yaml", text, nil)
	if err != nil {
		return found, err.Error()
	}
	play, err := runner.New(withGates(), runner.WithTools(tools(tool.Options{})...), runner.WithModel(&asking{script}), runner.WithAsk(answering))
	if err != nil {
		t.Fatal(err)
	}
	input := map[string]any{}
	for _, in := range c.Inputs {
		if !in.HasDefault {
			input[in.Name] = "something"
		}
	}
	if _, err := play.Run(ctx, c, input); err != nil {
		return found, strings.SplitN(err.Error(), "\n", 2)[0]
	}
	return found, ""
}

// An asking model asks a person in every conversation that allows a question.
// Its other replies come from its script.
type asking struct{ model.Model }

func (m *asking) Call(ctx context.Context, r model.Request) (model.Response, error) {
	can := slices.ContainsFunc(r.Tools, func(t model.Tool) bool { return t.Name == "ask_human" })
	if can && !slices.ContainsFunc(r.Messages, func(m model.Message) bool { return len(m.ToolCalls) > 0 }) {
		return model.Response{Finish: "tool_calls", ToolCalls: []model.ToolCall{{ID: "ask", Name: "ask_human", Arguments: `{"question": "Which?"}`}}}, nil
	}
	return m.Model.Call(ctx, r)
}

func answering(_ context.Context, q engine.Question) (engine.Answer, error) {
	switch {
	case q.Type == cascades.Confirmation:
		return engine.Answer{Value: true}, nil
	case len(q.Options) > 0:
		return engine.Answer{Value: q.Options[len(q.Options)-1]}, nil
	}
	return engine.Answer{Value: "yes"}, nil
}

// report prints a table, and fails for mistakes without advice.
func report(t *testing.T, all []*theirs) {
	for _, lars := range []bool{false, true} {
		var n, loads, runs, spared, sparedRuns, converted, convertedRuns int
		var b strings.Builder
		for _, one := range all {
			if one.lars != lars {
				continue
			}
			n, loads, runs = n+1, loads+tally(one.loads), runs+tally(one.runs)
			spared, sparedRuns = spared+tally(one.spared), sparedRuns+tally(one.sparedRuns)
			converted, convertedRuns = converted+tally(one.converted), convertedRuns+tally(one.convertedRuns)
			fmt.Fprintf(&b, "%-5t %-5t %-5t %-5t %-5t %-5t %s\n", one.loads, one.runs, one.spared, one.sparedRuns, one.converted, one.convertedRuns, one.name)
			for _, d := range one.convertedWrong {
				if d.Severity == syntax.Wrong {
					fmt.Fprintf(&b, "      left: %d:%d: %.140s\n", d.Line, d.Column, d.Message)
				}
			}
			if one.converted && !one.convertedRuns {
				fmt.Fprintf(&b, "      ended: %.200s\n", one.failedConverts)
			}
			for _, d := range one.untold {
				t.Errorf("says nothing of what to do: %s", d)
			}
		}
		edition := map[bool]string{false: "Windlass", true: "LARS"}[lars]
		t.Logf("%s: %d files; load as they are %d, and run to the end %d; with --allow-missing-tools %d, and run %d; load as convert writes them %d, and run %d\nloads runs  spared      after convert\n%s",
			edition, n, loads, runs, spared, sparedRuns, converted, convertedRuns, b.String())
	}
}

func tally(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
