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

// A room is code and the tests that have to notice when it is wrong, the
// nearest first: most faults need no other.
type room struct {
	files  []string
	suites []suite
}

// A suite is tests of a package, all or those that run matches, without those
// that skip matches, and, unless it is whole, without what takes minutes (-short);
// env is a variable that they are given.
type suite struct {
	folder, run, skip, env string
	whole                  bool
}

var rooms = map[string]room{
	"engine": {
		files: []string{"runner/engine/*.go"},
		suites: []suite{
			{folder: "runner/engine/enginetest"},
			{folder: "runner", skip: readers},
			{folder: "runner/backtest"},
		},
	},
	"wards": {
		files:  []string{"wards/*.go"},
		suites: []suite{{folder: "wards"}, {folder: "runner/engine/enginetest"}},
	},
	"cascades":  {files: []string{"cascades/*.go"}, suites: language},
	"documents": {files: []string{"cascades/documents/*.go"}, suites: append([]suite{{folder: "cascades/documents"}}, language...)},
	"graphs":    {files: []string{"cascades/graphs/*.go"}, suites: append([]suite{{folder: "cascades/graphs"}, {folder: "cascades/proofs"}}, language[0])},
	"proofs":    {files: []string{"cascades/proofs/*.go"}, suites: append([]suite{{folder: "cascades/proofs"}, {folder: "runner", run: "TestProofIsSound"}}, language[3])},
	"host": {
		files:  []string{"runner/journal/host.go", "runner/journal/recording.go", "runner/journal/replay.go", "runner/journal/lease.go", "runner/journal/fence.go"},
		suites: journal,
	},
	"encodings": {files: []string{"runner/journal/encodings/*.go"}, suites: append([]suite{{folder: "runner/journal/encodings"}}, journal...)},
	"owners":    {files: []string{"runner/journal/owners/*.go"}, suites: append([]suite{{folder: "runner/journal/owners"}}, journal...)},
	"writes": {
		files:  []string{"runner/journal/writer.go", "runner/journal/pack.go", "runner/journal/rows.go", "runner/journal/emit.go", "runner/journal/begin.go", "runner/journal/ending.go", "runner/journal/quick.go", "runner/journal/sqlite.go"},
		suites: journal,
	},
}

// language is what tells of the language, the mistakes in it first.
var language = []suite{
	{folder: "cascades", run: "TestTells|TestMistakes|TestBad|TestGood"},
	{folder: "cascades", skip: "TestHostile|" + bounds},
	{folder: "runner/engine/enginetest"},
	{folder: "cmd/capstan", whole: true, run: "TestMistakes|TestLint|TestScripts/^(databases|describe|gate|inputs|keys|lint|mcp|plan|programs|proof|receipt|requires_receipt|shadow|strength|tackle|tries|where)$"},
	{folder: "cascades", run: bounds},
}

// journal is tried over a file first, where it is quick, from what tells the most
// in the least time on.
var journal = []suite{
	{folder: "runner/journal", env: file, run: "TestStories/.*/recorded"},
	{folder: "runner/journal", env: file, skip: slow + "|" + apart},
	{folder: "runner/journal", env: file, run: slow + "|" + apart},
	{folder: "runner/journal", env: "CAPSTAN_ONLY_SERVER=1", skip: slow + "|" + apart},
}

const (
	file = "CAPSTAN_ONLY_FILE=1"
	slow = "TestKilled|TestStories|TestTwoProcesses|TestManyRuns|TestGuest|TestExpiry|TestDamaged"
	// apart looks at other things than the host and what it writes, but reads it too.
	apart = "TestPrune|TestParcels|TestWords|TestHuge|TestNamedMeanwhile|TestAttempts"
)

// bounds run cascades to see that a plan holds, which takes its time. (TestHostile
// takes more, and sees only that nothing does.)
const bounds = "TestPlanHolds|TestPlanIsBounded"

// readers only read the source, where no fault is, or measure.
const readers = "TestFloors|TestSurface|TestOneReaderOfJSON|TestPatterns"

func names() []string { return slices.Sorted(maps.Keys(rooms)) }

// A program is a suite that was built, and how long it may take.
type program struct {
	suite
	path     string
	patience time.Duration
}

// build makes a program of every suite, with all faults and none chosen: so
// they have to pass.
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

// What a suite makes of a fault.
const (
	passes  = iota // it survives
	fails          // it is noticed
	endless        // so it is where the tests do not come to an end
)

// notices says what the suite makes of the fault of a number, and what it prints.
// A fault may ask for memory without end: it gets none.
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
