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
	"github.com/seed61713e19/capstan/cascades/convert"
	"github.com/seed61713e19/capstan/runner"
	"github.com/seed61713e19/capstan/runner/engine"
	"github.com/seed61713e19/capstan/runner/model"
	"github.com/seed61713e19/capstan/runner/model/scripted"
	"github.com/seed61713e19/capstan/runner/rehearsal"
	"github.com/seed61713e19/capstan/runner/tool"
)

// A theirs is what becomes of one of other people's cascades.
type theirs struct {
	name                   string
	lars                   bool
	loads, runs            bool // as it is
	spared, sparedRuns     bool // the same with tools that may be missing
	converted              bool // what convert writes loads
	convertedRuns          bool
	untold                 []string // mistakes that say nothing of what to do
	wrong, convertedWrong  cascades.Diagnostics
	failed, failedConverts string
}

// TestWindlass tells of every cascade of a folder whether it loads, as it is and as
// convert writes it, and whether it then runs to its end with a model that says what
// is asked for and calls ask_human once. The folder is WINDLASS, a checkout of
// Windlass or of LARS. What is held of any folder: nothing panics, each mistake that
// is a word of theirs says what to do, and what convert writes keeps every mistake
// in a comment and is written the same way again.
func TestWindlass(t *testing.T) {
	dir := os.Getenv("WINDLASS")
	if dir == "" {
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
	read := func(name string, source []byte) cascades.Diagnostics { return wrong(r.Parse(name, source)) }
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
}

// cascadesOf lists the cascades within a folder.
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

// writeConverted writes beside a file what convert makes of it.
func writeConverted(t *testing.T, name string, read convert.Reader) {
	t.Helper()
	source, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	result, err := convert.File(name, source, read)
	if err != nil {
		result.Text = source // lint tells what it is
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
		if result.Changed && d.Severity == cascades.Wrong && filepath.Base(d.File) == filepath.Base(convert.Name(name)) &&
			!strings.Contains(string(result.Text), "# lint: "+start[:min(len(start), 40)]) {
			t.Errorf("%s: no comment tells of %s", name, d)
		}
	}
}

// untold are the tools that nobody has, and the keys, with nothing of what to do.
func untold(found cascades.Diagnostics) (list []string) {
	for _, d := range found {
		if slices.Contains([]string{cascades.CodeUnknownKey, cascades.CodeTool}, d.Code) && d.Suggestion == "" && !strings.Contains(d.Message, ": ") {
			list = append(list, d.String())
		}
	}
	return list
}

// rehearse loads a cascade and runs it; it gives all that is wrong with the file,
// and why the run did not come to its end.
func rehearse(t *testing.T, r *runner.Runner, file string) (cascades.Diagnostics, string) {
	t.Helper()
	c, err := r.Load(file)
	found := wrong(c, err)
	if err != nil {
		return found, "does not load"
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	replies, err := rehearsal.Draft(ctx, c)
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

// An asking model asks a person once in every conversation where it can, and else
// says what its script has.
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

// report prints a table, and fails of what says nothing of what to do.
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
				if d.Severity == cascades.Wrong {
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
