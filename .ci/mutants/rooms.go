package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"time"
)

// A room is a part of the code with the tests that must detect its faults, the
// most specific first: most faults need no other.
type room struct {
	files  []string
	suites []suite
}

// A suite is a set of tests of a package: those that match run and not skip.
// Unless whole is set, slow tests are skipped (-short). env is an environment
// variable.
type suite struct {
	folder, run, skip, env string
	whole                  bool
}

var rooms = map[string]room{
	"engine": {
		files: []string{"runner/engine/*.go"},
		suites: []suite{
			{folder: "internal/storytest"},
			{folder: "runner", skip: readers},
			{folder: "internal/measures/backtest"},
		},
	},
	"wards": {
		files:  []string{"wards/*.go"},
		suites: []suite{{folder: "wards"}, {folder: "internal/storytest"}},
	},
	"cascades": {files: []string{"cascades/*.go", "cascades/internal/*/*.go"}, suites: language},
	"syntax":   {files: []string{"cascades/syntax/*.go"}, suites: append([]suite{{folder: "cascades/syntax"}}, language...)},
	"graphs":   {files: []string{"internal/graphs/*.go"}, suites: append([]suite{{folder: "internal/graphs"}, {folder: "internal/proofs"}}, language[0])},
	"proofs":   {files: []string{"internal/proofs/*.go"}, suites: append([]suite{{folder: "internal/proofs"}, {folder: "runner", run: "TestProofIsSound"}}, language[3])},
	"host": {
		files:  []string{"runner/journal/host.go", "runner/journal/recording.go", "runner/journal/replay.go", "runner/journal/internal/stores/lease.go", "runner/journal/fence.go"},
		suites: journal,
	},
	"encodings": {files: []string{"internal/encodings/*.go"}, suites: append([]suite{{folder: "internal/encodings"}}, journal...)},
	"owners":    {files: []string{"runner/journal/internal/owners/*.go"}, suites: append([]suite{{folder: "runner/journal/internal/owners"}}, journal...)},
	"writes": {
		files:  []string{"runner/journal/internal/stores/writer.go", "runner/journal/internal/codec/pack.go", "runner/journal/rows.go", "runner/journal/emit.go", "runner/journal/begin.go", "runner/journal/result.go", "runner/journal/internal/stores/sqlite.go"},
		suites: append([]suite{{folder: "runner/journal/internal/codec"}, {folder: "runner/journal/internal/stores"}}, journal...),
	},
}

// language are the suites of the language, those of its mistakes first.
var language = []suite{
	{folder: "cascades", run: "TestDescriptions|TestMistakes|TestBad|TestGood"},
	{folder: "cascades", skip: "TestHostile|" + bounds},
	{folder: "internal/storytest"},
	{folder: "cmd/capstan", whole: true, run: "TestMistakes|TestLint|TestScripts/^(databases|describe|gate|inputs|keys|lint|mcp|plan|programs|proof|protect|receipt|requires_receipt|shadow|strength|tackle|tries|where)$"},
	{folder: "cascades", run: bounds},
}

// journal runs with a file first, which is fast. The most effective tests are
// first.
var journal = []suite{
	{folder: "runner/journal", env: file, run: "TestStories/.*/recorded"},
	{folder: "runner/journal", env: file, skip: slow + "|" + apart},
	{folder: "runner/journal", env: file, run: slow + "|" + apart},
	{folder: "runner/journal", env: "CAPSTAN_ONLY_SERVER=1", skip: slow + "|" + apart},
}

const (
	file = "CAPSTAN_ONLY_FILE=1"
	slow = "TestKilled|TestStories|TestTwoProcesses|TestManyRuns|TestGuest|TestExpiry|TestDamaged"
	// apart checks other things than the host and its records, but reads them
	// too.
	apart = "TestPrune|TestParcels|TestWords|TestHuge|TestNamedMeanwhile|TestAttempts"
)

// bounds are slow tests that run cascades to compare them with their plans.
// TestHostile is slower and checks only that runs end.
const bounds = "TestPlanHolds|TestPlanIsBounded"

// readers are tests that only read the source, which has no faults, or measure.
const readers = "TestLayers|TestSurface|TestOneReaderOfJSON|TestPatterns"

func names() []string { return slices.Sorted(maps.Keys(rooms)) }

// A program is a built suite with its time limit.
type program struct {
	suite
	path     string
	patience time.Duration
}

// build builds every suite with all faults and none selected. All must pass.
func (r room) build(ctx context.Context, folder string) ([]program, error) {
	var all []program
	for i, s := range r.suites {
		p := program{suite: s, path: filepath.Join(folder, strconv.Itoa(i)+".test"), patience: time.Hour}
		if before := slices.IndexFunc(all, func(b program) bool { return b.folder == s.folder }); before >= 0 {
			p.path = all[before].path
		} else if out, err := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-overlay", overlay(folder), "-o", p.path, "./"+s.folder).CombinedOutput(); err != nil {
			return nil, fmt.Errorf("%w:\n%s", err, out)
		}
		begun := time.Now()
		if found, out := p.notices(ctx, 0); found != passes {
			return nil, fmt.Errorf("the tests of %s fail without any fault:\n%s", s.folder, out)
		}
		p.patience = 3*time.Since(begun) + 20*time.Second
		all = append(all, p)
	}
	return all, nil
}

// The results of a suite for a fault.
const (
	passes  = iota // the fault survives
	fails          // the fault is detected
	endless        // the tests do not end, which counts as detected
)

// notices returns the result of the suite for a fault, and its output. Memory
// is limited, because a fault may allocate without end.
func (p program) notices(ctx context.Context, number int) (int, []byte) {
	if err := os.WriteFile(filepath.Join(filepath.Dir(p.path), chosen), []byte(strconv.Itoa(number)), 0o600); err != nil {
		return fails, []byte(err.Error())
	}
	ctx, stop := context.WithTimeout(ctx, p.patience)
	defer stop()
	args := []string{"-c", `ulimit -v 8000000; exec "$0" "$@"`, p.path, "-test.failfast", "-test.short=" + strconv.FormatBool(!p.whole), "-test.run", p.run}
	if p.skip != "" {
		args = append(args, "-test.skip", p.skip)
	}
	cmd := exec.CommandContext(ctx, "sh", args...)
	cmd.Dir, cmd.Env = p.folder, append(os.Environ(), p.env)
	cmd.WaitDelay = time.Second
	out, err := cmd.CombinedOutput()
	switch {
	case err == nil || errors.Is(err, exec.ErrWaitDelay):
		return passes, out
	case ctx.Err() != nil:
		return endless, out
	default:
		return fails, out
	}
}
